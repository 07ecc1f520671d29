//! The help over the screen.

use super::Screen;
use super::bars::signs;
use super::draw::Paint;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

const WIDTH: u16 = 76;

const WORDS: [&str; 23] = [
    "host q     I/Os accepted by this host and not yet sent to the device",
    "device q   I/Os sent and not yet answered, of as many as may be",
    "wait       mean time of an I/O in the host queue, ms",
    "service    mean time of an I/O at the device, ms",
    "trend      I/Os standing in both queues, last intervals",
    "<32 >8     at most, at least: the two queues could not be told apart",
    "-          not known here (never 0)",
    "",
    "Long bar at the host, device q at its limit: the limit holds I/Os back.",
    "Long bar at the device, service grows with it: the device is full.",
    "",
    "up down    select a device; its details stand below the table",
    "Enter      show what the device is built on (paths, volumes); e all",
    "o          order by the next property",
    "/          filter by a part of a name; Esc clears it",
    "p, Space   pause and go on",
    "+ -        longer, shorter intervals",
    "u          devices that never did I/O too",
    "Ctrl-Z     suspend; fg comes back",
    "? h        this help",
    "q          quit",
    "",
    "Numbers are means over the interval; peaks are in the details.",
];

pub(super) fn overlay(frame: &mut Frame<'_>, area: Rect, screen: &Screen, paint: &Paint) {
    let [host, device, unknown] = signs(screen.charset);
    let mut lines = vec![Line::raw(format!(
        "bar        {host} host queue, {device} device queue, {unknown} not told apart"
    ))];
    for unseen in &screen.sample.unseen {
        let parts = crate::terminal::wrapped(&super::super::cells::safe(unseen), usize::from(WIDTH) - 2);
        lines.extend(parts.into_iter().map(Line::raw));
    }
    let tight = lines.len() + WORDS.len() + 2 > usize::from(area.height);
    lines.extend(WORDS.into_iter().filter(|w| !(tight && w.is_empty())).map(Line::raw));
    let height = (lines.len() as u16 + 2).min(area.height);
    let width = WIDTH.min(area.width);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    frame.render_widget(Clear, place);
    let from = match super::super::source(&screen.sample) {
        "tracer" => "counters, and a tracer that sees each I/O",
        _ => "counters",
    };
    let title = format!(" help: the numbers come from {from} ");
    let block = Block::bordered().title(title).title_style(paint.heading());
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
