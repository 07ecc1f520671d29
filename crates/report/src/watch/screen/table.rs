//! The table of devices.

use super::super::cells::{amount, ms, name, queue, rate, shortened};
use super::super::view::Line as Row;
use super::Screen;
use super::bars::{cells, signs, trend};
use super::draw::Paint;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use record::{Counted, DeviceSample};

/// Widths of the columns that a terminal of this width has room for.
struct Columns {
    name: usize,
    /// Mean size of an I/O.
    size: usize,
    bar: usize,
    trend: usize,
}

/// IOPS, MiB/s, host queue, device queue of its limit, wait, service, and a blank.
const FIXED: usize = 9 + 8 + 7 + 15 + 8 + 8 + 1;

impl Columns {
    fn of(width: usize) -> Self {
        let (name, size, trend) = match width {
            ..92 => (12, 0, 0),
            92..110 => (14, 8, 0),
            _ => (18, 8, 14),
        };
        let bar = width.saturating_sub(FIXED + name + size + trend).clamp(8, 60);
        Self { name, size, bar, trend }
    }

    fn heading(&self, marks: [&str; 3]) -> String {
        // Where a bar is short its legend is, too.
        let device = if self.bar < 15 { "dev" } else { "device" };
        let legend = format!("{} host {} {device}", marks[0], marks[1]);
        let mut text = format!("{:1$}", "device", self.name);
        text.push_str(&format!("{:>9}{:>8}", "IOPS", "MiB/s"));
        if self.size > 0 {
            text.push_str(&format!("{:>8}", "KiB/IO"));
        }
        text.push_str(&format!(" {:^1$}", shortened(&legend, self.bar), self.bar));
        text.push_str(&format!("{:>7}{:>15}{:>8}{:>8}", "host q", "device q  of", "wait", "service"));
        if self.trend > 0 {
            text.push_str(&format!("{:>1$}", "trend", self.trend));
        }
        text
    }
}

pub(super) fn table(frame: &mut Frame<'_>, area: Rect, screen: &Screen, paint: &Paint) {
    let lines = screen.view.lines(&screen.sample);
    let columns = Columns::of(usize::from(area.width));
    let signs = signs(screen.charset);
    let mut shown = vec![Line::styled(columns.heading(signs), paint.heading())];
    let rows = usize::from(area.height).saturating_sub(1);
    let selected = screen.selected_line(&lines);
    // The selected line stays in sight; the first ones stay at the top as long as possible.
    let from = selected.saturating_sub(rows.saturating_sub(1));
    let device = |line: &Row| &screen.sample.devices[line.place];
    let scale = lines.iter().map(|l| device(l).standing()).fold(1.0, f64::max);
    for (place, line) in lines.iter().enumerate().skip(from).take(rows) {
        let mut row = row(screen, device(line), line, &columns, scale, paint);
        if place == selected {
            row = row.patch_style(paint.selected());
        }
        shown.push(row);
    }
    if lines.is_empty() {
        let why = match (screen.sample.length_s > 0.0, screen.view.filter.is_empty()) {
            (false, _) => "the first interval is being measured",
            (true, false) => "no device matches the filter (Esc clears it)",
            (true, true) => "no device did any I/O since it was set up (u shows those too)",
        };
        shown.push(Line::raw(why));
    }
    frame.render_widget(Paragraph::new(shown), area);
}

fn row<'a>(
    screen: &Screen,
    device: &DeviceSample,
    line: &Row,
    columns: &Columns,
    scale: f64,
    paint: &Paint,
) -> Line<'a> {
    let mark = match (line.has_parts, screen.view.is_open(device)) {
        (true, true) => "-",
        (true, false) => "+",
        (false, _) if line.depth > 0 => " ",
        (false, _) => "",
    };
    let label = format!("{}{mark}{}", " ".repeat(line.depth.min(4)), name(device));
    let mut spans = vec![
        Span::raw(format!("{:1$}", shortened(&label, columns.name - 1), columns.name)),
        Span::raw(format!("{:>9}{:>8}", rate(device.iops(), 8), amount(device.mib_per_s(), 7))),
    ];
    if columns.size > 0 {
        let kib = device.ios().bytes_mean().filter(|_| device.is_counted()).map(|b| b / 1024.0);
        spans.push(Span::raw(format!("{:>8}", amount(kib, 7))));
    }
    bar(&mut spans, screen, device, columns.bar, scale, paint);
    let waits = device.waiting() >= 1.0;
    spans.push(Span::styled(
        format!("{:>7}", queue(&device.host_queue, 6)),
        if waits { paint.host() } else { paint.plain() },
    ));
    let limit = device.limits.device_queue.filter(|_| device.facts.disk.is_none());
    let of = limit.map_or(String::new(), |l| format!(" of {}", rate(Some(l), 5)));
    let full = device.device_queue.mean.zip(limit).is_some_and(|(mean, limit)| mean >= 0.9 * limit);
    spans.push(Span::styled(
        format!("{:>7}{of:<8}", queue(&device.device_queue, 6)),
        if full { paint.alarm() } else { paint.plain() },
    ));
    let times = match device.counted {
        Counted::Yes => format!("{:>8}{:>8}", ms(device.host_wait_us(), 7), ms(device.service_us(), 7)),
        Counted::Appeared => format!("{:>16}", "new"),
        Counted::Reset => format!("{:>16}", "set up anew"),
        Counted::Off => format!("{:>16}", "accounting off"),
    };
    spans.push(Span::raw(times));
    if columns.trend > 0 {
        let values = screen.history.get(&device.facts.name);
        let text = values.map(|v| trend(v.iter(), columns.trend - 2, screen.charset)).unwrap_or_default();
        spans.push(Span::styled(format!("  {text}"), paint.device()));
    }
    Line::from(spans)
}

fn bar(
    spans: &mut Vec<Span<'_>>,
    screen: &Screen,
    device: &DeviceSample,
    width: usize,
    scale: f64,
    paint: &Paint,
) {
    let [host, at_device, unknown] = signs(screen.charset);
    let split = cells(device.host_queue.mean, device.device_queue.mean, device.standing(), scale, width);
    spans.push(Span::raw(" "));
    spans.push(Span::styled(host.repeat(split.host), paint.host()));
    spans.push(Span::styled(at_device.repeat(split.device), paint.device()));
    spans.push(Span::styled(unknown.repeat(split.unknown), paint.plain().add_modifier(Modifier::DIM)));
    spans.push(Span::raw(" ".repeat(width - (split.host + split.device + split.unknown).min(width))));
}
