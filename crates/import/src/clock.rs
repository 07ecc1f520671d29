//! Dates and times as tools print them, and a clock that only goes forward.

use jiff::civil::{Date, DateTime, Time};
use record::imported::{Basis, Interval, RowsKind};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;
/// A step back of more than this is midnight; of less, a clock that was set.
const MIDNIGHT_S: f64 = 6.0 * 3600.0;

/// In which order a date with slashes is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// `11/30/2021`: sysstat in the C locale, Solaris, nmon.
    #[default]
    MonthFirst,
    /// `30/11/2021`.
    DayFirst,
}

impl DateOrder {
    /// The order that dates show: a part above 12 decides. Absent when none does.
    pub fn shown_by<'d>(dates: impl IntoIterator<Item = &'d str>) -> Option<Self> {
        dates.into_iter().find_map(|date| {
            let mut parts = date.split(['/', '.', '-']);
            let (a, b): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            match (a > 12 && a <= 31, b > 12 && b <= 31) {
                (true, false) => Some(Self::DayFirst),
                (false, true) => Some(Self::MonthFirst),
                _ => None,
            }
        })
    }
}

/// Date in one of the usual forms: `2021-11-30`, `11/30/2021`, `11/30/21`, `30.11.2021`, `30-NOV-2021`, `Nov 30 2021`.
pub fn date(text: &str, order: DateOrder) -> Option<Date> {
    let parts: Vec<&str> = text.split(['/', '-', '.', ' ', ',']).filter(|p| !p.is_empty()).collect();
    let [a, b, c] = parts.as_slice() else { return None };
    let number = |t: &str| t.parse::<i16>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
    let year = |t: &str| match (t.len(), number(t)?) {
        (4, y) => Some(y),
        (2, y) => Some(if y < 70 { 2000 + y } else { 1900 + y }),
        _ => None,
    };
    let small = |t: &str| number(t).and_then(|n| i8::try_from(n).ok());
    if a.len() == 4 {
        return Date::new(year(a)?, small(b).or_else(|| month(b))?, small(c)?).ok();
    }
    if let Some(month) = month(b) {
        return Date::new(year(c)?, month, small(a)?).ok();
    }
    if let Some(month) = month(a) {
        return Date::new(year(c)?, month, small(b)?).ok();
    }
    let day_first = order == DateOrder::DayFirst || text.contains('.') || small(a)? > 12;
    let (day, month) =
        if day_first && small(b)? <= 12 { (small(a)?, small(b)?) } else { (small(b)?, small(a)?) };
    Date::new(year(c)?, month, day).ok()
}

/// English name of a month, whole or its first three letters.
pub fn month(text: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let text = text.to_ascii_lowercase();
    let found = MONTHS.iter().position(|m| text.len() >= 3 && m.starts_with(&text))?;
    i8::try_from(found + 1).ok()
}

/// Seconds since midnight: `15:49:57`, `15:49:57.123`, `03:49:57 PM`, `03:49:57PM`, `10:24.25`, `15:49`.
pub fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let (clock, half) = if let Some(t) = upper.strip_suffix("PM") {
        (t.trim_end(), Some(true))
    } else if let Some(t) = upper.strip_suffix("AM") {
        (t.trim_end(), Some(false))
    } else {
        (upper.as_str(), None)
    };
    let mut parts = clock.split(':');
    let whole = |t: &str, max: u32| t.parse::<u32>().ok().filter(|n| *n <= max && t.len() <= 2);
    let mut hours = whole(parts.next()?, 24)?;
    let minutes = parts.next()?;
    let (minutes, seconds) = match (parts.next(), minutes.split_once('.')) {
        (Some(seconds), None) => (whole(minutes, 59)?, seconds.replace(',', ".").parse::<f64>().ok()?),
        (None, Some((minutes, seconds))) => (whole(minutes, 59)?, f64::from(whole(seconds, 60)?)),
        (None, None) => (whole(minutes, 59)?, 0.0),
        _ => return None,
    };
    if parts.next().is_some() || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    if let Some(afternoon) = half {
        if hours == 0 || hours > 12 {
            return None;
        }
        hours = hours % 12 + if afternoon { 12 } else { 0 };
    }
    Some(f64::from(hours * 3600 + minutes * 60) + seconds)
}

/// Seconds since 1970 of a date and time as if they were UTC.
pub fn epoch_s(date: Date, time_of_day_s: f64) -> f64 {
    let midnight = DateTime::from_parts(date, Time::midnight());
    let start = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let days = start.date().until((jiff::Unit::Day, midnight.date())).map_or(0, |s| s.get_days());
    f64::from(days) * DAY_S + time_of_day_s
}

