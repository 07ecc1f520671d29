//! What a Linux block device is, by the name that the kernel gives it.

use record::imported::PlaceKind;

/// Its kind. Names given by people (option -N) are volumes: only the device mapper has them.
pub(crate) fn kind(name: &str) -> PlaceKind {
    const WHOLE: [&str; 8] = ["sd", "hd", "vd", "xvd", "dasd", "rssd", "mtip", "ub"];
    let name = name.strip_prefix("/dev/").unwrap_or(name);
    let digits_end = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_lettered = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_lowercase());
    for prefix in WHOLE {
        if let Some(rest) = name.strip_prefix(prefix) {
            if is_lettered(rest) {
                return PlaceKind::Device;
            }
            if digits_end.strip_prefix(prefix).is_some_and(is_lettered) {
                return PlaceKind::Partition;
            }
        }
    }
    let numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        let number_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (number_end > 0).then(|| &rest[number_end..])
    };
    if let Some(rest) = numbered("nvme") {
        let is_path = rest.contains('c');
        return match rest.rsplit_once('p') {
            Some((_, number)) if number.bytes().all(|b| b.is_ascii_digit()) => PlaceKind::Partition,
            _ if is_path => PlaceKind::Path,
            _ => PlaceKind::Device,
        };
    }
    if let Some(rest) = numbered("mmcblk").or_else(|| numbered("nbd")).or_else(|| numbered("pmem")) {
        return if rest.starts_with('p') { PlaceKind::Partition } else { PlaceKind::Device };
    }
    // Compaq and Mylex arrays: `cciss/c0d0p2`, with `!` for the slash in sysfs.
    if let Some(rest) =
        ["cciss", "ida", "rd"].iter().find_map(|p| name.strip_prefix(p)?.strip_prefix(['/', '!']))
    {
        return if rest.contains('p') { PlaceKind::Partition } else { PlaceKind::Device };
    }
    for prefix in ["sr", "scd", "fd", "ram", "st", "zram", "nullb", "dev"] {
        if numbered(prefix).is_some() {
            return PlaceKind::Device;
        }
    }
    PlaceKind::Volume
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, wanted) in [
            ("sda", PlaceKind::Device),
            ("sdaa12", PlaceKind::Partition),
            ("nvme0n1", PlaceKind::Device),
            ("nvme0n1p3", PlaceKind::Partition),
            ("nvme0c1n1", PlaceKind::Path),
            ("vdb", PlaceKind::Device),
            ("dm-3", PlaceKind::Volume),
            ("md0", PlaceKind::Volume),
            ("dev8-0", PlaceKind::Device),
            ("fedora-root", PlaceKind::Volume),
            ("mmcblk0p1", PlaceKind::Partition),
            ("cciss/c0d0", PlaceKind::Device),
            ("cciss!c0d0p2", PlaceKind::Partition),
        ] {
            assert_eq!(kind(name), wanted, "{name}");
        }
    }
}
