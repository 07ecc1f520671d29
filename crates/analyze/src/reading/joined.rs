//! Texts of one host on one clock, so that iostat, mpstat and a database's report can support one finding.
//!
//! Times of texts count from different things (UTC, the host's local time, midnight, nothing at all). Here each text gets
//! a clock and a shift; texts on the same clock can be compared. Where a time zone or a day must be found first, it is
//! taken only when one and only one of them lets the texts cover each other; else they stay apart.

use super::case::ReadCase;
use super::digest::{Digest, ReportRow};
use super::point::DevicePoint;
use super::processor::ProcessorPoint;
use super::span::Span;
use record::imported::{Basis, Event, HostId, Interval, Origin, PlaceId, PlaceKind, SourceId};
use std::collections::BTreeMap;

const DAY_S: f64 = 86_400.0;
/// Zones differ by quarters of an hour.
const ZONE_STEP_S: f64 = 900.0;
/// The furthest zone.
const ZONE_MAX_S: f64 = 14.0 * 3600.0;

/// A clock that texts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// UTC: all hosts.
    Utc,
    /// A host's own time, with a date.
    Local(HostId),
    /// A host's own time, without a date.
    TimeOfDay(HostId),
    /// A text's own: it counts from its beginning.
    Own(SourceId),
}

/// A stretch of time on a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The clock.
    pub clock: Clock,
    /// Begin, seconds.
    pub from_s: f64,
    /// End, seconds.
    pub to_s: f64,
}

impl Window {
    /// The part of `other` that lies within, 0 to 1; an instant counts as within or not. 0 on another clock.
    pub fn share_of(&self, other: &Self) -> f64 {
        if self.clock != other.clock {
            return 0.0;
        }
        let length_s = other.to_s - other.from_s;
        if !(length_s > 0.0) {
            return f64::from(u8::from(other.to_s > self.from_s && other.to_s <= self.to_s));
        }
        ((self.to_s.min(other.to_s) - self.from_s.max(other.from_s)) / length_s).clamp(0.0, 1.0)
    }

    /// Whether most of one lies within the other: either way round, so that short intervals are found in a long report and
    /// a long interval around a short event.
    pub fn joins(&self, other: &Self) -> bool {
        self.share_of(other) > 0.5 || other.share_of(self) > 0.5
    }

    /// Its length, seconds.
    pub fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// The clock of each text.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    of_source: Vec<Option<(Clock, f64)>>,
    apart: Vec<SourceId>,
}

impl Clocks {
    /// Finds them; `host_of` says which host a host is, after joining.
    pub(super) fn new(digest: &Digest, host_of: impl Fn(HostId) -> HostId) -> Self {
        let mut clocks = Self { of_source: vec![None; digest.sources.len()], apart: Vec::new() };
        let mut by_host: BTreeMap<HostId, Vec<SourceId>> = BTreeMap::new();
        for (id, seen) in digest.sources.iter().enumerate() {
            let id = id as SourceId;
            match (seen.host, seen.span.basis) {
                (_, None) => {}
                (Some(host), Some(Basis::Utc | Basis::Local | Basis::TimeOfDay)) if !seen.span.is_mixed => {
                    by_host.entry(host_of(host)).or_default().push(id);
                }
                _ => clocks.of_source[id as usize] = Some((Clock::Own(id), 0.0)),
            }
        }
        for (host, sources) in by_host {
            clocks.join(digest, host, &sources);
        }
        clocks
    }

    fn join(&mut self, digest: &Digest, host: HostId, sources: &[SourceId]) {
        let span = |id: SourceId| digest.sources[id as usize].span;
        let of = |basis: Basis| -> Vec<SourceId> {
            sources.iter().copied().filter(|s| span(*s).basis == Some(basis)).collect()
        };
        let (utc, local, times) = (of(Basis::Utc), of(Basis::Local), of(Basis::TimeOfDay));
        for id in &utc {
            self.of_source[*id as usize] = Some((Clock::Utc, 0.0));
        }
        // One zone for all local texts of the host.
        let zone = together(&utc, span).zip(together(&local, span)).map(|(u, l)| zone_between(&u, &l));
        let local_on = match zone {
            Some(Some(shift)) => (Clock::Utc, shift),
            Some(None) => {
                self.apart.extend(&local);
                (Clock::Local(host), 0.0)
            }
            None => (Clock::Local(host), 0.0),
        };
        for id in &local {
            self.of_source[*id as usize] = Some(local_on);
        }
        let dated = if local.is_empty() { &utc } else { &local };
        let dated_on = if local.is_empty() { (Clock::Utc, 0.0) } else { local_on };
        for id in times {
            let day = together(dated, span).map(|d| day_between(&d, &span(id), local.is_empty()));
            self.of_source[id as usize] = Some(match day {
                Some(Some(shift)) => (dated_on.0, dated_on.1 + shift),
                Some(None) => {
                    self.apart.push(id);
                    (Clock::TimeOfDay(host), 0.0)
                }
                None => (Clock::TimeOfDay(host), 0.0),
            });
        }
    }

