//! What a row of Solaris or illumos describes, by its name.

use record::imported::PlaceKind;

/// Its kind. A bare word that is no driver's name is a ZFS pool: illumos prints pools beside disks.
pub(crate) fn kind(name: &str) -> PlaceKind {
    if name.contains(":/") || numbered(name, "nfs") == Some("") {
        return PlaceKind::Filesystem;
    }
    // Option -X: a path of a multipath device, `ssd3.t5000` or `c4t0d0.fp1`.
    if let Some((device, path)) = name.split_once('.') {
        let is_path = ["fp", "t", "mpt", "scsi", "iscsi"].iter().any(|p| path.starts_with(p));
        if is_path && matches!(kind(device), PlaceKind::Device | PlaceKind::Pool) {
            return PlaceKind::Path;
        }
    }
    if let Some((driver, _)) = name.split_once(',') {
        // Slices `sd0,a`, and counters of a host controller `ohci0,bu`.
        return if kind(driver) == PlaceKind::Device { PlaceKind::Partition } else { PlaceKind::Other };
    }
    if let Some(kind) = controller(name) {
        return kind;
    }
    for driver in
        ["sd", "ssd", "dad", "cmdk", "vdc", "vdsk", "blkdev", "nvme", "xdf", "fd", "ata", "id", "is"]
    {
        match numbered(name, driver) {
            Some("") => return PlaceKind::Device,
            Some(_) => return PlaceKind::Partition,
            None => {}
        }
    }
    for (driver, kind) in [
        ("md", PlaceKind::Volume),
        ("lofi", PlaceKind::Volume),
        ("ramdisk", PlaceKind::Volume),
        ("zvol", PlaceKind::Volume),
        ("vol", PlaceKind::Volume),
        ("vxio", PlaceKind::Volume),
        ("st", PlaceKind::Other),
        ("ohci", PlaceKind::Other),
        ("ehci", PlaceKind::Other),
        ("uhci", PlaceKind::Other),
        ("xhci", PlaceKind::Other),
    ] {
        if numbered(name, driver).is_some() {
            return kind;
        }
    }
    if name.starts_with("rmt/") { PlaceKind::Other } else { PlaceKind::Pool }
}

/// What follows the name of a driver and its number.
fn numbered<'n>(name: &'n str, driver: &str) -> Option<&'n str> {
    let rest = name.strip_prefix(driver)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (end > 0).then(|| rest.get(end..).unwrap_or(""))
}

/// `c0` (option -C), `c0t0d0`, `c0d0`, `c2t5000CCA03835B714d0`, and their slices `s2` and partitions `p0`.
fn controller(name: &str) -> Option<PlaceKind> {
    let rest = numbered(name, "c")?;
    if rest.is_empty() {
        return Some(PlaceKind::Adapter);
    }
    let rest = match rest.strip_prefix('t') {
        // The target may be a name of hexadecimal digits, `d` among them: the disk is what the last `d` begins.
        Some(target) => target.rfind('d').and_then(|at| target.get(at..))?,
        None => rest,
    };
    match numbered(rest, "d")? {
        "" => Some(PlaceKind::Device),
        slice if numbered(slice, "s") == Some("") || numbered(slice, "p") == Some("") => {
            Some(PlaceKind::Partition)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, wanted) in [
            ("c0t0d0", PlaceKind::Device),
            ("c2t5000CCA03835B714d0", PlaceKind::Device),
            ("c4t600A0B800026D5D2d0s2", PlaceKind::Partition),
            ("c0d1p0", PlaceKind::Partition),
            ("c1", PlaceKind::Adapter),
            ("sd9", PlaceKind::Device),
            ("sd9,a", PlaceKind::Partition),
            ("ohci0,bu", PlaceKind::Other),
            ("ssd3.t5000", PlaceKind::Path),
            ("nfs12", PlaceKind::Filesystem),
            ("192.168.1.1:/export/home dir", PlaceKind::Filesystem),
            ("md10", PlaceKind::Volume),
            ("rpool", PlaceKind::Pool),
            ("zones", PlaceKind::Pool),
        ] {
            assert_eq!(kind(name), wanted, "{name}");
        }
    }
}
