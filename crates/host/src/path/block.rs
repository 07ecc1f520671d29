//! What every block device has: counters, queue limits, tunables and facts (ABI/stable/sysfs-block).

use crate::notes::Notes;
use record::{Layer, LayerKind, Limit, LimitKind, Tunable};

/// A layer with nothing known but its name.
pub(crate) fn empty_layer(kind: LayerKind, name: &str) -> Layer {
    Layer {
        kind,
        name: name.to_owned(),
        label: None,
        stable_id: None,
        dev: None,
        below: Vec::new(),
        has_counters: false,
        limits: Vec::new(),
        tunables: Vec::new(),
        facts: Vec::new(),
    }
}

/// Adding to a layer.
pub(crate) trait Describe {
    fn fact(&mut self, name: &str, value: Option<String>);
    fn set(&mut self, name: &str, value: Option<String>, file: &str);
    fn bound(&mut self, kind: LimitKind, value: Option<f64>, file: &str, live: Live);
}

/// Whether writing the file of a limit changes it while the device is in use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    Yes,
    No,
}

impl Describe for Layer {
    fn fact(&mut self, name: &str, value: Option<String>) {
        self.facts.extend(value.map(|v| (name.to_owned(), v)));
    }

    fn set(&mut self, name: &str, value: Option<String>, file: &str) {
        self.tunables.extend(value.map(|value| Tunable {
            name: name.to_owned(),
            value,
            allowed: Vec::new(),
            file: file.to_owned(),
        }));
    }

    fn bound(&mut self, kind: LimitKind, value: Option<f64>, file: &str, live: Live) {
        let value = value.filter(|v| v.is_finite() && *v >= 0.0);
        self.limits.extend(value.map(|value| Limit {
            kind,
            value,
            file: file.to_owned(),
            live: live == Live::Yes,
        }));
    }
}

/// Settings of `queue/` kept as tunables by their own names.
const QUEUE_TUNABLES: [&str; 9] = [
    "nr_requests",
    "max_sectors_kb",
    "read_ahead_kb",
    "nomerges",
    "rq_affinity",
    "wbt_lat_usec",
    "io_poll",
    "iostats",
    "rotational",
];

/// Files of `queue/` kept as facts. `write_cache` is one of them on purpose: writing it changes only what the kernel
/// believes and drops flushes.
const QUEUE_FACTS: [&str; 8] = [
    "write_cache",
    "max_hw_sectors_kb",
    "logical_block_size",
    "physical_block_size",
    "optimal_io_size",
    "max_segments",
    "discard_max_bytes",
    "zoned",
];

/// Settings in `queue/iosched/` by scheduler.
fn scheduler_settings(scheduler: &str) -> &'static [&'static str] {
    match scheduler {
        "mq-deadline" | "deadline" => &[
            "read_expire",
            "write_expire",
            "writes_starved",
            "fifo_batch",
            "front_merges",
            "async_depth",
            "prio_aging_expire",
        ],
        "kyber" => &["read_lat_nsec", "write_lat_nsec"],
        "bfq" => &[
            "slice_idle",
            "slice_idle_us",
            "low_latency",
            "timeout_sync",
            "max_budget",
            "strict_guarantees",
            "back_seek_max",
            "back_seek_penalty",
            "fifo_expire_sync",
            "fifo_expire_async",
        ],
        "cfq" => &[
            "slice_idle",
            "slice_sync",
            "slice_async",
            "slice_async_rq",
            "group_idle",
            "low_latency",
            "target_latency",
            "quantum",
            "fifo_expire_sync",
            "fifo_expire_async",
        ],
        _ => &[],
    }
}

/// A partition: it has counters of its own and no queue of its own.
pub(crate) fn partition(notes: &mut Notes<'_>, disk: &str, name: &str) -> Layer {
    let folder = format!("/sys/block/{disk}/{name}");
    let mut layer = empty_layer(LayerKind::Partition, name);
    layer.dev = notes.expected_text(&format!("{folder}/dev"));
    layer.has_counters = notes.root.exists(format!("{folder}/stat"));
    layer.fact("size_bytes", size_bytes(notes, &folder));
    layer.fact("start_sectors_512", notes.number::<u64>(&format!("{folder}/start")).map(|n| n.to_string()));
    let offset: Option<i64> = notes.number(&format!("{folder}/alignment_offset"));
    layer.fact("alignment_offset_bytes", offset.filter(|o| *o != 0).map(|o| o.to_string()));
    layer
}

