//! What devices answered besides success over the whole run, told once and with numbers.

use crate::regime;
use record::{Doubt, DoubtId, IoPath, LayerKind, LimitKind, Step, SubjectFacts, Trouble, Weight};
use serde::{Deserialize, Serialize};

/// One device over the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceTrouble {
    /// Kernel name.
    pub device: String,
    /// Commands refused with TASK SET FULL or BUSY.
    pub refused: u64,
    /// Of those, TASK SET FULL and BUSY, and commands that the host adapter's driver did not take; absent where the
    /// answers could not be counted one by one.
    pub answers: Option<record::Answers>,
    /// Whether the device pushed back: more than by accident.
    pub pushes_back: bool,
    /// Smallest and largest concurrency with refused commands.
    pub refused_at: Option<[u32; 2]>,
    /// Largest concurrency whose windows all went without a refused command.
    pub clean_up_to: Option<u32>,
    /// Commands that timed out.
    pub timed_out: u64,
    /// Commands that ended in other than success, refused ones left aside.
    pub unsuccessful: u64,
    /// Queue depth when the path was read, lowest in the run, and at its end.
    pub queue_depth: Option<[u32; 3]>,
    /// Milliseconds of load after which the kernel raises a lowered depth by one.
    pub ramp_up_period_ms: Option<u64>,
    /// Where the depth is set.
    pub depth_file: Option<String>,
    /// (seconds since the run began, what happened) of paths that came or went.
    pub path_changes: Vec<(f64, String)>,
}

/// Devices with something to tell, in the order of the path.
pub fn devices(steps: &[Step], path: Option<&IoPath>) -> Vec<DeviceTrouble> {
    let mut names: Vec<&str> = Vec::new();
    for trouble in steps.iter().flat_map(|s| &s.incidents.troubles) {
        if !names.contains(&trouble.device.as_str()) {
            names.push(&trouble.device);
        }
    }
    for layer in path.iter().flat_map(|p| p.counted()) {
        let was = layer.limit(LimitKind::LunQueueDepth).map(|l| l.value);
        let moved = steps.iter().flat_map(|s| &s.layers).any(|l| {
            l.name == layer.name
                && was.is_some()
                && l.device_queue_limit_range.is_some_and(|r| Some(r) != was.zip(was))
        });
        if moved && !names.contains(&layer.name.as_str()) {
            names.push(&layer.name);
        }
    }
    names.into_iter().map(|name| device(name, steps, path)).collect()
}

fn device(name: &str, steps: &[Step], path: Option<&IoPath>) -> DeviceTrouble {
    let seen: Vec<(&Step, &Trouble)> = steps
        .iter()
        .flat_map(|s| s.incidents.troubles.iter().filter(|t| t.device == name).map(move |t| (s, t)))
        .collect();
    let refusing: Vec<u32> =
        seen.iter().filter(|(_, t)| t.refused() > 0).filter_map(|(s, _)| s.concurrency()).collect();
    let lowest_refused = refusing.iter().copied().min();
    let clean_up_to = steps
        .iter()
        .filter(|s| s.incidents.refused() == 0 && s.ios() > 0)
        .filter_map(Step::concurrency)
        .filter(|n| lowest_refused.is_none_or(|refused| *n < refused))
        .max();
    let layer = path.and_then(|p| p.layer(name));
    let refused = seen.iter().map(|(_, t)| t.refused()).sum();
    let unsuccessful: u64 = seen.iter().map(|(_, t)| t.unsuccessful).sum();
    DeviceTrouble {
        device: name.to_owned(),
        refused,
        answers: seen.iter().filter_map(|(_, t)| t.counted).reduce(|a, b| record::Answers {
            task_set_full: a.task_set_full + b.task_set_full,
            busy: a.busy + b.busy,
            host_busy: a.host_busy + b.host_busy,
        }),
        pushes_back: seen.iter().any(|(_, t)| t.pushes_back()),
        refused_at: lowest_refused.zip(refusing.iter().copied().max()).map(|(a, b)| [a, b]),
        clean_up_to,
        timed_out: seen.iter().map(|(_, t)| t.timed_out).sum(),
        unsuccessful: unsuccessful.saturating_sub(refused),
        queue_depth: depths(name, steps, &seen, path),
        ramp_up_period_ms: layer
            .and_then(|l| l.tunable("queue_ramp_up_period"))
            .and_then(|t| t.value.parse().ok()),
        depth_file: layer.and_then(|l| l.limit(LimitKind::LunQueueDepth)).map(|l| l.file.clone()),
        path_changes: path_changes(&seen),
    }
}

