//! Lines that are a moment and nothing else: what `-T u` and `-T d` print, date(1), and the stamps of OSWatcher.

use crate::clock::{DateOrder, date, epoch_s, month, time_of_day};
use record::imported::Basis;

/// Seconds since 1970 of a line that only tells a moment: an epoch number, or date and time in words, in any order:
/// `Tue Nov 30 15:49:57 EST 2021`, `Wednesday, June  4, 2014 05:00:01 PM PDT`, `zzz ***Tue Nov 30 15:49:57 UTC 2021`,
/// `2021-11-30 15:49:57`. Of the zones only UTC is known; with any other the host's local time is told.
pub(crate) fn moment(line: &str) -> Option<(f64, Basis)> {
    let line = line.trim();
    let line = line.strip_prefix("zzz").map_or(line, str::trim_start).trim_start_matches('*');
    if line.len() > 64 || line.len() < 9 || !line.is_ascii() {
        return None;
    }
    if line.bytes().all(|b| b.is_ascii_digit()) {
        return line.parse().ok().filter(|_| line.len() <= 10).map(|s: f64| (s, Basis::Utc));
    }
    let mut read = Parts::default();
    for word in line.split([' ', '\t', ',']).filter(|w| !w.is_empty()) {
        read.word(word)?;
    }
    read.finish()
}

#[derive(Default)]
struct Parts {
    day: Option<jiff::civil::Date>,
    year: Option<i16>,
    month: Option<i8>,
    of_month: Option<i8>,
    time: Option<String>,
    half: Option<String>,
    utc: bool,
}

impl Parts {
    /// Takes a word; absent when it is no part of a moment, or comes twice.
    fn word(&mut self, word: &str) -> Option<()> {
        fn once<T>(into: &mut Option<T>, value: T) -> Option<()> {
            into.is_none().then(|| *into = Some(value))
        }
        if word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit()) {
            return once(&mut self.time, word.to_owned());
        }
        if word.bytes().all(|b| b.is_ascii_digit()) {
            return match word.len() {
                4 => once(&mut self.year, word.parse().ok()?),
                1 | 2 => once(&mut self.of_month, word.parse().ok()?),
                _ => None,
            };
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return once(&mut self.day, date(word, DateOrder::MonthFirst)?);
        }
        if matches!(word, "AM" | "PM" | "am" | "pm") {
            return once(&mut self.half, word.to_owned());
        }
        if is_weekday(word) {
            return Some(());
        }
        if let Some(month) = month(word).filter(|_| self.month.is_none()) {
            self.month = Some(month);
            return Some(());
        }
        self.utc |= matches!(word, "UTC" | "GMT" | "Z");
        let zone_letters = word.len() <= 5 && word.bytes().all(|b| b.is_ascii_uppercase());
        let offset = word.starts_with(['+', '-']) && word.len() <= 6 && word.len() > 2;
        (zone_letters || offset).then_some(())
    }

    fn finish(self) -> Option<(f64, Basis)> {
        let day = match self.day {
            Some(day) => day,
            None => jiff::civil::Date::new(self.year?, self.month?, self.of_month?).ok()?,
        };
        let time = format!("{}{}", self.time?, self.half.unwrap_or_default());
        let basis = if self.utc { Basis::Utc } else { Basis::Local };
        Some((epoch_s(day, time_of_day(&time)?), basis))
    }
}

/// English name of a day, whole or its first three letters.
fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    let word = word.to_ascii_lowercase();
    word.len() >= 3 && DAYS.iter().any(|d| d.starts_with(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_as_tools_print_them() {
        let wanted = 1_638_287_397.0;
        for line in [
            "1638287397",
            "Tue Nov 30 15:49:57 UTC 2021",
            "Tuesday, November 30, 2021 03:49:57 PM GMT",
            "zzz ***Tue Nov 30 15:49:57 UTC 2021",
        ] {
            assert_eq!(moment(line), Some((wanted, Basis::Utc)), "{line}");
        }
        for line in ["Tue Nov 30 15:49:57 2021", "2021-11-30 15:49:57", "November 30, 2021 03:49:57 PM EST"] {
            assert_eq!(moment(line), Some((wanted, Basis::Local)), "{line}");
        }
        for bad in
            ["", "Tue Nov 30", "device", "0.0 0.0 0.0 0", "sd0 1 2 3 4 5 6", "123456789012", "1 2 3 4 5"]
        {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }
}
