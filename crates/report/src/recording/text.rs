//! A recording in the terminal: what was kept, then each device, the answer first.

use super::{DeviceReport, RecordingReport};
use crate::number;
use crate::terminal::{Charset, Role, Sink, Style};
use analyze::passive::{Cell, Curve, DeviceLine, Moment};

const MARGIN: usize = 14;
/// Rows of the scatter at most.
const ROWS: usize = 12;
/// Width of the bars.
const BAR: usize = 24;
/// A host queue that takes this share of each added I/O is where the device is held back.
const MOST: f64 = 0.7;

/// The whole report.
pub fn text(report: &RecordingReport, style: Style) -> String {
    let mut out = Sink::new(style);
    head(&mut out, report);
    if report.devices.is_empty() {
        out.gap();
        out.line(None, "No device of the recording did any I/O.");
    }
    for device in &report.devices {
        out.gap();
        one(&mut out, report, device);
    }
    for complaint in &report.complaints {
        out.labelled(Some(Role::Warn), "Not read", MARGIN, &complaint.to_string());
    }
    out.finish()
}

fn head(out: &mut Sink, report: &RecordingReport) {
    let host = report.document.host.hostname.as_deref().unwrap_or("unknown host");
    let mut words = match report.span_s {
        Some([first, last]) => {
            format!("{host}, {} to {}, {}", moment_words(first), moment_words(last), duration(last - first))
        }
        None => format!("{host}, no interval"),
    };
    if !report.finished {
        words += "; not ended: still being recorded, or broken off";
    }
    out.labelled(None, "Recording", MARGIN, &words);
    let tally = &report.tally;
    if tally.dropped_segments > 0 {
        out.labelled(
            None,
            "Dropped",
            MARGIN,
            &format!("{} segments before that, to stay within the room", tally.dropped_segments),
        );
    }
    if tally.lost_intervals > 0 {
        let words = format!(
            "{} intervals: there was no room on the disk",
            number::whole(tally.lost_intervals as f64)
        );
        out.labelled(Some(Role::Warn), "Lost", MARGIN, &words);
    }
}

fn one(out: &mut Sink, report: &RecordingReport, device: &DeviceReport) {
    let line = &device.line;
    let name = match &line.label {
        Some(label) => format!("{label} ({})", line.device),
        None => line.device.clone(),
    };
    out.line(Some(Role::Strong), &name);
    answer(out, report, device);
    if let Some(peak) = &line.peak {
        out.labelled(None, "  Peak", MARGIN, &peak_words(line, peak));
    }
    if let Some(curve) = &line.curve {
        out.labelled(None, "  Curve", MARGIN, &curve_words(curve));
    }
    if let Some(added) = &line.added {
        let place = match added.host_share {
            share if share >= MOST => "in the host queue",
            share if share <= 1.0 - MOST => "at the device",
            _ => "in both",
        };
        let limit = line.device_queue_limit.map(|l| format!(" (limit {l:.0})")).unwrap_or_default();
        let words = format!(
            "of each added I/O {:.0} % stood in the host queue, {:.0} % at the device{limit}: what is added waits {place}",
            100.0 * added.host_share,
            100.0 * added.device_share
        );
        out.labelled(None, "  Added", MARGIN, &words);
    }
    visited(out, line);
    scatter(out, line);
}

fn answer(out: &mut Sink, report: &RecordingReport, device: &DeviceReport) {
    let line = &device.line;
    match &device.probed {
        Some(Ok(share)) => {
            let words = format!(
                "at {:.0} % of the load line ({:.0} to {:.0} %): the probe found {} requests/s at {}",
                100.0 * share.share,
                100.0 * share.ci95[0],
                100.0 * share.ci95[1],
                number::whole(share.probe.iops),
                share.probe.limit
            );
            out.labelled(Some(Role::Good), "  Load line", MARGIN, &words);
            if let Some(caution) = &share.caution {
                out.labelled(Some(Role::Warn), "", MARGIN, caution);
            }
        }
        Some(Err(why)) => out.labelled(Some(Role::Warn), "  Load line", MARGIN, why),
        None => {}
    }
    if let (Some(limit), Some(peak), Some(iops)) = (&report.limit, &line.peak, device.iops_at_limit) {
        let words = format!(
            "{limit} is reached at {} requests/s; the peak was {:.0} % of that",
            number::whole(iops),
            100.0 * peak.iops / iops
        );
        out.labelled(Some(Role::Good), "  Limit", MARGIN, &words);
    }
    match (&line.curve, line.peak_share, &line.cannot_tell) {
        (Some(curve), Some(share), _) => {
            let words = format!(
                "{} requests/s at most ({} to {}); the peak of the last day was {:.0} % of that",
                number::whole(curve.iops_max),
                number::whole(curve.iops_max_ci95[0]),
                number::whole(curve.iops_max_ci95[1]),
                100.0 * share
            );
            out.labelled(Some(Role::Good), "  Carries", MARGIN, &words);
        }
        (_, _, Some(why)) => {
            out.labelled(Some(Role::Warn), "  Cannot tell", MARGIN, &why.reason);
            if why.iops_at_least > 0.0 {
                let words =
                    format!("at least {} requests/s: so many it did", number::whole(why.iops_at_least));
                out.labelled(None, "  Carries", MARGIN, &words);
            }
        }
        _ => {}
    }
}

