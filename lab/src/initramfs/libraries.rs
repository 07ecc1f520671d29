//! The shared libraries a program of the host needs, by what its own loader says.

use crate::error::{Error, Result};
use crate::tool;
use std::path::{Path, PathBuf};

/// One library.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Library {
    /// Where the loader will look for it in the guest.
    pub guest: String,
    /// The host's file.
    pub file: PathBuf,
}

/// Where the guest's loader looks by itself.
const SYSTEM: &str = "/usr/lib/x86_64-linux-gnu";

/// The libraries of a program and the loader itself; none for a static program. Those found in `further` go to the
/// guest's system folder, all others keep their paths.
pub fn of(program: &Path, further: Option<&Path>) -> Result<Vec<Library>> {
    let mut command = std::process::Command::new(tool::need("ldd")?);
    command.arg(program).env("LC_ALL", "C");
    if let Some(folder) = further {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let done = command.output().map_err(|e| Error::file("read the libraries of", program, e))?;
    // ldd fails for static programs and says so.
    let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    if text.contains("not a dynamic executable") || text.contains("statically linked") {
        return Ok(Vec::new());
    }
    if let Some(line) = text.lines().find(|line| line.contains("not found")) {
        return Err(Error::Environment(format!("{}: {}", program.display(), line.trim())));
    }
    Ok(parse(&text, further))
}

fn parse(text: &str, further: Option<&Path>) -> Vec<Library> {
    let files = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "=>", path, ..] if path.starts_with('/') => Some(PathBuf::from(path)),
            [path, ..] if path.starts_with('/') => Some(PathBuf::from(path)),
            _ => None,
        }
    });
    files
        .map(|file| {
            let moved = further.is_some_and(|folder| file.starts_with(folder));
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let guest = if moved { format!("{SYSTEM}/{name}") } else { file.to_string_lossy().into_owned() };
            Library { guest, file }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_and_the_libraries_are_read() {
        let text = "\tlinux-vdso.so.1 (0x00007f3d8fe05000)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f3d8fe07000)\n";
        let guests = |found: Vec<Library>| found.into_iter().map(|l| l.guest).collect::<Vec<_>>();
        let expected = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(guests(parse(text, None)), expected);
        let text = "\tliba.so.1 => /cache/lib/liba.so.1 (0x7f)\n";
        assert_eq!(guests(parse(text, Some(Path::new("/cache")))), ["/usr/lib/x86_64-linux-gnu/liba.so.1"]);
    }
}
