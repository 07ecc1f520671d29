//! Below the table: what happened, the selected device in full, who does I/O.

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

pub(super) fn processes(frame: &mut Frame<'_>, area: Rect, screen: &Screen, paint: &Paint) {
    let mut lines =
        vec![Line::styled(format!("{:18}{:>7}{:>9}", "process, MiB/s", "read", "written"), paint.heading())];
    match &screen.sample.processes {
        None => {}
        Some(processes) => {
            let room = usize::from(area.height).saturating_sub(2);
            for process in processes.top.iter().take(room) {
                let pid = process.pid.to_string();
                let who = format!("{} {pid}", shortened(&process.name, 17 - pid.len()));
                lines.push(Line::raw(format!(
                    "{who:18}{:>7}{:>9}",
                    amount(Some(process.read_mib_per_s), 6),
                    amount(Some(process.write_mib_per_s), 7),
                )));
            }
            if processes.hidden > 0 {
                let text = format!("{} may not be read", processes.hidden);
                lines.push(Line::styled(text, paint.faint()));
            }
        }
    }
    frame.render_widget(Paragraph::new(lines), area);
}
