//! A small chart: throughput and the limit's statistic over concurrency, one row per point.

use super::points::concurrency;
use super::sink::{Role, Sink};
use super::{Charset, Style};
use crate::curve;
use crate::number::{fitted, time};
use analyze::Point;
use probe::Answer;

/// Width of concurrency and of the number behind a bar.
const FIXED: usize = 8 + 11 + 3 + 11;

/// Writes the chart; nothing for a single point, which has no shape.
pub fn chart(out: &mut Sink, answer: &Answer) {
    if answer.points.len() < 2 {
        return;
    }
    let style = out.style();
    let each = style.columns().saturating_sub(FIXED) / 2;
    let statistic = |p: &Point| curve::limit_statistic_us(&answer.limit, p);
    let rates = Scale::up_to(curve::largest(answer.points.iter().map(|p| p.iops)), None);
    let limit_us = answer.limit.limit_ns as f64 / 1e3;
    let times = Scale::up_to(curve::largest(answer.points.iter().filter_map(statistic)), Some(limit_us));
    out.gap();
    let heading =
        format!("{} ({})", answer.limit.statistic, limit_note(&answer.limit.to_string(), &times, style));
    out.line(Some(Role::Strong), &format!("{:>8}  {:<w$}{heading}", "N", "IOPS", w = each + 12));
    for point in curve::shown(answer).into_iter().map(|i| &answer.points[i]) {
        let rate = rates.bar(Some(point.iops), each, style.charset);
        let wait = times.bar(statistic(point), each, style.charset);
        let shown = statistic(point).map_or("-".to_owned(), time);
        let n = concurrency(point.concurrency, 8);
        let number = fitted(point.iops, 10);
        out.line(None, &format!("{n:>8}  {rate}{number:>11} {wait}{shown:>11}"));
    }
}

fn limit_note(limit: &str, scale: &Scale, style: Style) -> String {
    let bar = if style.charset == Charset::Ascii { '|' } else { '│' };
    match scale.mark {
        Some(_) => format!("{bar} limit {limit}"),
        None => format!("limit {limit} off scale"),
    }
}

/// From zero to a full bar, with a mark on the way.
struct Scale {
    full: f64,
    mark: Option<f64>,
}

impl Scale {
    /// Full is the largest value, but no more than twice the mark: what lies far beyond a limit needs no picture.
    fn up_to(largest: Option<f64>, mark: Option<f64>) -> Self {
        let largest = largest.filter(|v| *v > 0.0).unwrap_or(1.0);
        match mark {
            Some(mark) if largest >= 0.5 * mark => {
                Self { full: largest.clamp(1.1 * mark, 2.0 * mark), mark: Some(mark) }
            }
            _ => Self { full: largest, mark: None },
        }
    }

    fn bar(&self, value: Option<f64>, width: usize, charset: Charset) -> String {
        let eighths = (value.filter(|v| v.is_finite()).unwrap_or(0.0).max(0.0) / self.full
            * (width * 8) as f64)
            .round() as usize;
        let beyond = eighths > width * 8;
        let eighths = eighths.min(width * 8);
        let mut cells: Vec<char> =
            (0..width).map(|i| cell(eighths.saturating_sub(i * 8).min(8), charset)).collect();
        let mark = self.mark.map(|m| ((m / self.full * width as f64) as usize).min(width.saturating_sub(1)));
        if let Some(at) = mark.and_then(|at| cells.get_mut(at)) {
            *at = if charset == Charset::Ascii { '|' } else { '│' };
        }
        if let Some(last) = cells.last_mut().filter(|_| beyond) {
            *last = if charset == Charset::Ascii { '>' } else { '▶' };
        }
        cells.into_iter().collect()
    }
}

fn cell(eighths: usize, charset: Charset) -> char {
    const BLOCKS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    match charset {
        Charset::Unicode => BLOCKS[eighths],
        Charset::Ascii if eighths >= 4 => '#',
        Charset::Ascii => ' ',
    }
}
