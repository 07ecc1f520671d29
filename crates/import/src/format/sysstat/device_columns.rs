//! Columns about devices in iostat and sar, by their names: what each is, and what turns its unit into ours.

use record::imported::Quantity::{self, *};

const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const US_PER_MS: f64 = 1000.0;

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    /// The device.
    Name,
    /// A number that is kept, times a factor.
    Kept(Quantity, f64),
    /// A number that means nothing (`svctm`) or follows from others (`%rrqm`).
    Dropped,
    /// A column that is not known here.
    Unread,
}

impl Column {
    /// The quantity and factor of one that is kept.
    pub fn kept(&self) -> Option<(Quantity, f64)> {
        match self {
            Self::Kept(quantity, factor) => Some((*quantity, *factor)),
            _ => None,
        }
    }
}

/// The column of a name. `await` and sizes come in milliseconds, sectors or kB, as the name tells.
pub(super) fn column(name: &str) -> Column {
    use Column::Kept;
    match name {
        "Device" | "Device:" | "DEV" => Column::Name,
        "tps" => Kept(Iops, 1.0),
        "r/s" => Kept(ReadIops, 1.0),
        "w/s" => Kept(WriteIops, 1.0),
        "d/s" => Kept(DiscardIops, 1.0),
        "f/s" => Kept(FlushIops, 1.0),
        "rrqm/s" => Kept(ReadMergesPerS, 1.0),
        "wrqm/s" => Kept(WriteMergesPerS, 1.0),
        "drqm/s" => Kept(DiscardMergesPerS, 1.0),
        "rqm/s" => Kept(MergesPerS, 1.0),
        // sar -d before 11.5.7, and of the first versions.
        "rd_sec/s" => Kept(ReadBytesPerS, SECTOR),
        "wr_sec/s" => Kept(WriteBytesPerS, SECTOR),
        "dc_sec/s" => Kept(DiscardBytesPerS, SECTOR),
        "sect/s" => Kept(BytesPerS, SECTOR),
        "avgqu-sz" | "aqu-sz" => Kept(Outstanding, 1.0),
        "await" => Kept(ResponseUs, US_PER_MS),
        "r_await" => Kept(ReadResponseUs, US_PER_MS),
        "w_await" => Kept(WriteResponseUs, US_PER_MS),
        "d_await" => Kept(DiscardResponseUs, US_PER_MS),
        "f_await" => Kept(FlushResponseUs, US_PER_MS),
        "avgrq-sz" => Kept(RequestBytes, SECTOR),
        "areq-sz" => Kept(RequestBytes, KIB),
        "rareq-sz" => Kept(ReadSizeBytes, KIB),
        "wareq-sz" => Kept(WriteSizeBytes, KIB),
        "dareq-sz" => Kept(DiscardSizeBytes, KIB),
        "%util" => Kept(BusyPercent, 1.0),
        "svctm" | "%rrqm" | "%wrqm" | "%drqm" => Column::Dropped,
        _ => transfer(name),
    }
}

/// `rkB/s`, `MB_wrtn/s`, `Blk_read`, `kB_w+d`: unit, direction, rate or total.
fn transfer(name: &str) -> Column {
    let (name, is_rate) = name.strip_suffix("/s").map_or((name, false), |n| (n, true));
    let unit = |text: &str| match text {
        "kB" | "KB" => Some(KIB),
        "MB" => Some(MIB),
        "sec" | "Blk" => Some(SECTOR),
        _ => None,
    };
    let (direction, factor) = if let Some((first, direction)) = name.split_once('_') {
        // Since 9.x `kB_read`; `kB_w+d` adds discards to the writes (option -s).
        (direction, unit(first))
    } else {
        match name.get(1..).and_then(unit) {
            Some(factor) => (&name[..1], Some(factor)),
            None => ("", unit(name)),
        }
    };
    let Some(factor) = factor else { return Column::Unread };
    let quantity = match (direction, is_rate) {
        ("r" | "read", true) => ReadBytesPerS,
        ("w" | "wrtn" | "w+d", true) => WriteBytesPerS,
        ("d" | "dscd", true) => DiscardBytesPerS,
        ("", true) => BytesPerS,
        ("r" | "read", false) => ReadBytes,
        ("w" | "wrtn" | "w+d", false) => WriteBytes,
        ("d" | "dscd", false) => DiscardBytes,
        _ => return Column::Unread,
    };
    Column::Kept(quantity, factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_in_names() {
        assert_eq!(column("rsec/s"), Column::Kept(ReadBytesPerS, SECTOR));
        assert_eq!(column("wMB/s"), Column::Kept(WriteBytesPerS, MIB));
        assert_eq!(column("Blk_wrtn"), Column::Kept(WriteBytes, SECTOR));
        assert_eq!(column("kB_w+d/s"), Column::Kept(WriteBytesPerS, KIB));
        assert_eq!(column("kB/s"), Column::Kept(BytesPerS, KIB));
        assert_eq!(column("avgrq-sz"), Column::Kept(RequestBytes, SECTOR));
        assert_eq!(column("svctm"), Column::Dropped);
        assert_eq!(column("x/s"), Column::Unread);
    }
}