/// Turns times, with or without a date, into intervals: lengths from one time to the next, and over midnight.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Midnight of the current day, on `basis`.
    midnight_s: f64,
    basis: Basis,
    last_s: Option<f64>,
    /// Interval length that the command line told, seconds.
    asked_s: Option<f64>,
    /// Intervals counted where no time is told.
    counted: u64,
}

impl Clock {
    /// Without a date: times count from the first midnight.
    pub fn new() -> Self {
        Self { basis: Basis::TimeOfDay, ..Self::default() }
    }

    /// The date of the times that follow (a banner, a date line).
    pub fn set_date(&mut self, date: Date) {
        self.midnight_s = epoch_s(date, 0.0);
        self.basis = Basis::Local;
    }

    /// The interval of the command line.
    pub fn asked(&mut self, seconds: f64) {
        if seconds > 0.0 && seconds.is_finite() {
            self.asked_s = Some(seconds);
        }
    }

    /// Counters began anew: the next time has no length.
    pub fn restarted(&mut self) {
        self.last_s = None;
    }

    /// The interval that ends at a time of the day. A time far before the last one is on the next day.
    pub fn time_of_day(&mut self, seconds: f64, kind: RowsKind) -> Interval {
        let mut at_s = self.midnight_s + seconds;
        if let Some(last) = self.last_s {
            while at_s < last - MIDNIGHT_S {
                self.midnight_s += DAY_S;
                at_s += DAY_S;
            }
        }
        self.at(at_s, self.basis, kind)
    }

    /// The interval that ends at a moment which is fully told.
    pub fn moment(&mut self, at_s: f64, basis: Basis, kind: RowsKind) -> Interval {
        self.at(at_s, basis, kind)
    }

    /// The next interval where no time is told.
    pub fn next(&mut self, kind: RowsKind) -> Interval {
        let Some(length) = self.asked_s else { return Interval::unknown(kind) };
        // What is since boot, or an average, is of another length than the one asked for.
        let mut length_s = f64::NAN;
        if kind == RowsKind::Interval {
            self.counted += 1;
            length_s = length;
        }
        Interval { at_s: self.counted as f64 * length, length_s, basis: Basis::SinceStart, kind }
    }

    fn at(&mut self, at_s: f64, basis: Basis, kind: RowsKind) -> Interval {
        let since = self.last_s.map(|last| at_s - last).filter(|s| *s > 0.0);
        let length_s = match kind {
            RowsKind::Interval => since.or(self.asked_s).unwrap_or(f64::NAN),
            _ => f64::NAN,
        };
        self.last_s = Some(at_s);
        Interval { at_s, length_s, basis, kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date as civil;

    #[test]
    fn dates_of_many_tools() {
        let wanted = Some(civil(2021, 11, 30));
        for text in
            ["2021-11-30", "11/30/2021", "11/30/21", "30/11/2021", "30.11.2021", "30-NOV-2021", "Nov 30 2021"]
        {
            assert_eq!(date(text, DateOrder::MonthFirst), wanted, "{text}");
        }
        assert_eq!(date("01/02/2009", DateOrder::MonthFirst), Some(civil(2009, 1, 2)));
        assert_eq!(date("01/02/2009", DateOrder::DayFirst), Some(civil(2009, 2, 1)));
        assert_eq!(DateOrder::shown_by(["01/02/09", "27/07/10"]), Some(DateOrder::DayFirst));
        for bad in ["", "1/2", "13/13/2020", "2021-02-30", "a/b/c", "99999/1/1"] {
            assert_eq!(date(bad, DateOrder::MonthFirst), None, "{bad}");
        }
    }

    #[test]
    fn times_of_many_tools() {
        assert_eq!(time_of_day("15:49:57"), Some(56_997.0));
        assert_eq!(time_of_day("03:49:57 PM"), Some(56_997.0));
        assert_eq!(time_of_day("12:00:01 AM"), Some(1.0));
        assert_eq!(time_of_day("10:24.25"), Some(37_465.0));
        assert_eq!(time_of_day("00:00:01.5"), Some(1.5));
        for bad in ["", "25:00:00", "10", "13:00:00 PM", "1:2:3:4", "aa:bb:cc", "10:61:00"] {
            assert_eq!(time_of_day(bad), None, "{bad}");
        }
        assert_eq!(epoch_s(civil(2009, 1, 2), 300.0), 1_230_854_700.0);
    }

    #[test]
    fn the_clock_goes_over_midnight() {
        let mut clock = Clock::new();
        clock.set_date(civil(2009, 1, 2));
        let first = clock.time_of_day(86_100.0, RowsKind::Interval);
        assert!(first.length_s.is_nan());
        let second = clock.time_of_day(0.0, RowsKind::Interval);
        assert_eq!((second.length_s, second.at_s - first.at_s), (300.0, 300.0));
        clock.restarted();
        assert!(clock.time_of_day(600.0, RowsKind::Interval).length_s.is_nan());
    }
}