/// Depth before, lowest and last; absent when it never moved.
fn depths(name: &str, steps: &[Step], seen: &[(&Step, &Trouble)], path: Option<&IoPath>) -> Option<[u32; 3]> {
    let told = path.and_then(|p| p.layer(name)?.limit(LimitKind::LunQueueDepth)).map(|l| l.value as u32);
    // Each window tells the limit while it ran; a load that met trouble tells it from its first to its last I/O.
    let mut all: Vec<(f64, u32)> = Vec::new();
    for step in steps {
        let layer = step.layers.iter().find(|l| l.name == name && told.is_some());
        if let (Some((low, high)), Some(last)) =
            layer.map_or((None, None), |l| (l.device_queue_limit_range, l.device_queue_limit))
        {
            all.extend([low, high, last].map(|v| (step.start_s, v as u32)));
        }
        for (_, trouble) in seen.iter().filter(|(s, _)| std::ptr::eq(*s, step)) {
            let depths = trouble.queue_depth.map(|d| [d.first, d.low, d.high, d.last]);
            all.extend(depths.into_iter().flatten().map(|v| (step.start_s, v)));
        }
    }
    let first = told.or(all.first().map(|(_, v)| *v))?;
    let low = all.iter().map(|(_, v)| *v).min()?.min(first);
    let high = all.iter().map(|(_, v)| *v).max()?.max(first);
    let last = all.last()?.1;
    (low != high).then_some([first, low, last])
}

fn path_changes(seen: &[(&Step, &Trouble)]) -> Vec<(f64, String)> {
    seen.iter()
        .flat_map(|(step, t)| {
            let at_s = step.start_s;
            let state = t.state.as_ref().map(|[before, after]| format!("its state went {before} -> {after}"));
            state.into_iter().chain(t.path.clone()).map(move |what| (at_s, what))
        })
        .collect()
}

/// What they give cause to doubt.
pub fn doubts(steps: &[Step], subject: &SubjectFacts) -> Vec<Doubt> {
    let path = subject.path.as_ref();
    let mut all: Vec<Doubt> = Vec::new();
    let devices = devices(steps, path);
    let mut tell = |id, texts: Vec<String>, weight| {
        if !texts.is_empty() {
            all.push(Doubt { id, weight, text: texts.join("; ") });
        }
    };
    let over = |f: fn(&DeviceTrouble) -> Option<String>| devices.iter().filter_map(f).collect::<Vec<_>>();
    let harmless = |id: &DeviceTrouble| !id.pushes_back;
    let full = over(refused_words);
    let weight = if devices.iter().all(harmless) { Weight::Note } else { Weight::Caution };
    tell(DoubtId::QueueFull, full, weight);
    let mut moved = over(depth_words);
    if let (false, Some(left_out)) = (moved.is_empty(), left_out(steps)) {
        moved.push(left_out);
    }
    tell(DoubtId::QueueDepthChanged, moved, Weight::Caution);
    tell(DoubtId::Timeouts, over(timeout_words), Weight::Caution);
    tell(DoubtId::PathsChanged, over(path_words), Weight::Caution);
    let failed: u64 = steps.iter().map(|s| s.incidents.failed.as_ref().map_or(s.errors(), |f| f.count)).sum();
    let multipath = path.is_some_and(|p| p.layers.iter().any(|l| l.kind == LayerKind::Multipath));
    let recovered: Vec<String> =
        devices.iter().filter_map(|d| recovered_words(d, failed, multipath)).collect();
    tell(DoubtId::RecoveredErrors, recovered, Weight::Caution);
    tell(DoubtId::IoErrors, failed_words(steps, path).into_iter().collect(), failed_weight(steps, failed));
    if let Some(slowest) = all.iter_mut().find(|d| d.id == DoubtId::Timeouts)
        && let Some(us) = steps.iter().filter_map(|s| s.incidents.slowest_us).reduce(f64::max)
    {
        slowest.text.push_str(&format!("; the longest I/O took {}", crate::rule::time(us)));
    }
    all
}

fn at_words(d: &DeviceTrouble) -> String {
    match d.refused_at {
        Some([low, high]) if low == high => format!(" at {low} outstanding"),
        Some([low, high]) => format!(" at {low} to {high} outstanding"),
        None => String::new(),
    }
}

/// How often and where a device refused commands, in words; absent when it did not.
pub fn refused_words(d: &DeviceTrouble) -> Option<String> {
    let host_busy = d.answers.map_or(0, |a| a.host_busy);
    if d.refused == 0 && host_busy == 0 {
        return None;
    }
    let times = |n: u64| if n == 1 { "once".to_owned() } else { format!("{n} times") };
    let mut parts = Vec::new();
    match d.answers {
        Some(a) => {
            parts.extend(
                (a.task_set_full > 0).then(|| format!("answered TASK SET FULL {}", times(a.task_set_full))),
            );
            parts.extend((a.busy > 0).then(|| format!("answered BUSY {}", times(a.busy))));
            parts.extend((a.host_busy > 0).then(|| {
                format!("was not given {} commands because the host adapter's driver was busy", a.host_busy)
            }));
        }
        None => parts.push(format!("answered TASK SET FULL or BUSY {}", times(d.refused))),
    }
    let clean = match d.clean_up_to {
        Some(n) if d.refused > 0 => format!("; none at {n} and below"),
        _ => String::new(),
    };
    let few = if d.pushes_back || d.refused == 0 { "" } else { " (so few do no harm)" };
    Some(format!("{} {}{}{clean}{few}", d.device, parts.join(", "), at_words(d)))
}

