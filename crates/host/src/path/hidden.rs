//! Where the path goes on out of this host's sight.

use record::{Doubt, DoubtId, IoPath, Layer, LayerKind, Weight};

/// One doubt for each kind of device whose lower half belongs to somebody else: virtual disks of a hypervisor or a
/// cloud. Queues, caches and caps down there show only as time at the device.
pub fn hidden(path: &IoPath) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for layer in path.layers.iter().filter(|l| l.below.is_empty()) {
        let Some(by) = hidden_by(layer) else { continue };
        let text = format!(
            "{} is a virtual disk of {by}: its queues, caches and caps below this host show only as time at the device",
            layer.name
        );
        doubts.push(Doubt { id: DoubtId::PathHidden, weight: Weight::Note, text });
    }
    doubts
}

fn hidden_by(layer: &Layer) -> Option<&'static str> {
    let label = layer.label.as_deref().unwrap_or_default();
    match layer.kind {
        LayerKind::Virtio => Some("the hypervisor (virtio)"),
        LayerKind::OtherBlock if layer.name.starts_with("xvd") => Some("the hypervisor (Xen)"),
        LayerKind::Scsi | LayerKind::Nvme => {
            let makers = [
                ("VMware", "VMware"),
                ("QEMU", "QEMU"),
                ("Msft", "Hyper-V or Azure"),
                ("Google", "Google Cloud"),
                ("Amazon", "AWS"),
                ("MSFT NVMe", "Azure"),
                ("nvme_card-pd", "Google Cloud"),
                ("VBOX", "VirtualBox"),
                ("Nutanix", "Nutanix"),
            ];
            makers.iter().find(|(word, _)| label.contains(word)).map(|(_, maker)| *maker)
        }
        _ => None,
    }
}
