//! A SCSI disk: the LUN, its host adapter, and the Fibre Channel port when there is one (ABI scsi, fc_host).

use super::block::{Describe, Live, parse_choice};
use crate::notes::Notes;
use crate::sample::siblings;
use record::{Layer, LimitKind};

pub(crate) fn describe(notes: &mut Notes<'_>, layer: &mut Layer) {
    let device = format!("/sys/block/{}/device", layer.name);
    identity(notes, layer, &device);
    let file = format!("{device}/queue_depth");
    let depth = notes.number::<u32>(&file);
    layer.bound(LimitKind::LunQueueDepth, depth.map(f64::from), &file, Live::Yes);
    layer.set("queue_depth", depth.map(|d| d.to_string()), &file);
    for name in ["queue_ramp_up_period", "timeout", "eh_timeout"] {
        let file = format!("{device}/{name}");
        let value = notes.text(&file);
        layer.set(name, value, &file);
    }
    for name in ["queue_type", "state", "device_blocked"] {
        let value = notes.text(&format!("{device}/{name}"));
        layer.fact(name, value);
    }
    adapter(notes, layer, &device);
}

fn identity(notes: &mut Notes<'_>, layer: &mut Layer, device: &str) {
    let vendor = notes.text(&format!("{device}/vendor"));
    let model = notes.text(&format!("{device}/model"));
    layer.label = match (&vendor, &model) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    layer.fact("vendor", vendor);
    layer.fact("model", model);
    let rev = notes.text(&format!("{device}/rev"));
    layer.fact("revision", rev);
    let serial = serial(notes, device);
    layer.stable_id = notes.text(&format!("{device}/wwid")).or_else(|| serial.clone());
    layer.fact("serial", serial);
}

/// Unit serial number from the cached VPD page 0x80: four bytes of header, then text. The kernel read the page at
/// discovery; reading the file asks nothing of the device.
fn serial(notes: &Notes<'_>, device: &str) -> Option<String> {
    let page = notes.root.bytes(format!("{device}/vpd_pg80")).ok()?;
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let text = String::from_utf8_lossy(page.get(4..4 + length)?).trim().to_owned();
    (!text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ')).then_some(text)
}

fn adapter(notes: &mut Notes<'_>, layer: &mut Layer, device: &str) {
    // The device link ends in host:channel:target:lun.
    let Some(address) = notes.link_name(device) else { return };
    layer.fact("scsi_address", Some(address.clone()));
    let host = address.split(':').next().unwrap_or_default();
    if host.is_empty() || !host.bytes().all(|b| b.is_ascii_digit()) {
        return;
    }
    let folder = format!("/sys/class/scsi_host/host{host}");
    layer.fact("host", Some(format!("host{host}")));
    let driver = notes.text(&format!("{folder}/proc_name"));
    layer.fact("host_driver", driver.clone());
    let file = format!("{folder}/can_queue");
    let value = notes.number::<u32>(&file).map(f64::from);
    layer.bound(LimitKind::HostCanQueue, value, &file, Live::No);
    for name in ["cmd_per_lun", "nr_hw_queues"] {
        let value = notes.text(&format!("{folder}/{name}"));
        layer.fact(&format!("host_{name}"), value);
    }
    parameter(notes, layer, driver.as_deref().unwrap_or_default());
    let siblings: Vec<String> = siblings::addresses(notes.root, host)
        .iter()
        .filter(|other| **other != address)
        .map(|other| siblings::disk_at(notes.root, other))
        .collect();
    layer.fact("siblings", siblings_text(&siblings));
    let transport = transport(notes, layer, host);
    layer.fact("transport", transport);
}

/// Names of the other LUNs of the adapter, as many as one reads.
fn siblings_text(names: &[String]) -> Option<String> {
    const SHOWN: usize = 16;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(" ");
    match names.len() {
        0 => None,
        n if n > SHOWN => Some(format!("{shown} and {} more", n - SHOWN)),
        _ => Some(shown),
    }
}

/// Where drivers take the number of commands of an adapter (`can_queue`) from, by `proc_name`. Parameters of modules,
/// but for iSCSI, whose sessions are given it at login.
const PARAMETERS: [(&str, &str); 10] = [
    ("scsi_debug", "max_queue"),
    ("lpfc", "lpfc_hba_queue_depth"),
    ("mpt3sas", "max_queue_depth"),
    ("mpt2sas", "max_queue_depth"),
    ("ibmvfc", "max_requests"),
    ("ibmvscsi", "max_requests"),
    ("aacraid", "numacb"),
    ("iscsi_tcp", "node.session.cmds_max"),
    ("virtio_scsi", "virtqueue_size"),
    ("vmw_pvscsi", "ring_pages"),
];

fn parameter(notes: &mut Notes<'_>, layer: &mut Layer, driver: &str) {
    let known = PARAMETERS.iter().find(|(name, _)| driver.eq_ignore_ascii_case(name)).map(|(_, p)| *p);
    layer.fact("host_parameter", known.map(str::to_owned));
    let file = known.map(|parameter| format!("/sys/module/{driver}/parameters/{parameter}"));
    let value = file.and_then(|file| notes.text(&file));
    layer.fact("host_parameter_value", value);
}

/// How the LUN is attached, from the classes its host belongs to and the way sysfs nests it.
fn transport(notes: &mut Notes<'_>, layer: &mut Layer, host: &str) -> Option<String> {
    let fc = format!("/sys/class/fc_host/host{host}");
    if notes.root.exists(&fc) {
        // Statistics are left alone: some adapters answer them with a slow mailbox command.
        for name in ["port_name", "speed", "port_state"] {
            let value = notes.text(&format!("{fc}/{name}"));
            layer.fact(&format!("fc_{name}"), value.map(|v| parse_choice(&v).0.unwrap_or(v)));
        }
        return Some("fc".to_owned());
    }
    if notes.root.exists(format!("/sys/class/iscsi_host/host{host}")) {
        let way = notes.root.link(format!("/sys/block/{}", layer.name)).unwrap_or_default();
        let session = way.iter().map(|p| p.to_string_lossy()).find(|p| p.starts_with("session"));
        let target = session.and_then(|s| notes.text(&format!("/sys/class/iscsi_session/{s}/targetname")));
        layer.fact("iscsi_target", target);
        return Some("iscsi".to_owned());
    }
    if notes.root.exists(format!("/sys/class/sas_host/host{host}")) {
        return Some("sas".to_owned());
    }
    let way = notes.root.link(format!("/sys/block/{}", layer.name)).ok()?;
    let way = way.to_string_lossy();
    let hint = |needle: &str, word: &str| way.contains(needle).then(|| word.to_owned());
    hint("/usb", "usb").or_else(|| hint("/ata", "sata")).or_else(|| hint("/virtio", "virtio-scsi"))
}
