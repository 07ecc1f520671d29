//! A guest kernel: fetched as a Debian package, unpacked without installing, kept below `target/lab/kernel/<release>/`.

mod image;
mod modules;
mod package;

pub use modules::{Modules, Wanted};

use crate::error::{Error, Result};
use crate::rig::Kernel;
use crate::tool;
use std::fs;
use std::path::{Path, PathBuf};

/// An unpacked kernel.
#[derive(Clone, Debug)]
pub struct Unpacked {
    /// `uname -r`.
    pub release: String,
    /// The ELF image that QEMU starts directly: no firmware, nothing to decompress in emulation.
    pub vmlinux: PathBuf,
    /// The folder with `lib/modules/<release>`.
    pub root: PathBuf,
}

/// The kernel of a series: from the cache, else by apt. `say` gets a line when something takes long.
pub fn get(cache: &Path, series: Kernel, newest: bool, say: &dyn Fn(&str)) -> Result<Unpacked> {
    if !newest && let Some(kept) = kept(cache, series) {
        return Ok(kept);
    }
    let package = package::on_offer(series)?;
    let release = package.trim_start_matches("linux-image-").to_owned();
    let home = cache.join(&release);
    if ready(&home).is_file() {
        return Ok(unpacked(&home, release));
    }
    say(&format!("fetching {package} (70 to 110 MB, once)"));
    fs::create_dir_all(cache).map_err(|e| Error::file("make", cache, e))?;
    // Unpacked beside and renamed at the end, so that a half kernel never looks like a whole one.
    let building = cache.join(format!(".{release}-{}", std::process::id()));
    let result = build(&building, &package, &release).and_then(|()| {
        let _ = fs::remove_dir_all(&home);
        fs::rename(&building, &home).map_err(|e| Error::file("rename", &building, e))
    });
    if result.is_err() {
        let _ = fs::remove_dir_all(&building);
    }
    result?;
    Ok(unpacked(&home, release))
}

fn ready(home: &Path) -> PathBuf {
    home.join("ready")
}

fn unpacked(home: &Path, release: String) -> Unpacked {
    Unpacked { release, vmlinux: home.join("vmlinux"), root: home.join("root") }
}

/// The newest kernel of the series in the cache.
fn kept(cache: &Path, series: Kernel) -> Option<Unpacked> {
    let mut releases: Vec<String> = fs::read_dir(cache)
        .ok()?
        .flatten()
        .filter(|entry| ready(&entry.path()).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|release| package::belongs(release, series))
        .collect();
    releases.sort_by(|a, b| package::compare_releases(a, b));
    let release = releases.pop()?;
    Some(unpacked(&cache.join(&release), release))
}

fn build(folder: &Path, package: &str, release: &str) -> Result<()> {
    let root = folder.join("root");
    fs::create_dir_all(&root).map_err(|e| Error::file("make", &root, e))?;
    let deb = download(package, folder)?;
    unpack(&deb, &root)?;
    fs::remove_file(&deb).map_err(|e| Error::file("remove", &deb, e))?;
    // depmod wants lib/modules; packages of a merged /usr have them below usr/lib.
    if !root.join("lib").exists() {
        std::os::unix::fs::symlink("usr/lib", root.join("lib")).map_err(|e| Error::file("link", &root, e))?;
    }
    tool::run("depmod", &["-b", &root.to_string_lossy(), release], None)?;
    let compressed = root.join("boot").join(format!("vmlinuz-{release}"));
    image::extract(&compressed, &folder.join("vmlinux"))?;
    fs::write(ready(folder), "").map_err(|e| Error::file("write", folder, e))
}

/// Unpacks a Debian package into a folder without installing it.
pub fn unpack(deb: &Path, into: &Path) -> Result<()> {
    tool::run("dpkg-deb", &["-x", &deb.to_string_lossy(), &into.to_string_lossy()], None).map(|_| ())
}

pub use package::download;
