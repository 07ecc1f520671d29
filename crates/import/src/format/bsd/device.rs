//! What a disk of FreeBSD is, by its name.

use record::imported::PlaceKind;

/// Its kind. What GEOM puts above disks, and memory disks, are volumes.
pub(crate) fn kind(name: &str) -> PlaceKind {
    const DISKS: [&str; 22] = [
        "ada", "ad", "da", "nvd", "nda", "vtbd", "mmcsd", "sdda", "cd", "acd", "aacd", "mfid", "mrsasd",
        "amrd", "idad", "twed", "ipsd", "mlxd", "mlyd", "xbd", "ar", "fd",
    ];
    if let Some((class, _)) = name.split_once('/') {
        return match class {
            "gpt" | "gptid" | "label" | "ufsid" | "ufs" => PlaceKind::Partition,
            "diskid" => PlaceKind::Device,
            _ => PlaceKind::Volume,
        };
    }
    let digits = |rest: &str| rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    for disk in DISKS {
        let Some(rest) = name.strip_prefix(disk) else { continue };
        match digits(rest) {
            0 => {}
            end if end == rest.len() => return PlaceKind::Device,
            // `ada0p2`, `ada0s1a`, `da0.eli`.
            end => {
                let slice = rest.get(end..).is_some_and(|r| r.starts_with(['p', 's']) && !r.contains('.'));
                return if slice { PlaceKind::Partition } else { PlaceKind::Volume };
            }
        }
    }
    match name.strip_prefix("pass").or_else(|| name.strip_prefix("sa")) {
        Some(rest) if digits(rest) == rest.len() => PlaceKind::Other,
        _ => PlaceKind::Volume,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, wanted) in [
            ("ada0", PlaceKind::Device),
            ("da12", PlaceKind::Device),
            ("nvd0", PlaceKind::Device),
            ("ada0p2", PlaceKind::Partition),
            ("da0s1a", PlaceKind::Partition),
            ("ada0p2.eli", PlaceKind::Volume),
            ("gpt/swap0", PlaceKind::Partition),
            ("mirror/gm0", PlaceKind::Volume),
            ("md0", PlaceKind::Volume),
            ("pass1", PlaceKind::Other),
        ] {
            assert_eq!(kind(name), wanted, "{name}");
        }
    }
}
