//! I/O by tablespace, file, function and type of file.

use super::{Report, value};
use crate::out::Out;
use record::imported::Quantity::{self, *};
use record::imported::{Origin, PlaceKind};

/// How a cell is read.
#[derive(Clone, Copy)]
enum As {
    Count,
    Data,
    /// A number without a unit is milliseconds.
    Time,
}

/// Columns of tablespaces and files, of 8i to 19c, without spaces and in lower case.
const FILES: [(&str, Quantity, As); 22] = [
    ("reads", Reads, As::Count),
    ("avreads/s", ReadIops, As::Count),
    ("avrds/s", ReadIops, As::Count),
    ("avreads/sec", ReadIops, As::Count),
    ("avrd(ms)", ReadResponseUs, As::Time),
    ("avrd", ReadResponseUs, As::Time),
    ("avblks/rd", BlocksPerRead, As::Count),
    ("1-bkrds/s", SingleBlockReadIops, As::Count),
    ("av1-bkrd(ms)", SingleBlockReadUs, As::Time),
    ("av1-bkrd", SingleBlockReadUs, As::Time),
    ("1-bkrd(ms)", SingleBlockReadUs, As::Time),
    ("writes", Writes, As::Count),
    ("avwrites/s", WriteIops, As::Count),
    ("writesavg/s", WriteIops, As::Count),
    ("writesav/s", WriteIops, As::Count),
    ("avwrts/s", WriteIops, As::Count),
    ("bufferwaits", BufferWaits, As::Count),
    ("avbufwt(ms)", BufferWaitUs, As::Time),
    ("avbufwt", BufferWaitUs, As::Time),
    ("bufwt(ms)", BufferWaitUs, As::Time),
    ("avbufferwt(ms)", BufferWaitUs, As::Time),
    ("bufferwt(ms)", BufferWaitUs, As::Time),
];

/// Columns that are known and of no use here.
const UNREAD: [&str; 5] = ["tablespace", "filename", "ts#", "mxrdbkt", "file#"];

fn column(label: &str) -> Option<(Quantity, As)> {
    FILES.iter().find(|(l, ..)| *l == label).map(|(_, q, a)| (*q, *a))
}

/// Columns of such a table that are not known.
pub(super) fn unknown(columns: &[String]) -> Vec<&str> {
    let is_known = |c: &str| column(c).is_some() || UNREAD.contains(&c);
    columns.iter().map(String::as_str).filter(|c| !c.is_empty() && !is_known(c)).collect()
}

/// Whether columns are those of tablespaces or files.
pub(super) fn is_files(columns: &[String]) -> bool {
    columns.iter().any(|c| c == "tablespace") && columns.iter().filter(|c| column(c).is_some()).count() >= 3
}

fn read(cell: &str, how: As) -> Option<f64> {
    match how {
        As::Count => value::count(cell),
        As::Data => value::data(cell),
        As::Time => value::time_us(cell, 1e3),
    }
}

/// What a column of I/O by function or type of file holds. Labels repeat: `Reqs per sec` of reads, then of writes.
fn function_column(columns: &[String], at: usize) -> Option<(Quantity, As)> {
    let is_write = columns.iter().take(at + 1).any(|c| c.starts_with("writes"));
    let either = |read, write| if is_write { write } else { read };
    match columns.get(at)?.as_str() {
        "reads:data" | "writes:data" | "reads:" | "writes:" | "data" => {
            Some((either(ReadBytes, WriteBytes), As::Data))
        }
        "reqspersec" | "reads:reqspersec" | "writes:reqspersec" | "reqs/sec" => {
            Some((either(ReadIops, WriteIops), As::Count))
        }
        "datapersec" | "data/sec" => Some((either(ReadBytesPerS, WriteBytesPerS), As::Data)),
        "waits:count" | "count" => Some((Waits, As::Count)),
        "avgtm(ms)" | "avgtime" | "waits:avgtm(ms)" | "avgtime(ms)" => Some((WaitUs, As::Time)),
        "smallread" => Some((SmallReadUs, As::Time)),
        "largeread" => Some((LargeReadUs, As::Time)),
        _ => None,
    }
}

