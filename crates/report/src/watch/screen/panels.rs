//! Below the table: what happened, the selected device in full, who does I/O.

use super::super::askers;
use super::super::cells::{amount, ms, name, queue, rate, safe, shortened};
use super::Screen;
use super::draw::Paint;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use record::{ClassTotals, DeviceSample, LayerKind, SplitBy};

pub(super) fn happenings(frame: &mut Frame<'_>, area: Rect, screen: &Screen, paint: &Paint) {
    let room = usize::from(area.height).saturating_sub(1);
    let mut lines = vec![Line::styled("happened", paint.heading())];
    for happened in screen.happened.iter().rev().take(room) {
        let at = jiff::Timestamp::from_second(happened.at_s as i64).unwrap_or_default();
        let time = at.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string();
        let text = format!("{time} {} {}", safe(&happened.device), safe(&happened.text));
        lines.push(Line::styled(text, paint.alarm()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

pub(super) fn details(frame: &mut Frame<'_>, area: Rect, screen: &Screen, paint: &Paint) {
    let Some(device) = screen.selected_device() else { return };
    let mut lines = vec![
        Line::styled(heading(device), paint.heading()),
        Line::styled("           per s  MiB/s KiB/IO merged/s     ms", paint.faint()),
    ];
    let mut class = |what: &str, totals: Option<ClassTotals>| {
        let Some(totals) = totals.filter(|_| device.is_counted()) else { return };
        let bytes = totals.bytes as f64;
        lines.push(Line::raw(format!(
            "{what:8}{:>8}{:>7}{:>7}{:>9}{:>7}",
            rate(device.per_s(totals.count as f64), 7),
            amount(device.per_s(bytes / f64::from(1 << 20)), 6),
            amount(totals.bytes_mean().filter(|_| bytes > 0.0).map(|b| b / 1024.0), 6),
            rate(device.per_s(totals.merges as f64), 7),
            ms(totals.response_us(), 6),
        )));
    };
    class("read", Some(device.read));
    class("write", Some(device.write));
    class("discard", device.discard.filter(|c| c.count > 0));
    class("flush", device.flush.filter(|c| c.count > 0));
    lines.push(Line::raw(queues(device)));
    lines.extend(traced(device).into_iter().map(Line::raw));
    for remark in &device.remarks {
        lines.push(Line::styled(safe(remark), paint.host()));
    }
    if let Some((now, highest)) = device.depth_lowered() {
        let text = format!("queue depth {now}, below {highest} seen before: QUEUE FULL, or somebody set it");
        lines.push(Line::styled(text, paint.alarm()));
    }
    lines.push(Line::raw(settings(device)));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

fn heading(device: &DeviceSample) -> String {
    let facts = &device.facts;
    let other = match (facts.kind, &facts.label) {
        (LayerKind::DeviceMapper | LayerKind::Multipath, _) => Some(facts.name.clone()),
        (_, label) => label.clone(),
    };
    let mut text = safe(name(device));
    if let Some(other) = other.filter(|o| o != name(device)) {
        text.push_str(&format!(" ({})", shortened(&other, 30)));
    }
    if !facts.below.is_empty() {
        text.push_str(&format!(" on {}", shortened(&facts.below.join(" "), 40)));
    }
    text
}

fn queues(device: &DeviceSample) -> String {
    let peak = |peak: Option<f64>| peak.map_or(String::new(), |p| format!(", peak {}", rate(Some(p), 6)));
    let limit = device.limits.device_queue.filter(|_| device.facts.disk.is_none());
    let of = limit.map_or(String::new(), |l| format!(" of {l:.0}"));
    format!(
        "host queue {}{}; device queue {}{}{of}{}",
        queue(&device.host_queue, 6),
        peak(device.host_queue.peak),
        queue(&device.device_queue, 6),
        peak(device.device_queue.peak),
        match device.split_by {
            SplitBy::Bounds => " (only bounds are known)",
            SplitBy::Below => " (as below it)",
            SplitBy::Passed if device.facts.scheduler.is_some() => " (nothing holds back)",
            _ => "",
        }
    )
}

fn settings(device: &DeviceSample) -> String {
    let limits = &device.limits;
    let mut parts = Vec::new();
    parts.extend(device.facts.scheduler.as_ref().map(|s| format!("scheduler {s}")));
    parts.extend(limits.nr_requests.map(|n| format!("nr_requests {n:.0}")));
    parts.extend(limits.hardware_queues.filter(|n| *n > 1.0).map(|n| format!("{n:.0} hardware queues")));
    parts.extend(limits.queue_depth.map(|n| format!("queue_depth {n:.0}")));
    parts.extend(limits.host_can_queue.map(|n| format!("adapter takes {n:.0}")));
    if device.is_counted() {
        parts.push(format!("not idle {:.0} % of the time", 100.0 * device.busy));
    }
    parts.join(", ")
}

/// Percentiles and answers that only a tracer knows.
fn traced(device: &DeviceSample) -> Vec<String> {
    let Some(seen) = device.traced.as_deref().filter(|_| device.is_counted()) else { return Vec::new() };
    let mut lines = Vec::new();
    for (what, times) in [("wait", seen.host_wait()), ("service", seen.service())] {
        let Some(times) = times else { continue };
        let at = |quantile| ms(times.quantile_ns(quantile).map(|ns| ns as f64 / 1e3), 5);
        lines.push(format!("{what:8}p50 {:>6} p99 {:>6} p99.9 {:>6} ms", at(0.5), at(0.99), at(0.999)));
    }
    let mut parts = Vec::new();
    let mut part = |what: &str, count: u64| {
        if count > 0 {
            parts.push(format!("{what} {count}"));
        }
    };
    if let Some(scsi) = &seen.scsi {
        part("TASK SET FULL", scsi.task_set_full);
        part("BUSY", scsi.busy);
        part("CHECK CONDITION", scsi.check_condition);
        part("other answers", scsi.other_status);
        part("adapter errors", scsi.host_error);
        part("refused", scsi.refused_host_busy + scsi.refused_device_busy + scsi.refused_other);
        part("timeouts", scsi.timeouts);
    }
    part("requeued", seen.requeues);
    part("split", seen.splits);
    if !parts.is_empty() {
        lines.push(parts.join(", "));
    }
    lines
}

/// Who asked the selected device; without a tracer, who did I/O at all.
pub(super) fn processes(frame: &mut Frame<'_>, area: Rect, screen: &Screen, paint: &Paint) {
    let traced = screen.sample.traced.as_ref().is_some_and(|t| t.askers.is_some());
    let device = screen.selected_device().map(|d| d.facts.disk.as_deref().unwrap_or(&d.facts.name));
    let wide = area.width >= 60;
    let rows = askers::rows(&screen.sample, device.filter(|_| traced));
    let room = usize::from(area.height).saturating_sub(2);
    let title = match device.filter(|_| traced) {
        Some(device) => format!("who asks {}", shortened(device, 9)),
        None => "process, MiB/s".to_owned(),
    };
    let heading = match (traced, wide) {
        (true, true) => {
            format!("{title:20}{:>8}{:>9}{:>9}{:>9}  cgroup", "reads/s", "writes/s", "MiB/s r", "MiB/s w")
        }
        (true, false) => format!("{title:18}{:>8}{:>7}", "IOPS", "MiB/s"),
        (false, _) => format!("{title:18}{:>7}{:>8}", "read", "written"),
    };
    let mut lines = vec![Line::styled(heading, paint.heading())];
    for row in rows.iter().take(room) {
        let mib = row.read_mib_per_s + row.write_mib_per_s;
        let ios = row.reads_per_s.zip(row.writes_per_s).map(|(r, w)| r + w);
        lines.push(Line::raw(match (traced, wide) {
            (true, true) => format!(
                "{:20}{:>8}{:>9}{:>9}{:>9}  {}",
                row.label(19),
                rate(row.reads_per_s, 7),
                rate(row.writes_per_s, 8),
                amount(Some(row.read_mib_per_s), 8),
                amount(Some(row.write_mib_per_s), 8),
                shortened(row.cgroup.as_deref().unwrap_or("-"), usize::from(area.width).saturating_sub(58)),
            ),
            (true, false) => format!("{:18}{:>8}{:>7}", row.label(17), rate(ios, 7), amount(Some(mib), 6)),
            (false, _) => format!(
                "{:18}{:>7}{:>8}",
                row.label(17),
                amount(Some(row.read_mib_per_s), 6),
                amount(Some(row.write_mib_per_s), 7),
            ),
        }));
    }
    let hidden = screen.sample.processes.as_ref().map_or(0, |p| p.hidden);
    if hidden > 0 && !traced {
        lines.push(Line::styled(format!("{hidden} may not be read"), paint.faint()));
    }
    if traced && rows.is_empty() && device.is_some() {
        lines.push(Line::styled("nobody in this interval", paint.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}
