//! A loop device of our own.

use super::{data_file, folder, is_root, target_dir};
use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file on disk. Unless it is to be free, it is detached as soon as it is set up, while we hold it
/// open: the kernel then removes it when the last descriptor closes, also after a kill.
pub struct LoopDevice {
    /// `loop0`.
    pub name: String,
    /// `/dev/loop0`.
    pub device: PathBuf,
    /// Settings as they were, in the order they were changed. They outlive a loop device otherwise.
    before: RefCell<Vec<(PathBuf, String)>>,
    /// Absent for a device that nobody holds open: that one is detached when dropped.
    held: Option<File>,
    _folder: tempfile::TempDir,
}

impl LoopDevice {
    /// Makes one over this much data. The error says why it cannot be had.
    pub fn new(bytes: usize) -> Result<Self, String> {
        let mut device = Self::free(bytes)?;
        let held = File::open(&device.device).unwrap();
        detach(&device.device);
        device.held = Some(held);
        Ok(device)
    }

    /// The same, open nowhere: a device that is open is in use, and nobody may write to it.
    pub fn free(bytes: usize) -> Result<Self, String> {
        if !is_root() {
            return Err("a loop device of one's own needs root".to_owned());
        }
        detach_leftovers();
        let folder = folder();
        let file = data_file(folder.path(), bytes);
        let device = set_up(&file, true).or_else(|_| set_up(&file, false))?;
        let name = device.file_name().unwrap().to_string_lossy().into_owned();
        Ok(Self { name, device, before: RefCell::default(), held: None, _folder: folder })
    }

    /// `MAJOR:MINOR`.
    pub fn number(&self) -> String {
        std::fs::read_to_string(format!("/sys/block/{}/dev", self.name)).unwrap().trim().to_owned()
    }

    fn queue_file(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/{}/queue/{file}", self.name))
    }

    /// A setting as it stands; of a list, the chosen word.
    pub fn get(&self, file: &str) -> String {
        let text = std::fs::read_to_string(self.queue_file(file)).unwrap();
        chosen(&text).to_owned()
    }

    /// The words of a list in the order the kernel offers them.
    pub fn offered(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.queue_file(file)).unwrap();
        text.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned()).collect()
    }

    /// Writes a file of this device's `queue` folder; false when the kernel refuses the value.
    pub fn set(&self, file: &str, value: &str) -> bool {
        let before = self.get(file);
        let set = std::fs::write(self.queue_file(file), value).is_ok();
        if set {
            self.before.borrow_mut().push((self.queue_file(file), before));
        }
        set
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        for (file, value) in self.before.borrow().iter().rev() {
            if let Err(e) = std::fs::write(file, value) {
                eprintln!("{}: could not be set back to {value}: {e}", file.display());
            }
        }
        if self.held.is_none() {
            detach(&self.device);
        }
    }
}

fn detach(device: &Path) {
    let done = Command::new("losetup").arg("-d").arg(device).output();
    assert!(done.as_ref().is_ok_and(|d| d.status.success()), "{} stays: {done:?}", device.display());
}

/// Devices over files of test processes that were killed.
fn detach_leftovers() {
    let Ok(listed) = Command::new("losetup").args(["-n", "-O", "NAME,BACK-FILE"]).output() else { return };
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let Some((device, file)) = line.trim().split_once(char::is_whitespace) else { continue };
        let Ok(inner) = Path::new(file.trim()).strip_prefix(target_dir()) else { continue };
        let process = inner.to_str().and_then(|i| i.strip_prefix("e2e-")?.split_once('-'));
        if process.is_some_and(|(id, _)| !Path::new("/proc").join(id).exists()) {
            // Another test may be faster.
            let _ = Command::new("losetup").arg("-d").arg(device).output();
        }
    }
}

fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text.trim(), |(word, _)| word)
}

fn set_up(file: &Path, direct: bool) -> Result<PathBuf, String> {
    let mut command = Command::new("losetup");
    command.args(["-f", "--show"]);
    if direct {
        command.arg("--direct-io=on");
    }
    match command.arg(file).output() {
        Ok(made) if made.status.success() => {
            Ok(PathBuf::from(String::from_utf8(made.stdout).unwrap().trim()))
        }
        Ok(made) => Err(format!("losetup: {}", String::from_utf8_lossy(&made.stderr).trim())),
        Err(e) => Err(format!("losetup: {e}")),
    }
}
