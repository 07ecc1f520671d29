//! Lines of date and time between reports (option -t), in the order that the locale asks for.

use crate::clock::{DateOrder, date, epoch_s, time_of_day};
use crate::format::sysstat::banner::plain_date;
use crate::format::sysstat::sar::stamp::clock_of;
use record::imported::Basis;

/// Reads them. The order of day and month is learned from the first date that shows it.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    order: Option<DateOrder>,
    /// The date read last could have been read in another order.
    pub doubtful: bool,
}

impl Moments {
    /// The order of day and month, by this date or one before.
    pub fn order(&mut self, date: &str) -> DateOrder {
        self.order = self.order.or_else(|| DateOrder::shown_by([date]));
        self.order.unwrap_or_default()
    }

    /// `02/10/2020 11:20:39 AM`, `2010-07-27T12:46:07+1000`.
    pub fn read(&mut self, line: &str) -> Option<(f64, Basis)> {
        if !line.as_bytes().first()?.is_ascii_digit() || line.len() > 60 {
            return None;
        }
        if let Some((day, rest)) = line.split_once('T') {
            let at = rest.find(['+', '-', 'Z']).unwrap_or(rest.len());
            let (time, zone) = rest.split_at(at);
            let seconds = epoch_s(date(day, DateOrder::MonthFirst)?, time_of_day(time)?);
            return match offset_s(zone) {
                Some(offset) => Some((seconds - offset, Basis::Utc)),
                None => Some((seconds, Basis::Local)),
            };
        }
        let (day, time) = line.split_once(' ')?;
        let day = plain_date(day);
        let order = self.order(&day);
        let seconds = clock_of(time).or_else(|| time_of_day(time))?;
        let at_s = epoch_s(date(&day, order)?, seconds);
        let is_doubtful =
            self.order.is_none() && date(&day, DateOrder::MonthFirst) != date(&day, DateOrder::DayFirst);
        // A clock with AM and PM is that of a country where the month comes first.
        self.doubtful = is_doubtful && !time.to_ascii_uppercase().ends_with('M');
        Some((at_s, Basis::Local))
    }
}

/// Seconds east of UTC: `+1000`, `-05:30`, `Z`.
fn offset_s(zone: &str) -> Option<f64> {
    if zone == "Z" {
        return Some(0.0);
    }
    let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = zone.get(1..)?.chars().filter(|c| *c != ':').collect();
    let number: u32 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * f64::from(number / 100 * 3600 + number % 100 * 60))
}
