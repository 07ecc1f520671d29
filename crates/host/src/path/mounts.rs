//! The mount table of this process.

use super::DeviceNumber;
use crate::notes::Notes;

/// Where the kernel lists the mounts this process sees.
pub(crate) const MOUNTINFO: &str = "/proc/self/mountinfo";

/// One line of mountinfo (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub device: DeviceNumber,
    /// The part of the filesystem that is mounted here.
    pub root: String,
    pub point: String,
    pub options: String,
    pub kind: String,
    pub source: String,
    pub super_options: String,
}

/// All mounts in the order they were made.
pub(crate) fn mounts(notes: &mut Notes<'_>) -> Vec<Mount> {
    let text = match notes.root.text(MOUNTINFO) {
        Ok(text) => text,
        Err(e) => {
            notes.complain(format_args!("{MOUNTINFO}: cannot be read: {e}"));
            return Vec::new();
        }
    };
    let mut mounts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match parse(line) {
            Some(mount) => mounts.push(mount),
            None => notes.complain(format_args!(
                "{MOUNTINFO}: line {}: expected a mount, found '{}'",
                index + 1,
                crate::notes::shortened(line)
            )),
        }
    }
    mounts
}

pub(crate) fn parse(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(2);
    let device = DeviceNumber::parse(front.next()?)?;
    let [root, point, options] = [front.next()?, front.next()?, front.next()?];
    let mut back = back.split(' ');
    let [kind, source] = [back.next()?, back.next()?];
    Some(Mount {
        device,
        root: unescape(root),
        point: unescape(point),
        options: options.to_owned(),
        kind: kind.to_owned(),
        source: unescape(source),
        super_options: back.next().unwrap_or_default().to_owned(),
    })
}

/// The kernel writes blanks, tabs, newlines and backslashes as three octal digits.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match (bytes[at], octal) {
            (b'\\', Some(byte)) => {
                plain.push(byte);
                at += 4;
            }
            (byte, _) => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// The mount a path lies on. A mount of the same device wins over a longer mount point of another; the last one
/// made wins among equals, since it hides the earlier. `device` is absent when only the path is known.
pub(crate) fn mount_of<'m>(
    mounts: &'m [Mount],
    path: &str,
    device: Option<DeviceNumber>,
) -> Option<&'m Mount> {
    let covering = |m: &&Mount| covers(&m.point, path);
    let longest = |a: &&Mount, b: &&Mount| a.point.len().cmp(&b.point.len());
    let same = |m: &&Mount| device.is_none_or(|d| d == m.device);
    mounts
        .iter()
        .filter(same)
        .filter(covering)
        .max_by(longest)
        .or_else(|| mounts.iter().find(|m| device.is_some() && same(m) && m.device.major != 0))
        .or_else(|| mounts.iter().filter(covering).max_by(longest))
}

fn covers(point: &str, path: &str) -> bool {
    let rest = path.strip_prefix(point.trim_end_matches('/'));
    rest.is_some_and(|r| r.is_empty() || r.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_line_gives_device_point_and_source() {
        let line = "36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let mount = parse(line).unwrap();
        assert_eq!(mount.device, DeviceNumber { major: 98, minor: 0 });
        assert_eq!((mount.root.as_str(), mount.point.as_str()), ("/mnt1", "/mnt/a b"));
        assert_eq!((mount.kind.as_str(), mount.source.as_str()), ("ext3", "/dev/root"));
        assert_eq!(mount.super_options, "rw,errors=continue");
    }

    #[test]
    fn a_torn_line_is_no_mount() {
        for line in ["", "36 35 98:0", "36 35 98:0 / /x rw -", "a - b", "1 2 x:y / / rw - t s o"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn mount_points_cover_whole_names_only() {
        assert!(covers("/", "/a") && covers("/a", "/a/b") && covers("/a", "/a"));
        assert!(!covers("/a", "/ab") && !covers("/a/b", "/a"));
    }
}
