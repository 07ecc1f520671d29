//! What must hold in a rig beyond what its types say. The first thing wrong is said, with what was expected.

use super::{Clock, Dm, DmTarget, Job, Rig, setting};
use std::collections::BTreeMap;

type Check = Result<(), String>;

/// Checks one rig.
pub fn check(name: &str, rig: &Rig) -> Check {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        return Err("a name has lower-case letters, digits and '-' only: it becomes a folder".into());
    }
    if rig.kernels.is_empty() {
        return Err("kernels: expected at least one of \"6.1\", \"6.12\"".into());
    }
    if rig.clock == Clock::Virtual && rig.cpus != 1 {
        return Err("cpus: more than one needs clock = \"real\"".into());
    }
    if rig.clock == Clock::Virtual && !rig.qemu.is_empty() {
        return Err(
            "qemu: devices of the emulator keep the host's time, so clock = \"real\" is needed".into()
        );
    }
    let names = devices(rig);
    let known = |device: &str| known(rig, &names, device);
    for dm in &rig.dm {
        dm_ok(dm, &known).map_err(|why| format!("dm {}: {why}", dm.name))?;
    }
    let backends = rig.fan_in.iter().map(|f| &f.backend).chain(rig.iscsi.iter().map(|i| &i.backend));
    for backend in backends {
        known(backend)?;
    }
    if let Some(cgroup) = &rig.cgroup {
        for device in cgroup.io_max.keys().chain(cgroup.cost_model.keys()).chain(cgroup.cost_qos.keys()) {
            known(device)?;
        }
    }
    settings(&rig.set, &known).map_err(|why| format!("set: {why}"))?;
    let mut probes: Vec<&str> = Vec::new();
    for job in &rig.job {
        job_ok(job, &known, &probes).map_err(|why| format!("job {}: {why}", job.name))?;
        if rig.job.iter().filter(|other| other.name == job.name).count() > 1 {
            return Err(format!("job {}: the name is given twice", job.name));
        }
        if job.probe.is_some() {
            probes.push(&job.name);
        }
    }
    Ok(())
}

/// The devices a rig builds, in the order they are made.
pub fn devices(rig: &Rig) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(scsi) = &rig.scsi {
        let luns = scsi.hosts * scsi.targets * scsi.luns;
        names.extend((0..luns).map(|number| format!("lun{number}")));
    }
    names.extend((0..rig.null.len()).map(|number| format!("null{number}")));
    if let Some(fan_in) = &rig.fan_in {
        names.extend((0..fan_in.hosts).map(|number| format!("port{number}")));
    }
    if rig.iscsi.is_some() {
        names.push("iscsi0".into());
    }
    names.extend(rig.dm.iter().map(|dm| dm.name.clone()));
    names
}

/// A device of the emulator goes by its kernel name, which only the guest can check.
fn known(rig: &Rig, names: &[String], device: &str) -> Check {
    if names.iter().any(|name| name == device) || !rig.qemu.is_empty() {
        return Ok(());
    }
    Err(format!("no device {device} in this rig; it has {}", names.join(", ")))
}

fn dm_ok(dm: &Dm, known: &dyn Fn(&str) -> Check) -> Check {
    if dm.on.is_empty() {
        return Err("on: expected at least one device".into());
    }
    for below in &dm.on {
        known(below)?;
    }
    match dm.target {
        DmTarget::Multipath => {
            let selectors = ["round-robin", "queue-length", "service-time"];
            if !dm.selector.as_deref().is_some_and(|selector| selectors.contains(&selector)) {
                return Err(format!("selector: expected one of {}", selectors.join(", ")));
            }
            if !matches!(dm.queue_mode.as_deref(), Some("mq" | "bio")) {
                return Err("queue_mode: expected \"mq\" or \"bio\"".into());
            }
        }
        DmTarget::Striped | DmTarget::Linear if dm.selector.is_some() || dm.queue_mode.is_some() => {
            return Err("selector and queue_mode belong to multipath".into());
        }
        DmTarget::Striped | DmTarget::Linear => {}
    }
    if let Some(percent) = &dm.percent {
        if dm.target != DmTarget::Linear {
            return Err("percent belongs to linear".into());
        }
        if percent.len() != dm.on.len() || percent.iter().sum::<u32>() != 100 || percent.contains(&0) {
            return Err("percent: expected one share above 0 per device, 100 in all".into());
        }
    }
    Ok(())
}

fn settings(set: &BTreeMap<String, String>, known: &dyn Fn(&str) -> Check) -> Check {
    for name in set.keys() {
        match setting::parse(name)? {
            setting::Setting::File(file) => {
                for device in setting::devices_in(file) {
                    known(device)?;
                }
            }
            setting::Setting::Knob { device, .. } => known(device)?,
        }
    }
    Ok(())
}

fn job_ok(job: &Job, known: &dyn Fn(&str) -> Check, probes: &[&str]) -> Check {
    let given = [
        job.probe.is_some(),
        job.watch.is_some(),
        job.set.is_some(),
        job.apply_advice_of.is_some(),
        job.run.is_some(),
    ];
    if given.iter().filter(|given| **given).count() != 1 {
        return Err("expected exactly one of probe, watch, set, apply_advice_of, run".into());
    }
    let loaded = job.probe.is_some() || job.watch.is_some();
    if !loaded && (!job.beside.is_empty() || !job.during.is_empty()) {
        return Err("beside and during belong to a probe or a watch".into());
    }
    for device in job.probe.iter().chain(&job.watch) {
        known(device)?;
    }
    if job.interval_s < 0.1 {
        return Err("interval_s: at least 0.1".into());
    }
    if !(job.budget_s > 0.0 && job.settle_s >= 0.0) {
        return Err("budget_s and settle_s: expected seconds".into());
    }
    for beside in &job.beside {
        known(&beside.probe)?;
        if beside.concurrency == 0 || beside.every_ms == Some(0) {
            return Err("beside: concurrency and every_ms are at least 1".into());
        }
        if beside.reads.is_some() && beside.every_ms.is_none() {
            return Err("beside: reads belongs to every_ms".into());
        }
    }
    for during in &job.during {
        settings(&during.set, known)?;
        if during.every_s.is_some_and(|every| every <= 0.0) || during.at_s < 0.0 {
            return Err("during: at_s and every_s are seconds".into());
        }
        if during.run.as_ref().is_some_and(Vec::is_empty) {
            return Err("during: run: expected the words of a command".into());
        }
    }
    if let Some(set) = &job.set {
        settings(set, known)?;
    }
    if job.run.as_ref().is_some_and(Vec::is_empty) {
        return Err("run: expected the words of a command".into());
    }
    match &job.apply_advice_of {
        Some(of) if !probes.contains(&of.as_str()) => {
            Err(format!("apply_advice_of: no earlier probe is named {of}"))
        }
        _ => Ok(()),
    }
}
