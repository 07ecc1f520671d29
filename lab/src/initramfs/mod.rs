//! The guest's whole file system: the lab as `/init`, `plimsoll`, busybox, and the modules this rig needs.
//!
//! All of it lies in memory, because on the virtual clock a guest that waits for the host sees time leap.

pub mod cpio;
pub mod libraries;

use crate::error::{Error, Result};
use crate::kernel::Unpacked;
use crate::kernel::Wanted;
use crate::plan::{self, ModuleLoad, Plan};
use crate::tool;
use cpio::Cpio;
use libraries::Library;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A program of the host that goes in, with the libraries it needs.
#[derive(Clone, Debug)]
pub struct Program {
    /// Path in the guest.
    pub path: String,
    /// File of the host.
    pub file: PathBuf,
    /// Where libraries lie that the host's own loader does not find.
    pub libraries: Option<PathBuf>,
}

impl Program {
    /// A program whose libraries, if any, are installed on the host.
    pub fn new(path: &str, file: PathBuf) -> Self {
        Self { path: path.to_owned(), file, libraries: None }
    }
}

/// Names for the modules' files in the guest: numbered, so that a listing shows the order.
pub fn module_loads(wanted: &[Wanted], parameters: impl Fn(&str) -> String) -> Vec<ModuleLoad> {
    let load = |(number, module): (usize, &Wanted)| ModuleLoad {
        file: format!("{number:02}-{}.ko", module.name),
        parameters: parameters(&module.name),
        required: module.required,
    };
    wanted.iter().enumerate().map(load).collect()
}

/// Writes the archive.
pub fn write(
    into: &Path,
    kernel: &Unpacked,
    wanted: &[Wanted],
    plan: &Plan,
    programs: &[Program],
) -> Result<()> {
    let file = File::create(into).map_err(|e| Error::file("write", into, e))?;
    let mut archive = Archive { cpio: Cpio::new(BufWriter::new(file)), folders: BTreeSet::new() };
    let failed = |e: io::Error| Error::file("write", into, e);
    for folder in ["dev", "proc", "sys", "tmp", "run", "mnt", "etc", "var", "bin", "lab/modules"] {
        archive.folder(folder).map_err(failed)?;
    }
    archive.cpio.character_device("dev/console", 5, 1).map_err(failed)?;
    archive.cpio.file("etc/passwd", 0o644, b"root::0:0:root:/:/bin/sh\n").map_err(failed)?;
    archive.cpio.file("etc/group", 0o644, b"root:x:0:\n").map_err(failed)?;
    let own = std::env::current_exe().map_err(|e| Error::Environment(format!("cannot find myself: {e}")))?;
    let mut libraries: BTreeSet<Library> = BTreeSet::new();
    for program in programs.iter().chain([&Program::new("init", own)]) {
        archive.host_file(&program.path, 0o755, &program.file)?;
        libraries.extend(libraries::of(&program.file, program.libraries.as_deref())?);
    }
    for library in &libraries {
        archive.host_file(&library.guest, 0o755, &library.file)?;
    }
    let modules = kernel.root.join("lib/modules").join(&kernel.release);
    for (module, load) in wanted.iter().zip(&plan.modules) {
        let bytes = module_bytes(&modules.join(&module.file))?;
        archive.file(&format!("{}/{}", plan::MODULES, load.file), 0o644, &bytes).map_err(failed)?;
    }
    let text = serde_json::to_vec_pretty(plan).map_err(|e| Error::Environment(e.to_string()))?;
    archive.file(plan::PLAN, 0o644, &text).map_err(failed)?;
    archive.cpio.finish().map_err(failed)?.into_inner().map_err(|e| failed(e.into_error()))?;
    Ok(())
}

/// A module as the kernel takes it: not compressed.
fn module_bytes(file: &Path) -> Result<Vec<u8>> {
    let path = file.to_string_lossy();
    match file.extension().and_then(|e| e.to_str()) {
        Some("xz") => tool::run("xz", &["-dc", &path], None),
        Some("zst") => tool::run("zstd", &["-qdc", &path], None),
        _ => fs::read(file).map_err(|e| Error::file("read", file, e)),
    }
}

struct Archive<W: Write> {
    cpio: Cpio<W>,
    folders: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    /// A folder and all above it, each once.
    fn folder(&mut self, path: &str) -> io::Result<()> {
        let mut so_far = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if !so_far.is_empty() {
                so_far.push('/');
            }
            so_far.push_str(part);
            if self.folders.insert(so_far.clone()) {
                self.cpio.folder(&so_far)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str, permissions: u32, bytes: &[u8]) -> io::Result<()> {
        if let Some((folder, _)) = path.trim_start_matches('/').rsplit_once('/') {
            self.folder(folder)?;
        }
        self.cpio.file(path, permissions, bytes)
    }

    fn host_file(&mut self, path: &str, permissions: u32, file: &Path) -> Result<()> {
        let bytes = fs::read(file).map_err(|e| Error::file("read", file, e))?;
        self.file(path, permissions, &bytes).map_err(|e| Error::file("write", file, e))
    }
}
