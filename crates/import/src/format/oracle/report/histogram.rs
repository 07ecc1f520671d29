//! Histograms of waits: one table of 10g to 12.1 in milliseconds, several from 12.2 on, each with another part of the range.

use super::{Report, value};
use crate::out::Out;
use record::imported::{Origin, PlaceKind, Quantity};
use std::collections::HashMap;

/// Events that are kept until the tables have been put together: more than a database has.
const EVENTS_MAX: usize = 5000;

/// Buckets by event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histograms {
    events: HashMap<String, Event>,
    order: Vec<String>,
    /// Counts the tables; the parts of a table on several pages are one.
    tables: usize,
    title: String,
}

#[derive(Clone, Debug, Default)]
struct Event {
    origin: Origin,
    /// Upper bound in microseconds, and percent of all waits in the bucket.
    shares: Vec<(f64, f64)>,
    /// Percent beyond the last bound.
    beyond: f64,
    seen_in: usize,
    /// Two events are cut to the same name: their parts cannot be told apart.
    is_ambiguous: bool,
}

/// Upper bound of a bucket in microseconds: `<8us`, `<512`, `<=1s`, `< 1m`, `<1/8s`; infinite for `>=32m`, `>1s`.
pub(super) fn bound(label: &str, milli_us: f64) -> Option<f64> {
    let at = label.rfind(['<', '>'])?;
    if label[at..].starts_with('>') {
        return Some(f64::INFINITY);
    }
    let text = label[at + 1..].trim_start_matches('=');
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number = match number.split_once('/') {
        Some((a, b)) => a.parse::<f64>().ok()? / b.parse::<f64>().ok().filter(|b| *b > 0.0)?,
        None => number.parse().ok()?,
    };
    // Buckets double: a second is 1024 of the milliseconds, a minute 64 of those seconds.
    let unit_us = match unit {
        "" | "u" | "us" => 1.0,
        "ms" => milli_us,
        "s" => milli_us * 1024.0,
        "m" => milli_us * 1024.0 * 64.0,
        "h" => milli_us * 1024.0 * 64.0 * 64.0,
        _ => return None,
    };
    Some(number * unit_us)
}

/// Whether columns are those of a histogram.
pub(super) fn is_histogram(columns: &[String]) -> bool {
    columns.first().is_some_and(|c| c == "event")
        && columns.iter().filter(|c| bound(c, 1000.0).is_some()).count() >= 2
}

impl Event {
    /// Adds the part of a table: what lies beyond the buckets known so far, on either side.
    fn add(&mut self, part: &[(f64, f64)]) {
        let is_first = self.shares.is_empty();
        let first = self.shares.first().map_or(f64::INFINITY, |(b, _)| *b);
        let last = self.shares.last().map_or(f64::NEG_INFINITY, |(b, _)| *b);
        let reaches =
            part.iter().map(|(b, _)| *b).filter(|b| b.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        let mut below = Vec::new();
        for (bound, percent) in part {
            if bound.is_infinite() {
                // How much is beyond all buckets, the table that goes furthest says.
                if is_first || reaches > last {
                    self.beyond = *percent;
                }
            } else if is_first || *bound > last {
                self.shares.push((*bound, *percent));
            } else if *bound < first {
                below.push((*bound, *percent));
            }
        }
        if let (Some((_, share)), false) = (self.shares.first_mut(), below.is_empty()) {
            // What was one bucket is now several.
            let sum: f64 = below.iter().map(|(_, p)| p).sum();
            *share = ((*share - sum).max(0.0) * 1e6).round() / 1e6;
            self.shares.splice(0..0, below);
        }
    }

    /// Shares that sum to 1; the last bucket has no bound.
    fn buckets(&self) -> Vec<(f64, f64)> {
        let mut buckets = self.shares.clone();
        buckets.push((f64::INFINITY, self.beyond));
        let sum: f64 = buckets.iter().map(|(_, share)| share).sum();
        for (_, share) in &mut buckets {
            *share /= sum;
        }
        buckets
    }
}

impl Report {
    /// A histogram's table begins, or goes on.
    pub(crate) fn begin_histogram(&mut self, title: &str) {
        if self.histograms.title != title || self.histograms.tables == 0 {
            self.histograms.tables += 1;
            title.clone_into(&mut self.histograms.title);
        }
    }

