//! `nvme list -o json`: one flat list up to version 1; since version 2 also subsystems with controllers and namespaces.

use crate::format::inventory::json::{elements, plain};
use crate::format::linux::device;
use crate::format::{DocumentFormat, Format, Reads};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use record::imported::{PlaceKind, facts};
use serde_json::Value;

/// This format.
pub(in crate::format::inventory) const FORMAT: Format = Format {
    name: "nvme-list-json",
    title: "nvme list, JSON",
    recognise,
    reads: Reads::Document { new: || Box::new(NvmeJson) },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let devices = head.find(|l| l.contains("\"Devices\""))?;
    let shown = ["\"DevicePath\"", "\"SubsystemNQN\"", "\"HostNQN\"", "\"NameSpace\""];
    head.find(|l| shown.iter().any(|s| l.contains(s)))?;
    Likeness::by_line(96, "key", devices)
}

struct NvmeJson;

impl DocumentFormat for NvmeJson {
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>) {
        elements(input, "Devices", out, &mut |device, out| {
            if walk(device, &Controller::default(), out) == 0
                && !device.get("Subsystems").is_some_and(Value::is_array)
            {
                out.complain("a namespace with a path", &device.to_string());
            }
        });
    }
}

/// What a controller says of all its namespaces.
#[derive(Clone, Default)]
struct Controller {
    name: Option<String>,
    serial: Option<String>,
    model: Option<String>,
    firmware: Option<String>,
    transport: Option<String>,
}

/// Tells the namespaces of an object and of what is in it; their number. The reader of JSON bounds the depth.
fn walk(value: &Value, above: &Controller, out: &mut Out<'_>) -> usize {
    let Some(object) = value.as_object() else { return 0 };
    let text =
        |key: &str| object.get(key).and_then(plain).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    let below = Controller {
        name: text("Controller").or(above.name.clone()),
        serial: text("SerialNumber").or(above.serial.clone()),
        model: text("ModelNumber").or(above.model.clone()),
        firmware: text("Firmware").or(above.firmware.clone()),
        transport: text("Transport").or(above.transport.clone()),
    };
    let node = text("DevicePath").or_else(|| {
        // In the flat list `NameSpace` is a number.
        object.get("NameSpace").and_then(Value::as_str).map(str::to_owned)
    });
    let mut count = 0;
    if let Some(node) = node {
        namespace(&node, object, &below, out);
        count += 1;
    }
    for list in ["Subsystems", "Controllers", "Namespaces"] {
        for inner in object.get(list).and_then(Value::as_array).into_iter().flatten() {
            count += walk(inner, &below, out);
        }
    }
    count
}

fn namespace(
    node: &str,
    object: &serde_json::Map<String, Value>,
    controller: &Controller,
    out: &mut Out<'_>,
) {
    let name = node.rsplit('/').next().unwrap_or(node);
    let kind = match device::kind(name) {
        PlaceKind::Volume => PlaceKind::Device,
        kind => kind,
    };
    let place = out.place(kind, name);
    for (fact, text) in [
        ("controller", &controller.name),
        ("serial", &controller.serial),
        (facts::PRODUCT, &controller.model),
        ("firmware", &controller.firmware),
        ("transport", &controller.transport),
    ] {
        if let Some(text) = text {
            out.fact(place, fact, text.as_str());
        }
    }
    let number = |key: &str| {
        let value = object.get(key)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    };
    let sector = number("SectorSize");
    // Versions up to 1.9 misspell the last sector's key.
    let last = number("MaximumLBA").or_else(|| number("MaximiumLBA"));
    let size = number("PhysicalSize").or_else(|| Some(last? * sector?));
    for (fact, value) in [
        (facts::SIZE_BYTES, size),
        ("used_bytes", number("UsedBytes")),
        ("logical_sector_bytes", sector),
        ("namespace_id", number("NSID").or_else(|| number("NameSpace"))),
    ] {
        if let Some(value) = value {
            out.fact(place, fact, value);
        }
    }
}
