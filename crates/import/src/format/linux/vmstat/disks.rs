//! `vmstat -d`: counters of disks since boot, report after report.

use crate::clock::{Clock, DateOrder, date, epoch_s, time_of_day};
use crate::format::Took;
use crate::format::linux::device;
use crate::out::Out;
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::*;
use record::imported::{Basis, RowsKind};

const SECTOR: f64 = 512.0;

/// `disk- ------------reads------------ ------------writes----------- -----IO------`.
pub(super) fn is_header(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("disk") && line.contains("-reads-") && line.contains("-writes-")
}

/// Reads rows.
#[derive(Default)]
pub(super) struct Disks {
    clock: Clock,
    /// The first device: when it comes again, a report begins.
    first: String,
    stamp: String,
}

impl Disks {
    /// A header.
    pub fn begin(&mut self, out: &mut Out<'_>) {
        out.platform(record::imported::Platform::Linux);
    }

    /// A row, or the second line of the header.
    pub fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let cells = words(line);
        if cells.first() == Some(&"total") || cells.contains(&"merged") {
            return Took::Yes;
        }
        let numbers: Vec<f64> = cells.iter().skip(1).take(10).map_while(|c| decimal(c)).collect();
        let [reads, rmerged, rsectors, rms, writes, wmerged, wsectors, wms, now, seconds] =
            numbers.as_slice()
        else {
            if numbers.len() < 5 {
                return Took::No;
            }
            out.complain("a disk and 10 numbers", line);
            return Took::Yes;
        };
        let name = cells[0];
        let stamp = cells.get(11..).unwrap_or_default().join(" ");
        if self.first.is_empty() {
            self.first = name.to_owned();
        }
        if name == self.first || stamp != self.stamp {
            let moment = match stamp.split_once(' ') {
                Some((day, time)) => date(day, DateOrder::MonthFirst)
                    .and_then(|day| Some(epoch_s(day, time_of_day(time)?)))
                    .map(|at_s| self.clock.moment(at_s, Basis::Local, RowsKind::Instant)),
                None => None,
            };
            out.interval(moment.unwrap_or_else(|| self.clock.next(RowsKind::Instant)));
            self.stamp = stamp;
        }
        let place = out.place(device::kind(name), name);
        out.put(
            place,
            &[
                (Reads, *reads),
                (ReadMerges, *rmerged),
                (ReadBytes, rsectors * SECTOR),
                (ReadTimeS, rms / 1000.0),
                (Writes, *writes),
                (WriteMerges, *wmerged),
                (WriteBytes, wsectors * SECTOR),
                (WriteTimeS, wms / 1000.0),
                (OutstandingInstant, *now),
                (BusyTimeS, *seconds),
            ],
        );
        Took::Yes
    }
}
