//! Lines that collectors (OSWatcher, ExaWatcher, scripts with `date`) put between the reports of other tools.

use crate::clock::{DateOrder, date, epoch_s, month, time_of_day};
use crate::text::words;
use record::imported::Basis;

/// The time of a snapshot: `zzz ***Wed Mar 13 00:10:00 CET 2024`, `zzz <03/13/2024 00:10:00> Count:0`.
pub(crate) fn snapshot(line: &str) -> Option<(f64, Basis)> {
    line.strip_prefix("zzz").and_then(moment)
}

/// Lines that say nothing of use: settings of the collector.
pub(crate) fn is_noise(line: &str) -> bool {
    const BEGINNINGS: [&str; 8] =
        ["Linux OSW", "SNAP_INTERVAL", "CPU_COUNT", "CPU_CORES", "VCPUS", "OSWBB_", "zzz", "############"];
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// Lines of time that collectors put above a dump: `1306544864`, `2024-03-13 00:10:00`, `Wed Mar 13 00:10:00 CET 2024`,
/// with marks such as `zzz ***` or `===` around.
pub(crate) fn moment(line: &str) -> Option<(f64, Basis)> {
    let line = line.split(" Count:").next().unwrap_or(line);
    let text = line.trim_start_matches("zzz").trim_matches(|c: char| "*=-#<> ".contains(c));
    if text.len() > 60 {
        return None;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if is_number(whole) && is_number(fraction) && (9..=10).contains(&whole.len()) {
        return Some((text.parse().ok()?, Basis::Utc));
    }
    let cells = words(text);
    let is_utc = cells.iter().any(|c| matches!(*c, "UTC" | "GMT"));
    let basis = if is_utc { Basis::Utc } else { Basis::Local };
    let half = cells.iter().find(|c| matches!(**c, "AM" | "PM")).copied().unwrap_or("");
    let read = |c: &&str| time_of_day(&format!("{} {half}", c.trim_end_matches('Z')));
    let time = cells.iter().filter(|c| c.contains(':')).find_map(read);
    if let Some(named) = cells.iter().position(|c| c.len() >= 3 && month(c).is_some()) {
        // `Wed Mar 13 00:10:00 CET 2024`, `Wed 13 Mar 2024 00:10:00 CET`.
        let number = |c: &&str| c.parse::<u16>().ok();
        let year = cells.iter().filter_map(number).find(|n| *n > 1969)?;
        let day = [named.checked_sub(1), Some(named + 1)].into_iter().flatten();
        let day = day.filter_map(|n| cells.get(n)).filter_map(number).find(|n| (1..=31).contains(n))?;
        let date = date(&format!("{day}-{}-{year}", cells[named]), DateOrder::DayFirst)?;
        return Some((epoch_s(date, time?), basis));
    }
    let (day, time) = match cells.as_slice() {
        [stamp] => stamp.split_once('T').map(|(day, time)| (day, time_of_day(time.trim_end_matches('Z'))))?,
        [day, ..] => (*day, time),
        [] => return None,
    };
    let basis = if text.ends_with('Z') { Basis::Utc } else { basis };
    Some((epoch_s(date(day, DateOrder::MonthFirst)?, time?), basis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_above_dumps() {
        let wanted = 1_710_288_600.0;
        for (text, basis) in [
            ("1710288600", Basis::Utc),
            ("=== 2024-03-13 00:10:00 ===", Basis::Local),
            ("2024-03-13T00:10:00Z", Basis::Utc),
            ("zzz <03/13/2024 00:10:00> Count:0", Basis::Local),
            ("zzz ***Wed Mar 13 00:10:00 CET 2024", Basis::Local),
            ("Wed 13 Mar 2024 00:10:00 UTC", Basis::Utc),
            ("Wed Mar 13 12:10:00 AM UTC 2024", Basis::Utc),
        ] {
            assert_eq!(moment(text), Some((wanted, basis)), "{text}");
        }
        for other in ["", "sda", "May be", "8 0 sda", "12", "March of progress"] {
            assert_eq!(moment(other), None, "{other}");
        }
    }
}
