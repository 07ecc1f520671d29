//! Names in the rig to kernel names, and waiting for devices to appear.

use super::Trouble;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a device may take to appear, guest time.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The devices of the rig.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    names: BTreeMap<String, String>,
}

impl Devices {
    /// Notes that `name` in the rig is `disk` below `/sys/block`.
    pub fn add(&mut self, name: &str, disk: &str) {
        self.names.insert(name.to_owned(), disk.to_owned());
    }

    /// All names.
    pub fn named(&self) -> BTreeMap<String, String> {
        self.names.clone()
    }

    /// The kernel name. A device of the emulator goes by its own.
    pub fn disk(&self, name: &str) -> Trouble<String> {
        if let Some(disk) = self.names.get(name) {
            return Ok(disk.clone());
        }
        if Path::new("/sys/block").join(name).exists() {
            return Ok(name.to_owned());
        }
        Err(format!("no device {name}"))
    }

    /// `/dev/...`.
    pub fn node(&self, name: &str) -> Trouble<String> {
        Ok(format!("/dev/{}", self.disk(name)?))
    }

    /// `{name}`, `{name:hctl}`, `{name:dev}` in texts of the rig.
    pub fn place(&self, name: &str, what: &str) -> Trouble<String> {
        let disk = self.disk(name)?;
        match what {
            "name" => Ok(disk),
            "dev" => numbers(&disk),
            "hctl" => {
                let link = format!("/sys/block/{disk}/device");
                let folder = fs::canonicalize(&link).map_err(|e| format!("{link}: {e}"))?;
                Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
            }
            _ => Err(format!("{{{name}:{what}}}: expected {{{name}}}, {{{name}:dev}} or {{{name}:hctl}}")),
        }
    }
}

/// `8:0`.
pub fn numbers(disk: &str) -> Trouble<String> {
    read(&format!("/sys/block/{disk}/dev"))
}

/// Its size in sectors of 512 bytes.
pub fn sectors(disk: &str) -> Trouble<u64> {
    let text = read(&format!("/sys/block/{disk}/size"))?;
    text.parse().map_err(|e| format!("size of {disk}: {e}"))
}

/// A small file's text, trimmed.
pub fn read(file: &str) -> Trouble<String> {
    fs::read_to_string(file).map(|text| text.trim().to_owned()).map_err(|e| format!("{file}: {e}"))
}

/// Writes a small file of the kernel, in one call and with the line end that some of its readers insist on.
pub fn write(file: &str, value: &str) -> Trouble<()> {
    fs::write(file, format!("{value}\n")).map_err(|e| format!("write '{value}' to {file}: {e}"))
}

/// Waits until `look` finds something.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Trouble<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{what} did not appear within {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Waits for `count` disks of SCSI hosts whose driver calls itself `driver`, in the order of their addresses.
pub fn wait_for_scsi(driver: &str, count: usize) -> Trouble<Vec<String>> {
    wait_for(&format!("{count} disks of {driver}"), || {
        let disks = scsi_disks(driver);
        (disks.len() >= count).then_some(disks)
    })
}

/// Disks of the hosts of a driver, in the order host, channel, target, LUN.
fn scsi_disks(driver: &str) -> Vec<String> {
    let mut found: Vec<([u64; 4], String)> = Vec::new();
    for entry in fs::read_dir("/sys/bus/scsi/devices").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(address) = address(&name) else { continue };
        let host = format!("/sys/class/scsi_host/host{}/proc_name", address[0]);
        if read(&host).ok().as_deref() != Some(driver) {
            continue;
        }
        let disk = fs::read_dir(entry.path().join("block")).into_iter().flatten().flatten().next();
        if let Some(disk) = disk {
            found.push((address, disk.file_name().to_string_lossy().into_owned()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, disk)| disk).collect()
}

/// `2:0:0:1` in numbers; other entries of the folder have none.
fn address(name: &str) -> Option<[u64; 4]> {
    let numbers: Vec<u64> = name.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_sort_by_number() {
        assert_eq!(address("2:0:0:10"), Some([2, 0, 0, 10]));
        assert!(address("2:0:0:10") > address("2:0:0:9"));
        assert_eq!(address("host2"), None);
        assert_eq!(address("target2:0:0"), None);
    }
}
