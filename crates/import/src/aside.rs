//! Lines that belong to no format and still say something: commands that made the load, the block size of a filesystem.

use crate::out::Out;
use crate::text::words;
use record::imported::{PlaceKind, facts};

/// Takes what such a line says; false when it says nothing. `command` is the one at the last prompt.
pub(crate) fn take(line: &str, last_command: &mut Option<String>, out: &mut Out<'_>) -> bool {
    let cells = words(line);
    if let Some(asked) = asked(&cells) {
        match asked.device {
            Some(name) => {
                let kind = crate::format::linux::device::kind(name);
                let place = out.place(kind, name);
                out.fact(place, facts::ASKED_BYTES, asked.bytes);
            }
            None => {
                let host = out.place(PlaceKind::Host, "");
                out.fact(host, facts::ASKED_BYTES, asked.bytes);
            }
        }
        return true;
    }
    if let Some(at) = cells.iter().position(|c| *c == "fstyp") {
        // The volume is the last part of its path: /dev/vx/rdsk/GROUP/VOLUME.
        let volume =
            cells[at..].iter().rev().find_map(|c| c.rsplit_once('/')).map(|(_, name)| name.to_owned());
        *last_command = volume.map(|v| format!("fstyp {v}"));
        return last_command.is_some();
    }
    if let ["bsize", size, "size", ..] = cells.as_slice()
        && let Ok(bytes) = size.parse::<u32>()
    {
        let volume = last_command.as_deref().and_then(|c| c.strip_prefix("fstyp "));
        let place = match volume {
            Some(name) => out.place(PlaceKind::Volume, name),
            None => out.place(PlaceKind::Host, ""),
        };
        out.fact(place, facts::FILESYSTEM_BLOCK_BYTES, f64::from(bytes));
        return true;
    }
    false
}

struct Asked<'l> {
    bytes: f64,
    device: Option<&'l str>,
}

/// `dd if=/dev/sdb of=/dev/null iflag=direct bs=1M`, wherever it stands in the line.
fn asked<'l>(cells: &[&'l str]) -> Option<Asked<'l>> {
    let at = cells.iter().position(|c| *c == "dd" || c.ends_with("/dd"))?;
    let rest = cells.get(at + 1..)?;
    let value = |key: &str| rest.iter().find_map(|c| c.strip_prefix(key));
    let size = value("bs=").or_else(|| value("ibs="))?;
    let files = [value("if="), value("of=")];
    // Both an input and an output make it a command and not a word of prose.
    files.iter().any(Option::is_some).then_some(())?;
    let device = files.into_iter().flatten().find_map(|f| f.strip_prefix("/dev/"));
    let device = device.filter(|d| !matches!(*d, "null" | "zero" | "urandom" | "random"));
    Some(Asked { bytes: bytes(size)?, device: device.map(|d| d.rsplit('/').next().unwrap_or(d)) })
}

/// `8k`, `1M`, `1024`, `1MB`: dd's own units.
fn bytes(text: &str) -> Option<f64> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: f64 = text.get(..at)?.parse().ok()?;
    let unit = match text.get(at..)? {
        "" | "c" => 1.0,
        "b" => 512.0,
        "k" | "K" | "KiB" => 1024.0,
        "kB" | "KB" => 1000.0,
        "m" | "M" | "MiB" => 1_048_576.0,
        "MB" => 1_000_000.0,
        "g" | "G" | "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    (number > 0.0).then_some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dd_command_says_what_was_asked_for() {
        let line = "$ taskset -c 3 dd if=/dev/dm-7 of=/dev/null iflag=direct bs=1M count=400";
        let cells = words(line);
        let found = asked(&cells).unwrap();
        assert_eq!((found.bytes, found.device), (1_048_576.0, Some("dm-7")));
        let cells = words("dd if=/data/file of=/dev/null bs=8k");
        assert_eq!(asked(&cells).map(|a| (a.bytes, a.device)), Some((8192.0, None)));
        assert!(asked(&words("I used dd with bs=1M here")).is_none());
        assert!(asked(&words("dd if=a of=b bs=12x")).is_none());
    }
}
