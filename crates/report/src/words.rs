//! The answer in words. Each outcome has wording of its own: an honest 'cannot tell' must not look like a number.

use crate::curve;
use crate::number::{count, significant, time, whole};
use analyze::{Advice, BoundLayer, Point};
use probe::{Answer, LoadLine, Outcome};
use record::{DoubtId, Weight};

/// The verdict: one line that answers, and lines that qualify it.
pub struct Verdict {
    /// Word before the first line: `Load line`, `No load line` ...
    pub label: &'static str,
    /// The answer in one sentence.
    pub headline: String,
    /// What goes with it.
    pub more: Vec<String>,
}

/// What the probe answered.
pub fn verdict(answer: &Answer) -> Verdict {
    let limit = &answer.limit;
    match (&answer.outcome, curve::load_line(answer)) {
        (Outcome::Found, Some(line)) => {
            Verdict { label: "Load line", headline: carried(line), more: qualified(line) }
        }
        (Outcome::Found, None) => no_line("the search ended, but no number stands.".to_owned()),
        (Outcome::NeverReached { saturation_concurrency, iops_max }, line) => {
            never_reached(answer, *saturation_concurrency, *iops_max, line)
        }
        (Outcome::BrokenAtOne { measured_us }, _) => Verdict {
            label: "No load line",
            headline: format!("{limit} is already broken with one I/O outstanding: {}.", time(*measured_us)),
            more: vec![
                "No concurrency holds this limit. Ask for a looser one, or make the path faster.".to_owned(),
            ],
        },
        (Outcome::EdgeOfRange { concurrency }, line) => edge(answer, *concurrency, line),
        (Outcome::Guarded { concurrency, stopped_at, why }, line) => {
            guarded(answer, *concurrency, *stopped_at, why, line)
        }
        (Outcome::NotSteady { why }, _) => no_line(format!("throughput is not steady: {}", sentence(why))),
        (Outcome::Burst { before_iops, after_iops, after_s }, _) => Verdict {
            label: "Burst",
            headline: format!(
                "{} IOPS held for {} s of load only, then {} IOPS.",
                whole(*before_iops),
                significant(*after_s),
                whole(*after_iops)
            ),
            more: vec![
                "Credits or a cache ran out. Count on the second number, not on the first.".to_owned(),
            ],
        },
        (Outcome::CannotTell { why }, _) => {
            Verdict { label: "Cannot tell", headline: sentence(why), more: Vec::new() }
        }
        (Outcome::Swept, Some(line)) => Verdict {
            label: "Load line",
            headline: carried(line),
            more: [
                vec!["Read from the listed depths alone; no search was made between them.".to_owned()],
                qualified(line),
            ]
            .concat(),
        },
        (Outcome::Swept, None) => swept_without_line(answer),
    }
}

/// Listed depths without a load line: none holds the limit, or all that were listed do and the line lies elsewhere.
fn swept_without_line(answer: &Answer) -> Verdict {
    let limit = &answer.limit;
    let limit_us = limit.limit_ns as f64 / 1e3;
    let holds = |p: &&Point| curve::limit_statistic_us(limit, p).is_some_and(|us| us < limit_us);
    match answer.points.iter().filter(holds).max_by_key(|p| p.concurrency) {
        None => no_line(format!("{limit} holds at none of the listed depths.")),
        Some(point) => Verdict {
            label: "No load line",
            headline: format!(
                "{limit} holds at {} outstanding I/Os ({} IOPS).",
                point.concurrency,
                whole(point.iops)
            ),
            more: vec!["The listed depths do not tell how much further it would hold.".to_owned()],
        },
    }
}

fn no_line(headline: String) -> Verdict {
    Verdict { label: "No load line", headline, more: Vec::new() }
}

fn never_reached(answer: &Answer, concurrency: u32, iops_max: f64, line: Option<&LoadLine>) -> Verdict {
    let limit = &answer.limit;
    let mib_per_s = line.map_or_else(String::new, |l| format!(" ({} MiB/s)", significant(l.mib_per_s)));
    let mut more = line.map(qualified).unwrap_or_default();
    more.push(format!(
        "95 % of that come with {concurrency} outstanding I/Os; more of them buy latency, not throughput."
    ));
    Verdict {
        label: "Limit never reached",
        headline: format!("{limit} held all the way; the path stops at {} IOPS{mib_per_s}.", whole(iops_max)),
        more,
    }
}

fn edge(answer: &Answer, concurrency: u32, line: Option<&LoadLine>) -> Verdict {
    let at_edge = curve::nearest(&answer.points, f64::from(concurrency)).map(|i| answer.points[i].iops);
    let least = line.map(|l| l.iops).or(at_edge);
    let carried = least.map_or_else(String::new, |iops| format!("{} IOPS at ", whole(iops)));
    Verdict {
        label: "Beyond the range",
        headline: format!(
            "the load line is at least {carried}{concurrency} outstanding I/Os, where {} still holds.",
            answer.limit
        ),
        more: std::iter::once(
            "That is the largest concurrency tried, and throughput still grows there.".to_owned(),
        )
        .chain(line.map(qualified).unwrap_or_default())
        .collect(),
    }
}

