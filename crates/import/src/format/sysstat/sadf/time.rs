//! Times of sadf.

use crate::clock::{DateOrder, date, epoch_s, time_of_day};
use record::imported::Basis;

/// `2011-05-28 01:07:44 UTC`, the same without a zone (options -t, -T: local time), or seconds since 1970 (-U, and
/// before 8.1). Colons may be dashes in XML (a bug of one release).
pub(crate) fn moment(text: &str) -> Option<(f64, Basis)> {
    let text = text.trim();
    if !text.is_empty() && text.len() < 12 && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some((text.parse().ok()?, Basis::Utc));
    }
    let (day, rest) = text.split_once([' ', 'T'])?;
    let rest = rest.trim();
    let (time, zone) = rest.split_once(' ').unwrap_or((rest, ""));
    let (time, zone) = time.strip_suffix('Z').map_or((time, zone), |time| (time, "UTC"));
    let basis = if matches!(zone, "UTC" | "GMT") { Basis::Utc } else { Basis::Local };
    Some((joined(day, time)?, basis))
}

/// Seconds since 1970 of a date and a time.
pub(crate) fn joined(day: &str, time: &str) -> Option<f64> {
    let seconds = time_of_day(time).or_else(|| time_of_day(&time.replace('-', ":")))?;
    Some(epoch_s(date(day, DateOrder::MonthFirst)?, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_options() {
        assert_eq!(moment("2011-05-28 01:07:44 UTC"), Some((1_306_544_864.0, Basis::Utc)));
        assert_eq!(moment("2011-05-28 01:07:44"), Some((1_306_544_864.0, Basis::Local)));
        assert_eq!(moment("2011-05-28 01:07:44 CEST"), Some((1_306_544_864.0, Basis::Local)));
        assert_eq!(moment("1306544864"), Some((1_306_544_864.0, Basis::Utc)));
        assert_eq!(joined("2012-12-31", "05-10-01"), Some(1_356_930_601.0));
        assert_eq!(moment("sda"), None);
    }
}
