//! `lsblk -J`: until version 2.32 all values are strings, later numbers and booleans, since 2.37 `mountpoints` is a list.

use super::device::{Device, column};
use crate::format::inventory::json::{elements, plain};
use crate::format::{DocumentFormat, Format, Reads};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use record::imported::PlaceId;
use serde_json::Value;

/// This format.
pub(in crate::format::inventory) const FORMAT: Format = Format {
    name: "lsblk-json",
    title: "lsblk -J of util-linux",
    recognise,
    reads: Reads::Document { new: || Box::new(LsblkJson) },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(96, "key", head.find(|l| l.contains("\"blockdevices\""))?)
}

struct LsblkJson;

impl DocumentFormat for LsblkJson {
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>) {
        elements(input, "blockdevices", out, &mut |device, out| tell(device, None, out));
    }
}

/// A device and what stands on it. The reader of JSON bounds the depth.
fn tell(device: &Value, parent: Option<&(String, PlaceId)>, out: &mut Out<'_>) {
    let Some(object) = device.as_object() else {
        return out.complain("an object for each device", &device.to_string());
    };
    let cells: Vec<(String, String)> =
        object.iter().filter_map(|(name, value)| Some((column(name), plain(value)?))).collect();
    let told = Device { cells: &cells, parent }.tell(out);
    if told.is_none() {
        out.complain("a device with a name", &device.to_string());
    }
    for child in object.get("children").and_then(Value::as_array).into_iter().flatten() {
        tell(child, told.as_ref(), out);
    }
}