/// A whole device: all that is common.
pub(crate) fn describe(notes: &mut Notes<'_>, layer: &mut Layer) {
    let folder = format!("/sys/block/{}", layer.name);
    layer.dev = notes.expected_text(&format!("{folder}/dev"));
    layer.has_counters = notes.root.exists(format!("{folder}/stat"));
    if !layer.has_counters {
        notes.complain(format_args!("{folder}/stat: absent: no I/O counters for this layer"));
    }
    layer.fact("size_bytes", size_bytes(notes, &folder));
    let queues = hardware_queues(notes, &folder);
    let request_based = queues > 0 || notes.root.exists(format!("{folder}/mq"));
    let usable = usable_queues(notes, queues);
    layer.fact("hardware_queues", (usable < queues).then(|| queues.to_string()));
    layer.fact("queue_kind", Some(if request_based { "request-based" } else { "bio-based" }.to_owned()));
    scheduler(notes, layer, &folder);
    for name in QUEUE_TUNABLES {
        let file = format!("{folder}/queue/{name}");
        let value = notes.text(&file);
        layer.set(name, value, &file);
    }
    for name in QUEUE_FACTS {
        let value = notes.text(&format!("{folder}/queue/{name}"));
        layer.fact(name, value);
    }
    limits(notes, layer, &folder, usable);
}

fn size_bytes(notes: &mut Notes<'_>, folder: &str) -> Option<String> {
    let sectors: u64 = notes.number(&format!("{folder}/size"))?;
    // The kernel counts 512-byte sectors here whatever the device's own block size is.
    sectors.checked_mul(512).map(|bytes| bytes.to_string())
}

fn hardware_queues(notes: &Notes<'_>, folder: &str) -> usize {
    let names = notes.root.names(format!("{folder}/mq"));
    names.iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit())).count()
}

/// A processor sends ordinary I/O to one hardware queue. Where there are more queues than processors, the others are for
/// polling (null_blk makes one by itself) and carry none of it.
fn usable_queues(notes: &Notes<'_>, queues: usize) -> usize {
    let online = notes.root.text("/sys/devices/system/cpu/online").ok();
    let processors = online.and_then(|list| crate::facts::parse_cpu_list(&list)).map_or(0, |cpus| cpus.len());
    if processors > 0 { queues.min(processors) } else { queues }
}

fn scheduler(notes: &mut Notes<'_>, layer: &mut Layer, folder: &str) {
    let file = format!("{folder}/queue/scheduler");
    let Some(text) = notes.text(&file) else { return };
    let (active, allowed) = parse_choice(&text);
    let Some(active) = active else {
        notes.complain(format_args!(
            "{file}: expected one name in brackets, found '{}'",
            crate::notes::shortened(&text)
        ));
        return;
    };
    layer.tunables.push(Tunable { name: "scheduler".to_owned(), value: active.clone(), allowed, file });
    for name in scheduler_settings(&active) {
        let file = format!("{folder}/queue/iosched/{name}");
        let value = notes.text(&file);
        layer.set(&format!("iosched/{name}"), value, &file);
    }
}

/// `none [mq-deadline] kyber`: the active one and all. A lone `none` without brackets is how devices without a
/// choice print it.
pub(crate) fn parse_choice(text: &str) -> (Option<String>, Vec<String>) {
    let bare = |word: &str| word.trim_matches(['[', ']']).to_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let marked = words.iter().find(|w| w.starts_with('[') && w.ends_with(']') && w.len() > 2);
    let active = match (marked, words.as_slice()) {
        (Some(word), _) => Some(bare(word)),
        (None, [only]) => Some(bare(only)),
        _ => None,
    };
    (active.filter(|a| !a.is_empty()), words.iter().map(|w| bare(w)).collect())
}

fn limits(notes: &mut Notes<'_>, layer: &mut Layer, folder: &str, queues: usize) {
    let file = format!("{folder}/queue/nr_requests");
    if queues > 0 {
        // On bio-based devices the file exists, but nothing there allocates requests.
        let value = notes.number::<u32>(&file).map(f64::from);
        layer.bound(LimitKind::RequestsPerQueue, value, &file, Live::Yes);
        layer.bound(LimitKind::HardwareQueues, Some(queues as f64), &format!("{folder}/mq"), Live::No);
        let file = format!("{folder}/mq/0/nr_tags");
        let value = notes.number::<u32>(&file).map(f64::from);
        layer.bound(LimitKind::TagsPerQueue, value, &file, Live::No);
    }
    let file = format!("{folder}/queue/max_sectors_kb");
    let value = notes.number::<u32>(&file).map(|kib| f64::from(kib) * 1024.0);
    layer.bound(LimitKind::RequestBytes, value, &file, Live::Yes);
}

#[cfg(test)]
mod tests {
    use super::parse_choice;

    #[test]
    fn the_scheduler_in_brackets_is_the_active_one() {
        let (active, allowed) = parse_choice("none [mq-deadline] kyber bfq");
        assert_eq!(active.as_deref(), Some("mq-deadline"));
        assert_eq!(allowed, ["none", "mq-deadline", "kyber", "bfq"]);
    }

    #[test]
    fn a_lone_scheduler_without_brackets_is_active() {
        assert_eq!(parse_choice("none").0.as_deref(), Some("none"));
    }

    #[test]
    fn several_without_brackets_name_no_active_one() {
        assert_eq!(parse_choice("none kyber").0, None);
        assert_eq!(parse_choice("[]").0, None);
        assert_eq!(parse_choice("").0, None);
    }
}
