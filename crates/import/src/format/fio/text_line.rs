//! Pieces of fio's normal output: rates, times, shares, disks.

use super::job::{Direction, Disk, Job, Times};
use crate::clock::{epoch_s, month, time_of_day};
use crate::text::number::{decimal, scaled};
use jiff::civil::Date;

/// What follows `key` up to a comma, without blanks.
pub(super) fn field<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let (_, value) = line.split_once(key)?;
    Some(value.trim_start().split([',', ' ', ';']).next().unwrap_or("").trim())
}

/// `IOPS=12.5k, BW=97.7MiB/s (102MB/s)(977MiB/10001msec)`; of version 2 `io=1024.0MB, bw=102400KB/s, iops=100, runt= 10240msec`.
pub(super) fn rates(rest: &str) -> Option<Direction> {
    if let Some(iops) = field(rest, "IOPS=") {
        let (bw, after) = rest.split_once("BW=")?.1.split_once(' ')?;
        let runtime = after.rsplit_once('/').and_then(|(_, t)| milliseconds(t.split(')').next()?));
        return Some(Direction {
            iops: scaled(iops, 1000.0)?,
            bytes_per_s: bytes(bw.trim_end_matches("/s"))?,
            runtime_s: runtime.map_or(f64::NAN, |ms| ms / 1e3),
            ..Direction::default()
        });
    }
    Some(Direction {
        iops: field(rest, "iops=").and_then(|v| scaled(v, 1000.0))?,
        bytes_per_s: bytes(field(rest, "bw=")?.trim_end_matches("/s"))?,
        runtime_s: field(rest, "runt=").and_then(milliseconds).map_or(f64::NAN, |ms| ms / 1e3),
        ..Direction::default()
    })
}

/// `98MiB` and, of version 2, `98MB`, in steps of 1024; fio's SI figure stands beside the first and is not read.
pub(super) fn bytes(text: &str) -> Option<f64> {
    scaled(text, 1024.0)
}

pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(ms) = text.strip_suffix("msec") {
        return decimal(ms);
    }
    decimal(text.strip_suffix("sec").or_else(|| text.strip_suffix('s'))?).map(|s| s * 1e3)
}

pub(super) fn microseconds(unit: &str) -> Option<f64> {
    match unit {
        "nsec" => Some(1e-3),
        "usec" => Some(1.0),
        "msec" => Some(1e3),
        _ => None,
    }
}

/// `min=1629, max=881.5k, avg=3637.32, stdev=7724.53`.
pub(super) fn times(rest: &str, to_us: f64) -> Times {
    let time = |key: &str| field(rest, key).and_then(|v| scaled(v, 1000.0)).map_or(f64::NAN, |v| v * to_us);
    Times { min_us: time("min="), max_us: time("max="), mean_us: time("avg=") }
}

/// `250=91.77%, 500=4.51%, >=64=0.0%`: upper bound and share.
pub(super) fn shares(rest: &str, factor: f64) -> Vec<(f64, f64)> {
    let one = |part: &str| {
        let (bound, share) = part.trim().rsplit_once('=')?;
        let bound = if bound.starts_with('>') { f64::INFINITY } else { decimal(bound)? * factor };
        Some((bound, decimal(share.trim_end_matches('%'))? / 100.0)).filter(|(_, share)| *share > 0.0)
    };
    rest.split(',').filter_map(one).collect()
}

/// `total=24011,24158,0,0 short=...`; of version 2 `total=r=24011/w=24158/d=0, short=...`.
pub(super) fn issued(job: &mut Job, label: &str, rest: &str) {
    let Some((_, totals)) = rest.split_once("total=") else { return };
    let totals = totals.split([' ', '\t']).next().unwrap_or("").trim_end_matches(',');
    let number =
        |part: &str| decimal(part.trim().trim_start_matches(['r', 'w', 'd', '='])).unwrap_or(f64::NAN);
    let mut counts = totals.split([',', '/']).map(number);
    for of in [&mut job.read, &mut job.write, &mut job.trim] {
        of.ios = counts.next().unwrap_or(f64::NAN);
    }
    if label.ends_with("rwts") {
        job.syncs = counts.next().unwrap_or(f64::NAN);
    }
}

/// `Tue Mar  1 10:00:00 2016`, as the host's clock showed it.
pub(super) fn moment(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, name, day, time, year, ..] = words.as_slice() else { return None };
    let date = Date::new(year.parse().ok()?, month(name)?, day.parse().ok()?).ok()?;
    Some(epoch_s(date, time_of_day(time)?))
}

/// `vdb: ios=1000/500, merge=0/0, ticks=1500/2500, in_queue=4000, util=98.00%`.
pub(super) fn disk(line: &str) -> Option<Disk> {
    let (name, rest) = line.split_once(": ")?;
    let pair = |key: &str| {
        // `aggrios=` of a volume's members follows its own `ios=`.
        let part = rest.split(',').map(str::trim).find_map(|p| p.strip_prefix(key))?;
        let (read, write) = part.split_once('/')?;
        Some((decimal(read)?, decimal(write)?))
    };
    let absent = (f64::NAN, f64::NAN);
    let one = |key: &str| {
        let part = rest.split(',').map(str::trim).find_map(|p| p.strip_prefix(key));
        part.and_then(|p| decimal(p.trim_end_matches('%'))).unwrap_or(f64::NAN)
    };
    let (reads, writes) = pair("ios=")?;
    let (read_sectors, write_sectors) = pair("sectors=").unwrap_or(absent);
    let (read_merges, write_merges) = pair("merge=").unwrap_or(absent);
    let (read_ms, write_ms) = pair("ticks=").unwrap_or(absent);
    Some(Disk {
        name: name.trim().to_owned(),
        reads,
        writes,
        read_sectors,
        write_sectors,
        read_merges,
        write_merges,
        read_ms,
        write_ms,
        in_queue_ms: one("in_queue="),
        busy_percent: one("util="),
    })
}