impl Report {
    /// A row of tablespaces or files.
    pub(crate) fn file(&mut self, origin: Origin, line: Option<&str>, cells: &[&str], out: &mut Out<'_>) {
        let of = |label: &str| {
            let at = self.table.columns.iter().position(|c| c == label)?;
            cells.get(at).map(|c| c.trim()).filter(|c| !c.is_empty())
        };
        let (kind, name) = match (of("filename"), of("tablespace")) {
            (Some(file), _) => (PlaceKind::DatabaseFile, file),
            (None, Some(tablespace)) => (PlaceKind::Tablespace, tablespace),
            (None, None) => return,
        };
        let values: Option<Vec<(Quantity, f64)>> = self
            .table
            .columns
            .iter()
            .zip(cells)
            .filter_map(|(c, cell)| column(c).map(|(q, how)| (q, cell, how)))
            .map(|(q, cell, how)| read(cell, how).map(|v| (q, v)))
            .collect();
        let Some(mut values) = values.filter(|v| v.iter().any(|(_, v)| v.is_finite())) else {
            let found = line.map_or_else(|| cells.join(" "), str::to_owned);
            return out.complain("reads, writes and their times", &found);
        };
        // Where nothing was read, 0 ms is no time.
        let none = |wanted: Quantity| values.iter().any(|(q, v)| *q == wanted && *v == 0.0);
        let (no_reads, no_waits) = (none(Reads), none(BufferWaits));
        for (quantity, v) in &mut values {
            let is_of_none = match quantity {
                ReadResponseUs | BlocksPerRead | SingleBlockReadUs => no_reads,
                BufferWaitUs => no_waits,
                _ => false,
            };
            if is_of_none {
                *v = f64::NAN;
            }
        }
        self.heading.begin_period(out);
        let place = out.place(kind, name);
        if let (PlaceKind::DatabaseFile, Some(tablespace)) = (kind, of("tablespace")) {
            out.fact(place, record::imported::facts::PART_OF, tablespace);
        }
        out.put_from(origin, place, &values);
    }

    /// A row of I/O by function, or by type of file.
    pub(crate) fn function(
        &mut self,
        origin: Origin,
        line: Option<&str>,
        name: &str,
        cells: &[&str],
        out: &mut Out<'_>,
    ) {
        let name = name.trim();
        if name.is_empty() || name.trim_end_matches(':').eq_ignore_ascii_case("total") {
            return;
        }
        let columns = &self.table.columns;
        let values: Option<Vec<(Quantity, f64)>> = cells
            .iter()
            .enumerate()
            .filter_map(|(at, cell)| function_column(columns, at).map(|(q, how)| (q, cell, how)))
            .map(|(q, cell, how)| read(cell, how).map(|v| (q, v)))
            .collect();
        let Some(values) = values.filter(|v| v.iter().any(|(_, v)| v.is_finite())) else {
            let found = line.map_or_else(|| cells.join(" "), str::to_owned);
            return out.complain("a function and what it read and wrote", &found);
        };
        let name = whole_function(name);
        self.heading.begin_period(out);
        let place = out.place(PlaceKind::IoFunction, name);
        out.put_from(origin, place, &values);
    }

    /// A row of the histogram of single-block reads of Statspack: tablespace, file, counts by range.
    pub(crate) fn file_histogram(&mut self, origin: Origin, cells: &[&str], out: &mut Out<'_>) {
        let columns = &self.table.columns;
        let at = columns.iter().position(|c| c == "filename");
        let Some(name) = at.and_then(|at| cells.get(at)).map(|c| c.trim()).filter(|c| !c.is_empty()) else {
            return;
        };
        let buckets: Option<Vec<(f64, f64)>> = columns
            .iter()
            .zip(cells)
            .filter_map(|(c, cell)| range_end(c).map(|end| (end, cell)))
            .map(|(end, cell)| value::count(cell).map(|n| (end, if n.is_nan() { 0.0 } else { n })))
            .collect();
        match buckets {
            Some(buckets) if buckets.iter().any(|(_, n)| *n > 0.0) => {
                let place = out.place(PlaceKind::DatabaseFile, name);
                let class = Some(record::IoClass::Read);
                out.distribution_from(origin, place, SingleBlockReadUs, class, buckets);
            }
            Some(_) => {}
            None => out.complain("numbers of reads by range", &cells.join(" ")),
        }
    }
}

/// `0-2ms` ends at 2000 us, `32+ms` nowhere.
fn range_end(label: &str) -> Option<f64> {
    let text = label.strip_suffix("ms")?;
    if text.ends_with('+') {
        return Some(f64::INFINITY);
    }
    text.split_once('-')?.1.parse::<f64>().ok().map(|ms| ms * 1000.0)
}

/// The text report cuts names of functions at 15 letters.
fn whole_function(name: &str) -> &str {
    const LONG: [&str; 5] =
        ["Buffer Cache Reads", "Streams AQ", "Smart Scan", "Archive Manager", "Inmemory Populate"];
    let is_cut = name.len() >= 14;
    LONG.iter().find(|long| is_cut && long.starts_with(name)).copied().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_repeat_for_writes() {
        let columns: Vec<String> = ["functionname", "reads:data", "reqspersec", "writes:data", "reqspersec"]
            .map(str::to_owned)
            .to_vec();
        let of = |at| function_column(&columns, at).map(|(q, _)| q);
        assert_eq!(
            [of(1), of(2), of(3), of(4)],
            [Some(ReadBytes), Some(ReadIops), Some(WriteBytes), Some(WriteIops)]
        );
        assert_eq!((of(0), of(9)), (None, None));
    }

    #[test]
    fn ranges_of_the_read_histogram() {
        assert_eq!((range_end("0-2ms"), range_end("32+ms")), (Some(2000.0), Some(f64::INFINITY)));
        assert_eq!((range_end("tablespace"), range_end("x-yms")), (None, None));
    }
}
