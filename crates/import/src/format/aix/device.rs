//! What an AIX device is, by its name; and how commands and prompts name one.

use record::imported::PlaceKind;

/// Prefixes of names of adapters and of the protocol devices on them.
const ADAPTERS: [&str; 15] = [
    "fcs", "fscsi", "vscsi", "vfchost", "vhost", "sissas", "sisscsia", "sissata", "scsi", "sas", "ssa",
    "iscsi", "ent", "nvme", "ata",
];
/// Prefixes of names of disks. `hdiskpower` (PowerPath) and `dac` (array controllers) stand above other disks.
const DISKS: [&str; 5] = ["hdisk", "cd", "pdisk", "vpath", "fd"];

/// Its kind. Anything that is no disk, adapter or tape is taken for a logical volume.
pub(crate) fn kind(name: &str) -> PlaceKind {
    let name = name.to_ascii_lowercase();
    let numbered = |prefix: &&str| name.strip_prefix(*prefix).is_some_and(is_number);
    if DISKS.iter().any(&numbered) {
        PlaceKind::Device
    } else if ADAPTERS.iter().any(&numbered) {
        PlaceKind::Adapter
    } else if ["rmt", "smc", "tape", "tty"].iter().any(&numbered) {
        PlaceKind::Other
    } else if name.starts_with("hdisk") && !name.starts_with("hdiskpower") {
        // Disks that were renamed: `hdiskasm01`.
        PlaceKind::Device
    } else {
        PlaceKind::Volume
    }
}

/// The kind of what a table of disks lists: disks may have been renamed (`rendev`), to `EMC_3451_0DEF` or the like.
pub(crate) fn disk_kind(name: &str) -> PlaceKind {
    let lower = name.to_ascii_lowercase();
    match kind(name) {
        PlaceKind::Volume if !lower.starts_with("hdiskpower") && !lower.starts_with("dac") => {
            PlaceKind::Device
        }
        kind => kind,
    }
}

/// Whether a word is the name of a device that AIX gives by itself: a known prefix and a number.
pub(crate) fn is_name(word: &str) -> bool {
    let numbered = |prefix: &&str| word.strip_prefix(*prefix).is_some_and(is_number);
    DISKS.iter().chain(&ADAPTERS).any(&numbered) || numbered(&"hdiskpower") || numbered(&"dac")
}

/// The name of a path of a disk, the same in every text that tells of paths.
pub(crate) fn path(disk: &str, number: &str) -> String {
    format!("{disk}/Path{number}")
}

/// Whether a command line runs this program.
pub(crate) fn runs(command: &str, program: &str) -> bool {
    let first = command.split_ascii_whitespace().next().unwrap_or("");
    first.rsplit('/').next() == Some(program)
}

/// The words of a command line up to a pipe or redirection, without the program.
pub(crate) fn arguments(command: &str) -> impl Iterator<Item = &str> {
    let end = command.find(['|', '>', ';', '<']).unwrap_or(command.len());
    command[..end].split_ascii_whitespace().skip(1)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, wanted) in [
            ("hdisk12", PlaceKind::Device),
            ("HDISK0", PlaceKind::Device),
            ("hdiskasm1", PlaceKind::Device),
            ("hdiskpower3", PlaceKind::Volume),
            ("cd0", PlaceKind::Device),
            ("dac0", PlaceKind::Volume),
            ("fcs0", PlaceKind::Adapter),
            ("vscsi1", PlaceKind::Adapter),
            ("rmt0", PlaceKind::Other),
            ("oralv", PlaceKind::Volume),
        ] {
            assert_eq!(kind(name), wanted, "{name}");
        }
        assert_eq!(disk_kind("EMC_3451_0DEF"), PlaceKind::Device);
        assert_eq!(disk_kind("hdiskpower0"), PlaceKind::Volume);
        assert!(is_name("hdisk3") && is_name("fcs0") && !is_name("rootvg") && !is_name("hdisk"));
    }
}