fn guarded(
    answer: &Answer,
    concurrency: u32,
    stopped_at: u32,
    why: &str,
    line: Option<&LoadLine>,
) -> Verdict {
    let carried = line.map_or_else(String::new, |l| format!("{} IOPS at ", whole(l.iops)));
    Verdict {
        label: "Stopped by the guard",
        headline: format!("{} holds up to {carried}{concurrency} outstanding I/Os.", answer.limit),
        more: std::iter::once(format!(
            "More was not tried: with {stopped_at} outstanding, {}",
            sentence(why)
        ))
        .chain(line.map(qualified).unwrap_or_default())
        .collect(),
    }
}

fn carried(line: &LoadLine) -> String {
    format!(
        "{} IOPS ({} MiB/s) at {} outstanding I/Os, {}",
        whole(line.iops),
        significant(line.mib_per_s),
        line.concurrency,
        line.limit
    )
}

/// A statistic up to this ratio to its limit is told as held within its noise: histograms keep values within 1 %, and the
/// tail of a window of seconds is not known better than that.
const WITHIN_NOISE: f64 = 1.02;

fn qualified(line: &LoadLine) -> Vec<String> {
    let [low, high] = line.ci95;
    let [n_low, n_high] = line.concurrency_ci95;
    let mut more = vec![format!(
        "95 % interval {} to {} IOPS, {} to {} I/Os",
        whole(low),
        whole(high),
        count(n_low),
        count(n_high)
    )];
    if line.wide {
        more.push("That is wide: a longer --budget narrows it.".to_owned());
    }
    if let Some(confirmed_us) = line.confirmed_us {
        let (seconds, statistic) = (count(line.steady_s), line.limit.statistic);
        more.push(format!("{} {seconds} s: {statistic} {}", held(line, confirmed_us), time(confirmed_us)));
    }
    more
}

/// What the confirming window showed. The share of I/Os over the limit is judged, with its noise, so the statistic itself
/// may come out a little above the limit where the limit holds.
fn held(line: &LoadLine, confirmed_us: f64) -> &'static str {
    match confirmed_us * 1e3 / line.limit.limit_ns as f64 {
        ratio if ratio <= 1.0 => "confirmed for",
        ratio if ratio <= WITHIN_NOISE => "held within its noise for",
        _ => "over the limit when measured for",
    }
}

/// Text that ends like a sentence.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// A layer in a reader's words.
pub fn layer_words(layer: BoundLayer) -> &'static str {
    match layer {
        BoundLayer::Concurrency => "too little concurrency",
        BoundLayer::Cpu => "processor time",
        BoundLayer::Above => "above the block layer",
        BoundLayer::Throttle => "a throttle",
        BoundLayer::HostQueue => "the host queue",
        BoundLayer::DeviceQueueLimit => "the LUN queue depth",
        BoundLayer::Path => "the path to the device",
        BoundLayer::Device => "the device",
        BoundLayer::Unknown => "cannot tell",
    }
}

/// The change an advice names: file, value now, value to try.
pub fn change(advice: &Advice) -> Option<String> {
    let values = match (&advice.now, &advice.try_value) {
        (Some(now), Some(to)) => format!("{now} -> {to}"),
        (None, Some(to)) => format!("set {to}"),
        (Some(now), None) => format!("now {now}"),
        (None, None) => String::new(),
    };
    match (&advice.file, values.is_empty()) {
        (Some(file), true) => Some(file.clone()),
        (Some(file), false) => Some(format!("{file}: {values}")),
        (None, false) => Some(values),
        (None, true) => None,
    }
}

/// How a doubt weighs, in a word.
pub fn weight_word(weight: Weight) -> &'static str {
    match weight {
        Weight::Spoils => "spoils the answer",
        Weight::Caution => "caution",
        Weight::Note => "note",
    }
}

/// What a doubt is about.
pub fn doubt_words(id: DoubtId) -> &'static str {
    match id {
        DoubtId::HostDisturbed => "host disturbed",
        DoubtId::ForeignIo => "foreign I/O on the device",
        DoubtId::PuntedRequests => "requests handed to kernel threads",
        DoubtId::PageCacheHits => "page cache hits",
        DoubtId::CacheSuspected => "a cache may answer",
        DoubtId::UnwrittenExtents => "unwritten extents",
        DoubtId::ColdStart => "cold start",
        DoubtId::CountersDisagree => "counters disagree",
        DoubtId::NotSteady => "not steady",
        DoubtId::Starved => "I/Os passed over",
        DoubtId::GeneratorLag => "load generator lagged",
        DoubtId::SplitUnknown => "split not known",
        DoubtId::QueueDepthChanged => "queue depth changed",
        DoubtId::IoErrors => "I/O errors",
        DoubtId::QueueFull => "the device refuses commands",
        DoubtId::Timeouts => "commands timed out",
        DoubtId::RecoveredErrors => "recovered errors",
        DoubtId::PathsChanged => "paths changed",
        DoubtId::PathHidden => "a part of the path is hidden",
        DoubtId::CountersOff => "counters off",
        DoubtId::CutShort => "cut short",
    }
}

/// The subject in one line.
pub fn subject_line(subject: &record::SubjectFacts) -> String {
    let threads = match (subject.engine.as_str(), subject.workers) {
        ("sync", _) => "a blocking thread per I/O".to_owned(),
        (_, 1) => "1 worker".to_owned(),
        (_, n) => format!("{n} workers"),
    };
    format!(
        "{}: {}, {}{}, {threads}",
        subject.target,
        subject.workload,
        subject.engine,
        if subject.direct { " direct" } else { " buffered" },
    )
}
