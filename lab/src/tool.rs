//! Commands of the host that the lab uses, and which package has them.

use crate::error::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Command and the Debian package that has it.
const PACKAGES: [(&str, &str); 13] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("depmod", "kmod"),
    ("xz", "xz-utils"),
    ("zstd", "zstd"),
    ("dmsetup", "dmsetup"),
    ("apt-get", "apt"),
    ("apt-cache", "apt"),
    ("dpkg-deb", "dpkg"),
    ("ldd", "libc-bin"),
    ("iscsistart", "open-iscsi"),
    ("losetup", "mount"),
    ("sh", "dash"),
];

/// Where a command stands; system folders are looked at even when `PATH` lacks them.
pub fn find(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(Into::into))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Where a command stands, or which package to install.
pub fn need(name: &str) -> Result<std::path::PathBuf> {
    find(name).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Error {
    let package = PACKAGES.iter().find(|(tool, _)| *tool == name).map_or(name, |(_, package)| package);
    Error::Environment(format!("{name} is missing: install the package {package} (scripts/setup lab does)"))
}

/// Runs a command to its end and gives its standard output; its standard error becomes the reason when it fails.
pub fn run(name: &str, args: &[&str], folder: Option<&Path>) -> Result<Vec<u8>> {
    let output = output(name, args, folder)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::Environment(format!("{name} {} failed ({}): {}", args.join(" "), output.status, said.trim())))
}

/// Runs a command to its end.
pub fn output(name: &str, args: &[&str], folder: Option<&Path>) -> Result<Output> {
    let mut command = Command::new(need(name)?);
    command.args(args).stdin(Stdio::null()).env("LC_ALL", "C");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(name),
        _ => Error::Environment(format!("cannot start {name}: {error}")),
    })
}