    /// The clock of a text, and what to add to its times.
    pub fn of(&self, source: SourceId) -> Option<(Clock, f64)> {
        self.of_source.get(source as usize).copied().flatten()
    }

    /// Texts that have times, and no zone or day was found that joins them to the others of their host.
    pub fn apart(&self) -> &[SourceId] {
        &self.apart
    }
}

/// From the first begin to the last end of some texts.
fn together(sources: &[SourceId], span: impl Fn(SourceId) -> Span) -> Option<Span> {
    sources.iter().map(|s| span(*s)).reduce(|a, b| Span {
        first_s: a.first_s.min(b.first_s),
        last_s: a.last_s.max(b.last_s),
        ..a
    })
}

/// What to add to local times so that they are UTC: the only zone in which both begin and end together, or the only one
/// in which they overlap at all.
fn zone_between(utc: &Span, local: &Span) -> Option<f64> {
    let steps = (ZONE_MAX_S / ZONE_STEP_S) as i64;
    let shifts: Vec<f64> = (-steps..=steps).map(|n| n as f64 * ZONE_STEP_S).collect();
    let close = |a: f64, b: f64| (a - b).abs() < ZONE_STEP_S / 2.0;
    let ends = |s: f64| close(utc.first_s, local.first_s + s) && close(utc.last_s, local.last_s + s);
    only(&shifts, ends)
        .or_else(|| only(&shifts, |s| local.last_s + s > utc.first_s && local.first_s + s < utc.last_s))
}

/// What to add to times of day so that they have the date of the other text: the only day on which they overlap.
fn day_between(dated: &Span, times: &Span, is_utc: bool) -> Option<f64> {
    // A time of day is local; beside UTC alone its zone would have to be guessed as well.
    if is_utc {
        return None;
    }
    let day = (dated.first_s / DAY_S).floor();
    let days = ((dated.last_s - dated.first_s) / DAY_S).ceil().clamp(0.0, 3660.0) as i64;
    let shifts: Vec<f64> = (-1..=days).map(|n| (day + n as f64) * DAY_S).collect();
    only(&shifts, |s| times.last_s + s > dated.first_s && times.first_s + s < dated.last_s)
}