fn peak_words(line: &DeviceLine, peak: &Moment) -> String {
    let queues = match (peak.host_queue, peak.device_queue) {
        (Some(host), Some(device)) => {
            let limit = line.device_queue_limit.map(|l| format!(" of {l:.0}")).unwrap_or_default();
            format!("host queue {}, device queue {}{limit}", number::standing(host), number::standing(device))
        }
        _ => format!("{} I/Os inside", number::standing(peak.standing)),
    };
    format!(
        "{}: {} requests/s, {} MiB/s ({} KiB each, {:.0} % reads), {} each; {queues}",
        moment_words(peak.at_s),
        number::whole(peak.iops),
        number::significant(peak.mib_per_s),
        number::significant(peak.request_bytes / 1024.0),
        100.0 * peak.read_share,
        number::time(peak.response_us)
    )
}

fn curve_words(curve: &Curve) -> String {
    let twice = curve.iops_at(2.0 * curve.response_unloaded_us);
    let bend =
        twice.map(|iops| format!(", twice that at {} requests/s", number::whole(iops))).unwrap_or_default();
    format!(
        "{} unloaded{bend}; knee at {} I/Os; typically {:.0} % off",
        number::time(curve.response_unloaded_us),
        number::count(curve.knee),
        100.0 * curve.residual
    )
}

fn visited(out: &mut Sink, line: &DeviceLine) {
    let Some(visited) = &line.visited else { return };
    let [low, high] = visited.iops;
    let mut never = vec![format!("above {}", number::whole(high))];
    for [from, to] in &visited.gaps_iops {
        never.push(format!("{} to {}", number::whole(*from), number::whole(*to)));
    }
    if line.curve.is_some_and(|c| high >= 0.98 * c.iops_max) {
        never.remove(0);
    }
    let never = if never.is_empty() { String::new() } else { format!("; never {}", never.join(", ")) };
    let words = format!(
        "{} to {} requests/s, {} to {} I/Os inside{never}",
        number::whole(low),
        number::whole(high),
        number::standing(visited.standing[0]),
        number::standing(visited.standing[1])
    );
    out.labelled(None, "  Visited", MARGIN, &words);
}

/// The cells pooled into some rows of throughput.
fn scatter(out: &mut Sink, line: &DeviceLine) {
    let Some(visited) = &line.visited else { return };
    let [low, high] = visited.iops;
    let top = line.scatter.iter().map(|c| c.iops).fold(high, f64::max);
    let step = ((top / low).ln() / ROWS as f64).max(0.05);
    let mut rows: Vec<Vec<&Cell>> = vec![Vec::new(); ROWS + 1];
    for cell in &line.scatter {
        rows[(((cell.iops / low).ln() / step).max(0.0) as usize).min(ROWS)].push(cell);
    }
    let pooled: Vec<Row> = rows.iter().filter_map(|cells| Row::of(cells)).collect();
    let longest = pooled.iter().map(|r| r.seconds).fold(0.0, f64::max);
    out.line(
        Some(Role::Faint),
        &format!(
            "  {:>11} {:>10} {:>8} {:>8} {:>9}  time spent there",
            "requests/s", "ms each", "host q", "device q", "time"
        ),
    );
    let full = if out.style().charset == Charset::Unicode { "█" } else { "#" };
    for row in &pooled {
        let queue = |value: Option<f64>| value.map_or(number::ABSENT.to_owned(), number::standing);
        let bar = full.repeat(((row.seconds / longest * BAR as f64).round() as usize).max(1));
        out.line(
            None,
            &format!(
                "  {:>11} {:>10} {:>8} {:>8} {:>9}  {bar}",
                number::whole(row.iops),
                number::significant(row.response_us / 1e3),
                queue(row.host),
                queue(row.device),
                duration(row.seconds)
            ),
        );
    }
}

struct Row {
    iops: f64,
    response_us: f64,
    host: Option<f64>,
    device: Option<f64>,
    seconds: f64,
}

impl Row {
    fn of(cells: &[&Cell]) -> Option<Self> {
        let sum = |of: &dyn Fn(&Cell) -> f64| cells.iter().map(|c| of(c) * c.seconds).sum::<f64>();
        let seconds = sum(&|_| 1.0);
        let requests = sum(&|c| c.iops);
        if seconds <= 0.0 || requests <= 0.0 {
            return None;
        }
        let split: f64 = cells.iter().filter(|c| c.host_queue.is_some()).map(|c| c.seconds).sum();
        let queue = |of: fn(&Cell) -> Option<f64>| {
            let standing: f64 = cells.iter().filter_map(|c| Some(of(c)? * c.seconds)).sum();
            (split > 0.0).then(|| standing / split)
        };
        Some(Self {
            iops: requests / seconds,
            response_us: sum(&|c| c.standing) / requests * 1e6,
            host: queue(|c| c.host_queue),
            device: queue(|c| c.device_queue),
            seconds,
        })
    }
}

fn moment_words(at_s: f64) -> String {
    let at = jiff::Timestamp::from_second(at_s as i64).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} d", seconds / 86_400.0),
    }
}
