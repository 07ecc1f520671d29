//! Reads of a database: what binds it, what its devices say of the same time, and how large its reads are.

use super::commit::short;
use super::report::{BLOCK_READ, Report, Waited, is_user_io, reports};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceKind, Quantity, facts};

/// PL403: the database and its devices do not agree on how long a read takes.
pub(in super::super) fn above_devices(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    reports(case).iter().filter_map(|report| disagree(report, rule)).collect()
}

fn disagree(report: &Report<'_, '_>, rule: &Rule) -> Option<Finding> {
    let read = report.event(&BLOCK_READ).filter(|r| r.waits >= rule.threshold("waits") && r.mean_us > 0.0)?;
    let devices = report.devices()?;
    let when = if devices.has_clock { "over the same time" } else { "in texts taken to be of the same time" };
    let lines = || -> Vec<Evidence> {
        let device = devices.line.map(|o| report.case.line(o));
        report.lines(&[Some(read)]).into_iter().chain(device).collect()
    };
    let above = read.mean_us - devices.read_us;
    let database_reads = report.rate(Quantity::ReadIops);
    if read.mean_us >= rule.threshold("ratio") * devices.read_us && above >= rule.threshold("above_ms") * 1e3
    {
        let title = format!(
            "the database waits {} for a read of one block and the devices answer in {}: {} pass above them",
            short(read.mean_us),
            short(devices.read_us),
            short(above)
        );
        let mut evidence = lines();
        evidence
            .push(computed(format!("{when}, {:.0} reads per second at the devices", devices.reads_per_s)));
        evidence.extend(processors(report.case, report.host));
        return Some(report.case.finding(rule, read.place, title, evidence));
    }
    // Faster than the devices: only where the devices also do less, so that something else answers.
    let is_cached = devices.read_us >= rule.threshold("ratio") * read.mean_us
        && devices.read_us - read.mean_us >= rule.threshold("above_ms") * 1e3
        && database_reads >= rule.threshold("more_reads") * devices.reads_per_s;
    if !is_cached {
        return None;
    }
    let title = format!(
        "the database reads {database_reads:.0} times per second in {} and the devices {:.0} times in {}: a cache of the host answers most of them",
        short(read.mean_us),
        devices.reads_per_s,
        short(devices.read_us)
    );
    let mut evidence = lines();
    evidence.push(computed(when));
    let mut finding = report.case.finding(rule, read.place, title, evidence);
    rule.text("cached_cause").clone_into(&mut finding.cause);
    finding.advice = vec![rule.text("cached_advice").to_owned()];
    finding.severity = Severity::Info;
    Some(finding)
}

/// Whether processors are scarce: what waits for one waits longer for its read.
fn processors(case: &ReadCase<'_>, host: HostId) -> Option<Evidence> {
    let place = case.places(host, PlaceKind::Host).find(|p| case.digest.processors.contains_key(p))?;
    let series = case.digest.processors.get(&place)?;
    let working = series.mean(|p| p.working_percent());
    let running = series.mean(|p| p.value(Quantity::RunQueue));
    let first = series.points().first()?;
    let queue =
        if running.is_finite() { format!(", {running:.1} tasks run or could") } else { String::new() };
    let text = format!("processors of this host work {working:.0} % of the time{queue}");
    let mut line = case.line(first.origin);
    if working.is_finite() {
        line = computed(text);
    }
    Some(line)
}

/// PL404: most of the database's time is I/O.
pub(in super::super) fn bound(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    reports(case).iter().filter_map(|report| bound_by_io(report, rule)).collect()
}