fn only(shifts: &[f64], fits: impl Fn(f64) -> bool) -> Option<f64> {
    let mut fitting = shifts.iter().copied().filter(|s| fits(*s));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

impl<'d> ReadCase<'d> {
    /// A stretch of time of a text, on the clock it shares with others; absent when its time is unknown.
    pub fn window(&self, origin: Origin, at_s: f64, length_s: f64) -> Option<Window> {
        let (clock, shift) = self.clocks().of(origin.source).filter(|_| !at_s.is_nan())?;
        let length_s = if length_s > 0.0 { length_s } else { 0.0 };
        Some(Window { clock, from_s: at_s + shift - length_s, to_s: at_s + shift })
    }

    /// The time of a point of a device.
    pub fn window_of(&self, point: &DevicePoint) -> Option<Window> {
        self.window(point.origin, point.at_s, point.length_s)
    }

    /// The time of a row of a report.
    pub fn window_of_report(&self, row: &ReportRow) -> Option<Window> {
        let Interval { at_s, length_s, .. } = row.interval;
        self.window(row.origin, at_s, length_s)
    }

    /// All the time of a text.
    pub fn window_of_source(&self, source: SourceId) -> Option<Window> {
        let span = self.digest.sources.get(source as usize)?.span;
        self.window(Origin { source, ..Origin::default() }, span.last_s, span.length_s())
    }

    /// Points of a device within a window.
    pub fn points_in(&self, device: PlaceId, window: &Window) -> Vec<&'d DevicePoint> {
        let series = self.digest.devices.get(&device);
        let points = series.map_or(&[][..], |s| s.points());
        points.iter().filter(|p| self.window_of(p).is_some_and(|w| window.joins(&w))).collect()
    }

    /// What a device did within a window, as one point.
    pub fn device_in(&self, device: PlaceId, window: &Window) -> Option<DevicePoint> {
        DevicePoint::together(self.points_in(device, window))
    }

    /// Devices of a host that did something within a window, each as one point.
    pub fn devices_in(&self, host: HostId, window: &Window) -> Vec<(PlaceId, PlaceKind, DevicePoint)> {
        let own = self.devices().filter(|(place, _, _)| self.host(*place) == host);
        own.filter_map(|(place, kind, _)| Some((place, kind, self.device_in(place, window)?))).collect()
    }

    /// Points of a processor, or of a host as a whole, within a window.
    pub fn processor_in(&self, place: PlaceId, window: &Window) -> Vec<&'d ProcessorPoint> {
        let series = self.digest.processors.get(&place);
        let points = series.map_or(&[][..], |s| s.points());
        let inside =
            |p: &&ProcessorPoint| self.window(p.origin, p.at_s, p.length_s).is_some_and(|w| window.joins(&w));
        points.iter().filter(inside).collect()
    }

    /// Rows of reports about a host that belong to a window.
    pub fn reports_in(&self, host: HostId, window: &Window) -> Vec<&'d ReportRow> {
        let fits = |r: &&ReportRow| {
            self.host(r.place) == host && self.window_of_report(r).is_some_and(|w| window.joins(&w))
        };
        self.digest.reports.iter().filter(fits).collect()
    }

    /// Events of a host within a window.
    pub fn events_in(&self, host: HostId, window: &Window) -> Vec<&'d Event> {
        let fits = |e: &&Event| {
            self.host(e.place) == host
                && self.window(e.origin, e.at_s, 0.0).is_some_and(|w| window.share_of(&w) > 0.0)
        };
        self.digest.events.iter().filter(fits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first_s: f64, last_s: f64) -> Span {
        Span { first_s, last_s, ..Span::default() }
    }

    #[test]
    fn a_zone_is_taken_only_when_it_is_the_only_one() {
        let hour = 3600.0;
        // Both ran for ten hours; local time was two hours ahead.
        assert_eq!(
            zone_between(&span(0.0, 10.0 * hour), &span(2.0 * hour + 60.0, 12.0 * hour)),
            Some(-2.0 * hour)
        );
        // Half an hour somewhere in a day: any of many zones would do.
        assert_eq!(zone_between(&span(0.0, 24.0 * hour), &span(9.0 * hour, 9.5 * hour)), None);
        // A minute within a minute: no other zone lets them meet.
        assert_eq!(zone_between(&span(100.0, 160.0), &span(hour + 110.0, hour + 150.0)), Some(-hour));
    }

    #[test]
    fn a_time_of_day_gets_its_day() {
        let day = 20_000.0 * DAY_S;
        assert_eq!(day_between(&span(day + 100.0, day + 900.0), &span(200.0, 800.0), false), Some(day));
        // After midnight of a text that began the day before.
        let late = span(86_000.0, 86_400.0 + 300.0);
        assert_eq!(day_between(&span(day + 10.0, day + 100.0), &late, false), Some(day - DAY_S));
        // A week of data: no one knows which of the days it was.
        assert_eq!(day_between(&span(day, day + 7.0 * DAY_S), &span(200.0, 800.0), false), None);
    }

    #[test]
    fn long_and_short_windows_join() {
        let window = |from_s, to_s| Window { clock: Clock::Utc, from_s, to_s };
        let report = window(0.0, 1800.0);
        assert!(report.joins(&window(60.0, 61.0)) && window(60.0, 61.0).joins(&report));
        assert!(!report.joins(&window(1799.0, 1900.0)) && report.share_of(&window(1700.0, 1900.0)) == 0.5);
        assert!(!report.joins(&Window { clock: Clock::Own(3), ..window(60.0, 61.0) }));
    }
}
