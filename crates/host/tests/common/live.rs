//! A loop device of our own and a closed loop of readers on it.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

static TURN: Mutex<()> = Mutex::new(());

pub const BLOCK: usize = 4096;

/// A loop device over a file of its own. It is detached as soon as it is set up, while we hold it open: the kernel
/// removes it when the last descriptor closes, also after a kill.
pub struct LoopDevice {
    pub name: String,
    pub device: PathBuf,
    pub file: PathBuf,
    /// Settings as they were, in the order they were changed. They outlive the loop device otherwise.
    before: RefCell<Vec<(PathBuf, String)>>,
    _held: File,
    /// One at a time: two loaded devices would spoil each other's numbers.
    _turn: MutexGuard<'static, ()>,
    _folder: tempfile::TempDir,
}

impl LoopDevice {
    /// `None` with a printed reason where it cannot be made.
    pub fn new(bytes: usize) -> Option<Self> {
        let skip = |why: &str| {
            eprintln!("skipped: {why}");
            None
        };
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        if !rustix::process::geteuid().is_root() {
            return skip("a loop device of one's own needs root");
        }
        let folder = tempfile::Builder::new().prefix("plimsoll-host-").tempdir_in("/var/tmp").unwrap();
        let file = folder.path().join("backing");
        std::fs::write(&file, incompressible(bytes)).unwrap();
        File::open(&file).unwrap().sync_all().unwrap();
        let made = Command::new("losetup").args(["-f", "--show", "--direct-io=on"]).arg(&file).output();
        let made = match made {
            Ok(made) if made.status.success() => made,
            Ok(made) => return skip(&format!("losetup: {}", String::from_utf8_lossy(&made.stderr))),
            Err(e) => return skip(&format!("losetup: {e}")),
        };
        let device = PathBuf::from(String::from_utf8(made.stdout).unwrap().trim());
        let held = File::open(&device).unwrap();
        assert!(Command::new("losetup").arg("-d").arg(&device).status().unwrap().success());
        let name = device.file_name().unwrap().to_string_lossy().into_owned();
        let device = Self {
            name,
            device,
            file,
            before: RefCell::default(),
            _held: held,
            _turn: turn,
            _folder: folder,
        };
        // A killed test may have left its settings on this device.
        device.set("iostats", "1");
        device.set("scheduler", "none");
        Some(device)
    }

    /// Writes a file of this device's `queue` folder; false when the kernel refuses the value.
    pub fn set(&self, file: &str, value: &str) -> bool {
        let file = PathBuf::from(format!("/sys/block/{}/queue/{file}", self.name));
        let before = std::fs::read_to_string(&file).unwrap();
        let before =
            before.split_once('[').and_then(|(_, r)| r.split_once(']')).map_or(before.trim(), |(a, _)| a);
        let set = std::fs::write(&file, value).is_ok();
        if set {
            self.before.borrow_mut().push((file, before.to_owned()));
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
    }
}

fn incompressible(bytes: usize) -> Vec<u8> {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        data.extend_from_slice(&seed.to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// Threads that each keep one direct read outstanding.
pub struct Readers {
    stop: Arc<AtomicBool>,
    ios: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub fn start(device: &Path, bytes: usize, count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ios = Arc::new(AtomicU64::new(0));
        let threads = (0..count as u64)
            .map(|number| {
                let (stop, ios, device) = (Arc::clone(&stop), Arc::clone(&ios), device.to_owned());
                std::thread::spawn(move || read_at_random(&device, bytes, number, &stop, &ios))
            })
            .collect();
        Self { stop, ios, threads }
    }

    pub fn ios(&self) -> u64 {
        self.ios.load(Relaxed)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn read_at_random(device: &Path, bytes: usize, number: u64, stop: &AtomicBool, ios: &AtomicU64) {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(device).unwrap();
    let mut space = vec![0_u8; 2 * BLOCK];
    let start = space.as_ptr().align_offset(BLOCK);
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number + 1);
    while !stop.load(Relaxed) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let block = seed % (bytes / BLOCK) as u64;
        file.read_exact_at(&mut space[start..start + BLOCK], block * BLOCK as u64).unwrap();
        ios.fetch_add(1, Relaxed);
    }
}