    /// A row of a histogram: event, waits, percent by bucket.
    pub(crate) fn histogram(&mut self, line: Option<&str>, cells: &[&str], out: &mut Out<'_>) {
        let Some(name) = cells.first().map(|c| c.trim()).filter(|n| !n.is_empty()) else { return };
        // Since 12.2 the tables go down to microseconds, and a millisecond is 1024 of them. Before, it is a millisecond.
        let is_fine = self.table.columns.iter().any(|c| c.ends_with("us"));
        self.is_fine |= is_fine || self.table.legend_us;
        let milli_us = if self.is_fine { 1024.0 } else { 1000.0 };
        let mut part = Vec::new();
        for (column, cell) in self.table.columns.iter().zip(cells) {
            let Some(bound) = bound(column, milli_us) else { continue };
            match value::plain(cell) {
                Some(percent) => part.push((bound, if percent.is_nan() { 0.0 } else { percent })),
                None => {
                    let found = line.map_or_else(|| cells.join(" "), str::to_owned);
                    return out.complain("an event, its waits, percents by bucket", &found);
                }
            }
        }
        if part.is_empty() || part.iter().map(|(_, p)| p).sum::<f64>() <= 0.0 {
            return;
        }
        let name = self.names.whole(name, self.table.widths.first().copied());
        let histograms = &mut self.histograms;
        if !histograms.events.contains_key(&name) {
            if histograms.order.len() >= EVENTS_MAX {
                return;
            }
            histograms.order.push(name.clone());
        }
        let table = histograms.tables;
        let event = histograms
            .events
            .entry(name)
            .or_insert_with(|| Event { origin: out.origin(), ..Event::default() });
        event.is_ambiguous |= event.seen_in == table;
        event.seen_in = table;
        event.add(&part);
    }

    /// All tables have been read.
    pub(crate) fn end_histograms(&mut self, out: &mut Out<'_>) {
        let histograms = std::mem::take(&mut self.histograms);
        let mut ambiguous = 0;
        for name in &histograms.order {
            let Some(event) = histograms.events.get(name) else { continue };
            if event.is_ambiguous {
                ambiguous += 1;
                continue;
            }
            let place = out.place(PlaceKind::WaitEvent, name);
            out.distribution_from(event.origin, place, Quantity::WaitUs, None, event.buckets());
        }
        if ambiguous > 0 {
            out.remark(&format!(
                "histograms of {ambiguous} names were left out: several events are cut to the same name"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_all_tables() {
        let wanted = [
            ("<8us", 8.0),
            ("<512", 512.0),
            ("<128u", 128.0),
            ("<1ms", 1024.0),
            ("<=1s", 1_048_576.0),
            ("<1/8s", 131_072.0),
            ("<1m", 67_108_864.0),
            (">=32m", f64::INFINITY),
            ("of<2ms", 2048.0),
        ];
        for (label, expected) in wanted {
            assert_eq!(bound(label, 1024.0), Some(expected), "{label}");
        }
        assert_eq!((bound("totalwaits", 1e3), bound("<1/0s", 1e3), bound("<xs", 1e3)), (None, None, None));
    }

    #[test]
    fn tables_of_other_ranges_are_put_together() {
        let mut event = Event::default();
        event.add(&[(8.0, 10.0), (16.0, 20.0), (f64::INFINITY, 70.0)]);
        event.add(&[(1.0, 2.0), (8.0, 8.0), (16.0, 20.0), (f64::INFINITY, 70.0)]);
        event.add(&[(16.0, 30.0), (1024.0, 60.0), (f64::INFINITY, 10.0)]);
        let buckets = event.buckets();
        let bounds: Vec<f64> = buckets.iter().map(|(b, _)| *b).collect();
        assert_eq!(bounds, [1.0, 8.0, 16.0, 1024.0, f64::INFINITY]);
        let shares: Vec<i64> = buckets.iter().map(|(_, s)| (s * 100.0).round() as i64).collect();
        assert_eq!(shares, [2, 8, 20, 60, 10]);
    }
}
