//! `plimsoll report` of a recording: how near its load came to the limit of each device.

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure, chain};
use crate::voice::Voice;
use ::report::recording::{DeviceReport, RecordingReport, document, text};
use analyze::passive::{COLUMNS, DeviceLine, Passive, ProbeLine, compare};
use probe::Answer;
use record::recording::{Recording, Tally};
use record::run::{RunRead, read_run};
use record::{LatencyLimit, Statistic, Step};

/// Reads the recording, concludes and draws.
pub fn run(args: &ReportArgs, voice: &Voice) -> Result<Exit, Failure> {
    if args.page.is_some() {
        return Err(Failure::new(Exit::Usage, "--page is for probes: a recording has no page yet"));
    }
    if let Some(limit) = args.limit.filter(|l| l.class.is_some() || l.statistic != Statistic::Mean) {
        let words =
            format!("--limit {limit}: a recording knows mean response times of all I/Os; write mean<5ms");
        return Err(Failure::new(Exit::Usage, words));
    }
    let probed = args.probe.as_deref().map(Probed::read).transpose()?;
    let recording = Recording::open(&args.run).map_err(|e| Failure::new(Exit::Usage, chain(&e)))?;
    let mut passive = Passive::default();
    let read = recording.read(&COLUMNS, |rows| passive.add(rows));
    unknown(args, &passive)?;
    let asked = |name: &str, label: Option<&str>| {
        let called = |wanted: &String| wanted == name || Some(wanted.as_str()) == label;
        args.devices.is_empty() || args.devices.iter().any(called)
    };
    let lines = passive.conclude(asked).into_iter();
    let devices = lines
        .filter(|line| line.highest.is_some() || !args.devices.is_empty())
        .map(|line| conclude(line, args.limit, probed.as_ref()))
        .collect();
    let (segments, bytes) = recording.size();
    let told: Tally = serde_json::from_value(recording.document.answer["tally"].clone()).unwrap_or_default();
    let dropped_segments = told.dropped_segments.max(recording.dropped_segments());
    let report = RecordingReport {
        folder: args.run.display().to_string(),
        finished: recording.finished,
        span_s: passive.span_s(),
        tally: Tally { segments: segments as u64, bytes, dropped_segments, ..told },
        rows: read.rows,
        complaints: read.complaints,
        limit: args.limit,
        devices,
        document: recording.document,
    };
    voice.say(&if voice.json { document(&report) } else { text(&report, voice.style()) });
    Ok(Exit::Done)
}

fn unknown(args: &ReportArgs, passive: &Passive) -> Result<(), Failure> {
    let held = |wanted: &&String| {
        !passive.devices().any(|(name, label)| name == *wanted || label == Some(wanted.as_str()))
    };
    match args.devices.iter().find(held) {
        Some(wanted) => {
            let names: Vec<&str> = passive.devices().map(|(name, _)| name).collect();
            Err(Failure::new(Exit::Usage, format!("{wanted} is not in the recording"))
                .hint(format!("it holds {}", names.join(", "))))
        }
        None => Ok(()),
    }
}

fn conclude(line: DeviceLine, limit: Option<LatencyLimit>, probed: Option<&Probed>) -> DeviceReport {
    let iops_at_limit = limit.and_then(|l| line.curve?.iops_at(l.limit_ns as f64 / 1e3));
    let probed = probed
        .and_then(|p| p.line_of(&line.device))
        .zip(line.peak)
        .map(|(probe, peak)| compare(&peak, &probe));
    DeviceReport { line, iops_at_limit, probed }
}

/// An earlier probe.
struct Probed {
    answer: Answer,
    steps: Vec<Step>,
}

impl Probed {
    fn read(run: &std::path::Path) -> Result<Self, Failure> {
        let bad = |what: String| Failure::new(Exit::Usage, format!("--probe {}: {what}", run.display()));
        let read: RunRead = read_run(run).map_err(|e| bad(chain(&e)))?;
        let document =
            read.document.filter(|_| read.finished).ok_or_else(|| bad("it was not finished".to_owned()))?;
        if document.what != "probe" {
            return Err(bad(format!("it is a run of '{}', not of probe", document.what)));
        }
        let answer: Answer = serde_json::from_value(document.kept)
            .map_err(|e| bad(format!("the kept answer does not read: {e}")))?;
        if answer.load_line.is_none() {
            return Err(bad("it found no load line".to_owned()));
        }
        Ok(Self { answer, steps: read.steps })
    }

    /// The load line as this device of the probe's path saw it; `None` when it is not on that path.
    fn line_of(&self, device: &str) -> Option<ProbeLine> {
        let line = self.answer.load_line.as_ref()?;
        let on_path = |step: &&Step| step.layers.iter().any(|l| l.name == device) && step.iops() > 0.0;
        // The step whose concurrency is nearest to the load line's says how its I/Os became requests of this device.
        let away = |step: &&Step| {
            let n = step.concurrency().map_or(f64::NAN, f64::from);
            (n / f64::from(line.concurrency)).ln().abs()
        };
        let step = self.steps.iter().filter(on_path).min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let layer = step.layers.iter().find(|l| l.name == device)?;
        let per_io = layer.requests_per_s / step.iops();
        let (mut reads, mut writes) = (0, 0);
        for slice in &step.slices {
            let count =
                |class: &record::ClassSeen| class.latency.as_ref().map_or(0, record::LatencyHistogram::count);
            reads += count(&slice.read);
            writes += count(&slice.write);
        }
        Some(ProbeLine {
            iops: line.iops * per_io,
            ci95: line.ci95.map(|end| end * per_io),
            request_bytes: layer.request_bytes_mean,
            read_share: reads as f64 / ((reads + writes) as f64).max(1.0),
            limit: line.limit.to_string(),
        })
    }
}
