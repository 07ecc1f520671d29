//! An iSCSI target and its initiator, over the guest's own loopback.

use super::super::Trouble;
use super::super::command::must;
use super::super::devices::{Devices, wait_for_scsi, write};
use super::target;
use crate::rig::Iscsi;

const TARGET: &str = "iqn.2026-01.lab:target";
const INITIATOR: &str = "iqn.2026-01.lab:initiator";
const PORTAL: &str = "127.0.0.1";

/// Makes `iscsi0`.
pub fn make(iscsi: &Iscsi, devices: &mut Devices) -> Trouble<()> {
    must(&["/bin/busybox", "ip", "link", "set", "lo", "up"])?;
    must(&["/bin/busybox", "ip", "address", "replace", "127.0.0.1/8", "dev", "lo"])?;
    let backend = target::backend(&devices.node(&iscsi.backend)?)?;
    let group = format!("{}/iscsi/{TARGET}/tpgt_1", target::root());
    target::folders(&group)?;
    target::lun(&group, &backend)?;
    for (file, value) in [
        ("generate_node_acls", "1".to_owned()),
        ("cache_dynamic_acls", "1".to_owned()),
        ("demo_mode_write_protect", "0".to_owned()),
        ("authentication", "0".to_owned()),
        // Read once, at the first login of an initiator.
        ("default_cmdsn_depth", iscsi.cmdsn_window.to_string()),
    ] {
        write(&format!("{group}/attrib/{file}"), &value)?;
    }
    target::folders(&format!("{group}/np/{PORTAL}:3260"))?;
    write(&format!("{group}/enable"), "1")?;
    // Where iscsistart keeps its lock.
    target::folders("/run/lock/iscsi")?;
    let depth = format!("node.session.queue_depth={}", iscsi.queue_depth);
    must(&[
        "/bin/iscsistart",
        "-i",
        INITIATOR,
        "-t",
        TARGET,
        "-g",
        "1",
        "-a",
        PORTAL,
        "-p",
        "3260",
        "-P",
        &depth,
    ])?;
    for disk in wait_for_scsi("iscsi_tcp", 1)? {
        devices.add("iscsi0", &disk);
    }
    Ok(())
}
