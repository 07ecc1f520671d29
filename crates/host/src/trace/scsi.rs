//! SCSI answers other than GOOD: by raw tracepoints where the types of the SCSI layer are described (in the kernel or
//! in its module), else by the classic tracepoints, whose fields tracefs describes.

use super::btf::Btf;
use super::layout::SCSI_WORDS;
use super::window::ScsiCounts;
use crate::Root;
use aya::maps::{HashMap, MapData, MapError};
use std::collections::HashMap as Memory;

/// Offsets, named as the kernel program names them.
pub(super) type Offsets = Vec<(&'static str, u32)>;

const FIELDS: [(&str, &str, &str); 7] = [
    ("at_cmnd_device", "scsi_cmnd", "device"),
    ("at_cmnd_result", "scsi_cmnd", "result"),
    ("at_device_host", "scsi_device", "host"),
    ("at_device_channel", "scsi_device", "channel"),
    ("at_device_id", "scsi_device", "id"),
    ("at_device_lun", "scsi_device", "lun"),
    ("at_host_no", "Scsi_Host", "host_no"),
];

/// Tracepoints, with the programs for the raw and for the classic kind.
pub(super) const TRACEPOINTS: [(&str, &str, &str); 3] = [
    ("scsi_dispatch_cmd_done", "scsi_done_raw", "scsi_done_event"),
    ("scsi_dispatch_cmd_error", "scsi_error_raw", "scsi_error_event"),
    ("scsi_dispatch_cmd_timeout", "scsi_timeout_raw", "scsi_timeout_event"),
];

/// Whether there is a SCSI layer to trace.
pub(crate) fn is_loaded(root: &Root) -> bool {
    root.exists("/sys/class/scsi_host")
}

/// Where the fields stand, from the module's description or else from the kernel's.
pub(super) fn offsets(root: &Root, kernel: &Btf<'_>) -> Option<Offsets> {
    let module = std::fs::read(root.place("/sys/kernel/btf/scsi_mod")).ok();
    let module = module.as_deref().and_then(|data| Btf::parse(data, Some(kernel)));
    let of = |(name, structure, member): (&'static str, &str, &str)| {
        let offset = module.as_ref().and_then(|m| m.offset_bytes(structure, member));
        Some((name, offset.or_else(|| kernel.offset_bytes(structure, member))?))
    };
    FIELDS.into_iter().map(of).collect()
}

/// Whether the classic tracepoints have the fields where the program looks for them.
pub(super) fn events_fit(root: &Root) -> Result<(), String> {
    let places = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let place = places.into_iter().find(|p| root.exists(format!("{p}/events/scsi")));
    let place = place.ok_or("tracefs is not mounted, or has no scsi events")?;
    for (name, last) in [
        ("scsi_dispatch_cmd_done", "result"),
        ("scsi_dispatch_cmd_error", "rtn"),
        ("scsi_dispatch_cmd_timeout", "result"),
    ] {
        let format =
            root.text(format!("{place}/events/scsi/{name}/format")).map_err(|e| format!("{name}: {e}"))?;
        for (field, offset) in [("host_no", 8), ("channel", 12), ("id", 16), ("lun", 20), (last, 24)] {
            if !has_field(&format, field, offset) {
                return Err(format!("{name} has no field {field} at offset {offset}"));
            }
        }
    }
    Ok(())
}

fn has_field(format: &str, field: &str, offset: u32) -> bool {
    format.lines().any(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        parts
            .next()
            .is_some_and(|p| p.starts_with("field:") && p.split_ascii_whitespace().last() == Some(field))
            && parts.next() == Some(&format!("offset:{offset}"))
            && parts.next() == Some("size:4")
    })
}

type Key = [u32; 4];
type Value = [u64; SCSI_WORDS];

pub(super) struct ScsiMap {
    map: HashMap<MapData, Key, Value>,
    last: Memory<Key, Value>,
}

impl ScsiMap {
    pub(super) fn new(map: HashMap<MapData, Key, Value>) -> Self {
        Self { map, last: Memory::new() }
    }

    /// What was counted since the last call, by address.
    pub(super) fn take(&mut self) -> Result<Vec<(String, ScsiCounts)>, MapError> {
        let now: Vec<(Key, Value)> = self.map.iter().collect::<Result<_, _>>()?;
        let mut all = Vec::new();
        for (key, value) in now {
            let before = self.last.insert(key, value).unwrap_or([0; SCSI_WORDS]);
            let grown: Value = std::array::from_fn(|i| value[i].wrapping_sub(before[i]));
            if grown.iter().any(|g| *g > 0) {
                let [host, channel, id, lun] = key;
                all.push((format!("{host}:{channel}:{id}:{lun}"), ScsiCounts::from_words(&grown)));
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn fields_are_found_by_name_offset_and_size() {
        let format = "name: scsi_dispatch_cmd_done\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                      \n\tfield:u32 host_no;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:int result;\toffset:24;\tsize:4;\tsigned:1;\n";
        assert!(has_field(format, "host_no", 8));
        assert!(has_field(format, "result", 24));
        assert!(!has_field(format, "host_no", 12));
        assert!(!has_field(format, "no", 8));
        assert!(!has_field(format, "common_type", 0), "another size");
    }
}