fn depth_words(d: &DeviceTrouble) -> Option<String> {
    let [first, low, last] = d.queue_depth?;
    let device = &d.device;
    let period_s = d.ramp_up_period_ms.map_or(120.0, |ms| ms as f64 / 1e3);
    if d.refused > 0 && low < first {
        let steps = f64::from(first.saturating_sub(last));
        let back = if last < first {
            format!(
                "; it raises it by 1 after each {period_s:.0} s of load without such an answer, so {} of load pass until \
                 {first}. Measurements of the next hour are tainted by it: wait, or write {first} back once the cause is \
                 gone",
                minutes(steps * period_s)
            )
        } else {
            " and raised it again".to_owned()
        };
        return Some(format!(
            "{device}: the kernel lowered queue_depth from {first} to {low}{}{back}",
            now(low, last)
        ));
    }
    let who = if last > first {
        format!(
            "the kernel raising a depth that it had lowered before (by 1 each {period_s:.0} s), or somebody set it"
        )
    } else {
        "somebody set it".to_owned()
    };
    let low = if low < first.min(last) { format!(", lowest {low}") } else { String::new() };
    Some(format!(
        "{device}: queue_depth went from {first} to {last}{low} during the run without a refused command: {who}"
    ))
}

fn now(low: u32, last: u32) -> String {
    if low == last { String::new() } else { format!(" (now {last})") }
}

fn minutes(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

fn left_out(steps: &[Step]) -> Option<String> {
    let comparable = regime::comparable(steps);
    let out: Vec<u32> =
        steps.iter().zip(comparable).filter(|(_, c)| !c).filter_map(|(s, _)| s.concurrency()).collect();
    let (low, high) = (out.iter().min()?, out.iter().max()?);
    let at = if low == high { low.to_string() } else { format!("{low} to {high}") };
    Some(format!("windows measured before or while it moved are left out: {} at {at} outstanding", out.len()))
}

fn timeout_words(d: &DeviceTrouble) -> Option<String> {
    (d.timed_out > 0)
        .then(|| format!("{}: {} commands timed out and were aborted (iotmo_cnt)", d.device, d.timed_out))
}

fn path_words(d: &DeviceTrouble) -> Option<String> {
    let changes: Vec<String> =
        d.path_changes.iter().map(|(at_s, what)| format!("{what} (second {at_s:.0})")).collect();
    (!changes.is_empty()).then(|| format!("path {}: {}", d.device, changes.join(", ")))
}

fn recovered_words(d: &DeviceTrouble, failed: u64, multipath: bool) -> Option<String> {
    let recovered = d.unsuccessful.saturating_sub(failed);
    if recovered == 0 {
        return None;
    }
    let what = if multipath { "recovered errors, or sent again on another path" } else { "recovered errors" };
    Some(format!(
        "{}: {recovered} commands ended in other than success and yet no I/O failed for it: {what}",
        d.device
    ))
}

fn failed_words(steps: &[Step], path: Option<&IoPath>) -> Option<String> {
    let failed: Vec<_> = steps.iter().filter_map(|s| s.incidents.failed.as_ref()).collect();
    let ios: u64 = steps.iter().map(Step::ios).sum();
    let Some(first) = failed.first() else {
        // Runs kept before offsets were, and subjects that tell none.
        let errors: u64 = steps.iter().map(Step::errors).sum();
        return (errors > 0).then(|| format!("{errors} I/Os failed beside {ios} that did not"));
    };
    let count: u64 = failed.iter().map(|f| f.count).sum();
    let low = failed.iter().map(|f| f.offset_bytes[0]).min()?;
    let high = failed.iter().map(|f| f.offset_bytes[1]).max()?;
    let whole = record::FailedIos { count, offset_bytes: [low, high], ..(*first).clone() };
    // Where the counters do not tell which device it was, the path's only one is it.
    let mut devices: Vec<&str> = Vec::new();
    for step in steps.iter().filter(|s| s.incidents.failed.is_some()) {
        let unsuccessful = step.incidents.troubles.iter().filter(|t| t.unsuccessful > 0);
        devices.extend(unsuccessful.map(|t| t.device.as_str()));
    }
    devices.sort_unstable();
    devices.dedup();
    if let (true, Some(path)) = (devices.is_empty(), path) {
        let leaves: Vec<&str> = path.leaves().map(|l| l.name.as_str()).collect();
        devices = if leaves.len() == 1 { leaves } else { Vec::new() };
    }
    let on = if devices.is_empty() { String::new() } else { format!(" ({})", devices.join(", ")) };
    Some(format!("{whole}{on}; {ios} I/Os succeeded, failed ones are in no latency"))
}

fn failed_weight(steps: &[Step], failed: u64) -> Weight {
    let ios: u64 = steps.iter().map(Step::ios).sum();
    if failed * 100 > ios { Weight::Spoils } else { Weight::Caution }
}