fn bound_by_io(report: &Report<'_, '_>, rule: &Rule) -> Option<Finding> {
    let mut waits: Vec<(&str, Waited)> =
        report.events().into_iter().filter(|(n, w)| is_user_io(n) && w.percent > 0.0).collect();
    waits.sort_by(|a, b| b.1.percent.total_cmp(&a.1.percent));
    let share: f64 = waits.iter().map(|w| w.1.percent).sum();
    let (name, first) = waits.first()?;
    if !(share >= rule.threshold("share")) || share > 150.0 {
        return None;
    }
    let time: f64 = waits.iter().map(|w| w.1.time_s).filter(|t| t.is_finite()).sum();
    let count: f64 = waits.iter().map(|w| w.1.waits).filter(|n| n.is_finite()).sum();
    let sessions = time / report.length_s;
    let told = if sessions.is_finite() && time > 0.0 {
        format!("; on average {sessions:.1} sessions wait for it")
    } else {
        String::new()
    };
    let title = format!(
        "{:.0} % of the database's time is waiting for data, mostly {name} ({} each){told}",
        share.min(100.0),
        short(first.mean_us)
    );
    let mut evidence: Vec<Evidence> = waits.iter().take(4).map(|w| report.case.line(w.1.origin)).collect();
    if sessions.is_finite() && count > 0.0 {
        evidence.push(computed(format!(
            "{:.0} waits per second of {} each are {sessions:.1} I/Os waited for at a time",
            count / report.length_s,
            short(time / count * 1e6)
        )));
    }
    if let Some(devices) = report.devices() {
        let when =
            if devices.has_clock { "over the same time" } else { "in texts taken to be of the same time" };
        evidence.push(computed(format!(
            "{when} {:.1} I/Os are outstanding at the devices, and a read takes {}",
            devices.outstanding,
            short(devices.read_us)
        )));
    }
    let mut finding = report.case.finding(rule, first.place, title, evidence);
    if first.mean_us < rule.threshold("fast_ms") * 1e3 {
        finding.severity = Severity::Low;
        finding.advice.insert(0, rule.text("fast_advice").to_owned());
    } else {
        finding.advice.insert(0, rule.text("slow_advice").to_owned());
    }
    Some(finding)
}

/// PL405: reads of many blocks are asked for, and small ones are done.
pub(in super::super) fn small_reads(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    reports(case).iter().filter_map(|report| small(report, rule)).collect()
}

fn small(report: &Report<'_, '_>, rule: &Rule) -> Option<Finding> {
    let case = report.case;
    let asked = first_number(case, report.host, "db_file_multiblock_read_count");
    let block = first_number(case, report.host, facts::DATABASE_BLOCK_BYTES);
    let wanted = match (asked, block) {
        (Some(asked), Some(block)) => asked.0 * block.0,
        _ => rule.threshold("wanted_kib") * 1024.0,
    };
    let least = rule.threshold("part") * wanted;
    let mut small: Vec<(f64, f64, &str, &crate::reading::ReportRow)> = Vec::new();
    for (name, row) in report.of(PlaceKind::IoFunction) {
        let rate = row.value(Quantity::ReadIops);
        let bytes = row.value(Quantity::ReadBytesPerS);
        if name == "Direct Reads" && rate >= rule.threshold("reads_per_s") {
            small.push((bytes / rate, rate, name, row));
        }
    }
    for (name, row) in report.of(PlaceKind::Tablespace) {
        // Only where reads of one block are told apart: the mean of both says nothing of either.
        let [reads, blocks, single] =
            [Quantity::ReadIops, Quantity::BlocksPerRead, Quantity::SingleBlockReadIops]
                .map(|q| row.value(q));
        let many = reads - single;
        if let (Some(block), true, Some(_)) = (block, many >= rule.threshold("reads_per_s"), asked) {
            let size = (reads * blocks - single) / many * block.0;
            small.push((size, many, name, row));
        }
    }
    small.retain(|s| s.0 > 0.0 && s.0 < least);
    small.sort_by(|a, b| (b.1 * b.0).total_cmp(&(a.1 * a.0)));
    let (size, rate, name, row) = small.first()?;
    let by = if asked.is_some() && block.is_some() {
        "asked for"
    } else {
        "usual (db_file_multiblock_read_count is not told)"
    };
    let title = format!(
        "reads of many blocks ({name}) bring {:.0} KiB each, {rate:.0} per second, where {:.0} KiB are {by}",
        size / 1024.0,
        wanted / 1024.0
    );
    let mut evidence: Vec<Evidence> = small.iter().take(4).map(|s| case.line(s.3.origin)).collect();
    evidence.extend([asked, block].into_iter().flatten().map(|(_, o)| case.line(o)));
    Some(case.finding(rule, row.place, title, evidence))
}

fn first_number(case: &ReadCase<'_>, host: HostId, name: &str) -> Option<(f64, record::imported::Origin)> {
    case.numbers(host, name).into_values().find(|n| n.0 > 0.0)
}
