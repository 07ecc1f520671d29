//! The whole screen.

use super::panels::{details, happenings, processes};
use super::table::table;
use super::{Screen, help};
use crate::terminal::Color;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color as Ink, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Lines of the panels below the table: at least, and as many as the table leaves free.
const PANELS: u16 = 10;
const PANELS_MOST: u16 = 14;

/// Columns of the list of processes; what is left of 80 holds the details of a device.
const PROCESSES: u16 = 33;

/// The same on terminals at least [`WIDE`] wide: reads, writes and control groups apart.
const PROCESSES_WIDE: u16 = 76;
const WIDE: u16 = 130;

/// Lines of the list of happenings, its title included.
const HAPPENINGS: u16 = 4;

/// Least lines of the table before panels are left out.
const TABLE_MIN: u16 = 6;

/// How roles look. Without colours they differ by weight; each is told by words or signs as well.
pub(super) struct Paint {
    color: Color,
}

impl Paint {
    fn ink(&self, ink: Ink) -> Style {
        match self.color {
            Color::Ansi => Style::new().fg(ink),
            Color::Never => Style::new(),
        }
    }

    pub fn plain(&self) -> Style {
        Style::new()
    }

    pub fn heading(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn faint(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub fn host(&self) -> Style {
        self.ink(Ink::Yellow)
    }

    pub fn device(&self) -> Style {
        self.ink(Ink::Cyan)
    }

    pub fn alarm(&self) -> Style {
        self.ink(Ink::Red).add_modifier(Modifier::BOLD)
    }

    pub fn selected(&self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// Draws the screen as it stands.
pub fn draw(frame: &mut Frame<'_>, screen: &Screen) {
    let paint = Paint { color: screen.color };
    let area = frame.area();
    let happened = !screen.happened.is_empty() && area.height >= TABLE_MIN + HAPPENINGS + 2;
    let note = note(screen);
    let noted = u16::from(note.is_some() && area.height > TABLE_MIN + 2);
    let rest = area.height.saturating_sub(2 + noted + if happened { HAPPENINGS } else { 0 });
    let rows = u16::try_from(screen.view.lines(&screen.sample).len()).unwrap_or(u16::MAX);
    // A heading above the rows, a blank line below.
    let free = rest.saturating_sub(rows.saturating_add(2));
    let panels = if rest >= TABLE_MIN + PANELS { free.clamp(PANELS, PANELS_MOST) } else { 0 };
    let [title, devices, events, below, notes, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(if happened { HAPPENINGS } else { 0 }),
        Constraint::Length(panels),
        Constraint::Length(noted),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(Line::styled(title_line(screen, title), paint.heading())), title);
    table(frame, devices, screen, &paint);
    if happened {
        happenings(frame, events, screen, &paint);
    }
    if panels > 0 {
        let width = if area.width >= WIDE { PROCESSES_WIDE } else { PROCESSES };
        let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]).areas(below);
        details(frame, left, screen, &paint);
        processes(frame, right, screen, &paint);
    }
    if let Some(note) = note.filter(|_| noted > 0) {
        let text = cut(&note, usize::from(area.width));
        frame.render_widget(Paragraph::new(Line::styled(text, paint.host())), notes);
    }
    frame.render_widget(Paragraph::new(Line::styled(key_line(screen), paint.faint())), keys);
    if screen.help {
        help::overlay(frame, area, screen, &paint);
    }
}

/// What this source cannot see, or lost.
fn note(screen: &Screen) -> Option<String> {
    super::super::lost(&screen.sample).or_else(|| screen.sample.unseen.first().cloned())
}

/// The beginning of a text; the help holds all of it.
fn cut(text: &str, width: usize) -> String {
    let text = super::super::cells::safe(text);
    if text.chars().count() <= width {
        return text;
    }
    text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

fn title_line(screen: &Screen, area: Rect) -> String {
    let at = jiff::Timestamp::from_second(screen.sample.at_s as i64).unwrap_or_default();
    let time = at.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string();
    let time = if screen.sample.at_s > 0.0 { time } else { "--:--:--".to_owned() };
    let mut left = format!(
        "plimsoll watch  {}  {time}  every {} s  by {}",
        super::super::cells::shortened(&screen.host, if area.width < 100 { 12 } else { 20 }),
        screen.interval_s,
        screen.order().words()
    );
    if !screen.view.filter.is_empty() || screen.typing {
        left.push_str(&format!("  filter: {}{}", screen.view.filter, if screen.typing { "_" } else { "" }));
    }
    let source = match super::super::source(&screen.sample) {
        "tracer" => "traced",
        _ => "counters",
    };
    let right = if screen.paused { "PAUSED" } else { source };
    let room = usize::from(area.width).saturating_sub(left.chars().count());
    format!("{left}{right:>room$}")
}

fn key_line(screen: &Screen) -> &'static str {
    if screen.typing {
        "type a part of a name   Enter keep   Esc clear"
    } else {
        "q quit  ? help  o order  / filter  p pause  Enter parts  + - interval"
    }
}
