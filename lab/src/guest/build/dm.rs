//! Device mapper devices, made by `dmsetup`. No daemon looks after them.

use super::super::Trouble;
use super::super::command::must;
use super::super::devices::{Devices, numbers, sectors, wait_for};
use crate::rig::{Dm, DmTarget};
use std::fs;

/// Stripe size: 64 KiB, in sectors.
const CHUNK: u64 = 128;
/// Sizes are rounded down to whole MiB.
const MIB: u64 = 2048;

/// A device below: its numbers and its size in sectors.
#[derive(Clone, Debug)]
struct Below {
    numbers: String,
    sectors: u64,
}

/// Makes one and gives its kernel name.
pub fn make(dm: &Dm, devices: &Devices) -> Trouble<String> {
    let below: Vec<Below> = dm
        .on
        .iter()
        .map(|name| {
            let disk = devices.disk(name)?;
            Ok(Below { numbers: numbers(&disk)?, sectors: sectors(&disk)? })
        })
        .collect::<Trouble<_>>()?;
    let table = table(dm, &below)?;
    let mut words = vec!["/bin/busybox", "env", "DM_DISABLE_UDEV=1", "/bin/dmsetup", "create", &dm.name];
    if let Some(uuid) = &dm.uuid {
        words.extend(["--uuid", uuid]);
    }
    words.extend(["--table", &table]);
    must(&words)?;
    wait_for(&dm.name, || by_name(&dm.name))
}

/// The `dm-N` of a name.
fn by_name(name: &str) -> Option<String> {
    let entries = fs::read_dir("/sys/block").ok()?;
    let mut disks = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| fs::read_to_string(path.join("dm/name")).is_ok_and(|text| text.trim() == name));
    Some(disks.next()?.file_name()?.to_string_lossy().into_owned())
}

/// The table in the words of the kernel.
fn table(dm: &Dm, below: &[Below]) -> Trouble<String> {
    let smallest = below.iter().map(|b| b.sectors).min().unwrap_or(0);
    match dm.target {
        DmTarget::Multipath => {
            let mode = dm.queue_mode.as_deref().unwrap_or("mq");
            let selector = dm.selector.as_deref().unwrap_or("service-time");
            // Path arguments: how often in a row, and for service-time the relative throughput.
            let arguments: &[&str] = if selector == "service-time" { &["1", "1"] } else { &["1"] };
            let paths: Vec<String> =
                below.iter().map(|b| format!("{} {}", b.numbers, arguments.join(" "))).collect();
            Ok(format!(
                "0 {smallest} multipath 2 queue_mode {mode} 0 1 1 {selector} 0 {} {} {}",
                below.len(),
                arguments.len(),
                paths.join(" ")
            ))
        }
        DmTarget::Striped => {
            let each = smallest / MIB * MIB;
            let stripes: Vec<String> = below.iter().map(|b| format!("{} 0", b.numbers)).collect();
            Ok(format!(
                "0 {} striped {} {CHUNK} {}",
                each * below.len() as u64,
                below.len(),
                stripes.join(" ")
            ))
        }
        DmTarget::Linear => linear(dm, below),
    }
}

/// One after another; with shares, the largest whole of which each device can hold its part.
fn linear(dm: &Dm, below: &[Below]) -> Trouble<String> {
    let sizes: Vec<u64> = match &dm.percent {
        None => {
            let smallest = below.iter().map(|b| b.sectors).min().unwrap_or(0);
            vec![smallest / MIB * MIB; below.len()]
        }
        Some(percent) => {
            let whole =
                below.iter().zip(percent).map(|(b, p)| b.sectors * 100 / u64::from(*p)).min().unwrap_or(0);
            percent.iter().map(|p| whole * u64::from(*p) / 100 / MIB * MIB).collect()
        }
    };
    if sizes.contains(&0) {
        return Err(format!("{}: a part would be smaller than 1 MiB", dm.name));
    }
    let mut at = 0;
    let mut lines = Vec::new();
    for (size, below) in sizes.iter().zip(below) {
        lines.push(format!("{at} {size} linear {} 0", below.numbers));
        at += size;
    }
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dm(text: &str) -> Dm {
        toml::from_str(&format!("name = \"d\"\non = [\"a\", \"b\"]\n{text}")).unwrap()
    }

    fn below() -> Vec<Below> {
        ["8:0", "8:16"].map(|n| Below { numbers: n.into(), sectors: 131_072 }).to_vec()
    }

    #[test]
    fn multipath_tables_have_the_selectors_arguments() {
        let made =
            table(&dm("target = \"multipath\"\nselector = \"service-time\"\nqueue_mode = \"bio\""), &below());
        assert_eq!(
            made.unwrap(),
            "0 131072 multipath 2 queue_mode bio 0 1 1 service-time 0 2 2 8:0 1 1 8:16 1 1"
        );
        let made =
            table(&dm("target = \"multipath\"\nselector = \"round-robin\"\nqueue_mode = \"mq\""), &below());
        assert_eq!(made.unwrap(), "0 131072 multipath 2 queue_mode mq 0 1 1 round-robin 0 2 1 8:0 1 8:16 1");
    }

    #[test]
    fn linear_shares_fit_on_their_devices() {
        let made = table(&dm("target = \"linear\"\npercent = [75, 25]"), &below()).unwrap();
        assert_eq!(made, "0 129024 linear 8:0 0\n129024 43008 linear 8:16 0");
        let made = table(&dm("target = \"linear\""), &below()).unwrap();
        assert_eq!(made, "0 131072 linear 8:0 0\n131072 131072 linear 8:16 0");
    }

    #[test]
    fn stripes_are_of_equal_size() {
        let made = table(&dm("target = \"striped\""), &below()).unwrap();
        assert_eq!(made, "0 262144 striped 2 128 8:0 0 8:16 0");
    }
}
