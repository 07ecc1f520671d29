//! fio's logs (`write_lat_log`, `write_bw_log`, `write_iops_log`, `write_hist_log`): numbers by commas, without a header.

use super::log_kind::{Kind, Line, decide};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::IoClass;
use record::imported::{Basis, Interval, Origin, PlaceId, PlaceKind, Quantity, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "fio-log",
    title: "fio, logs of latency, bandwidth, IOPS and histograms",
    recognise,
    // A line of four numbers begins nothing by itself.
    reads: Reads::Lines { new: || Box::new(Log::default()), begins: |_| false },
};

/// Lines that the kind is decided by.
const SAMPLE: usize = 1024;
/// Bins of a histogram since version 3 (nanoseconds) and before (microseconds), at coarseness 0.
const BINS_NS: usize = 1856;
const BINS_US: usize = 1216;
/// No interval has so many I/Os: some versions of fio 3 print memory that was never written.
const COUNT_MAX: f64 = 1e12;
const COARSENESS_MAX: u32 = 6;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let lines: Vec<&str> = head.lines.iter().filter(|l| !l.trim().is_empty()).copied().collect();
    let first = *lines.first()?;
    if histogram(first).is_some() {
        return Likeness::new(90, "lines of time, direction, size and the bins of a histogram");
    }
    let read: Vec<Line> = lines.iter().filter_map(|l| sample(l)).collect();
    // Times grow, but for several threads that wrote into one.
    let back = read.windows(2).filter(|w| matches!(w, [a, b] if b.time_ms < a.time_ms)).count();
    // Some lines may be damaged.
    let fits = read.len() * 4 >= lines.len() * 3 && back * 4 <= read.len();
    fits.then_some(())?;
    Likeness::new(60, format!("lines of time, value, direction and size like '{first}'"))
}

/// `1000, 1301200, 0, 0[, 4096[, 0x0004]]`.
fn sample(line: &str) -> Option<Line> {
    let mut fields = line.split(',').map(str::trim);
    let whole = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| decimal(text)).flatten();
    let time_ms = whole(fields.next()?)?;
    let value = whole(fields.next()?)?;
    let direction = match fields.next()? {
        "0" => 0,
        "1" => 1,
        "2" => 2,
        _ => return None,
    };
    let bytes = whole(fields.next()?)?;
    let mut more = 0;
    for field in fields {
        more += 1;
        let hex = field.strip_prefix("0x").is_some_and(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
        (hex || whole(field).is_some()).then_some(())?;
    }
    (more <= 4).then_some(Line { time_ms, value, direction, bytes, is_wide: more > 0 })
}

/// Time, direction and the bins of a line of a histogram log: nanoseconds or microseconds, with their coarseness.
fn histogram(line: &str) -> Option<(f64, u8, Vec<f64>, f64, u32)> {
    let columns = memchr::memchr_iter(b',', line.as_bytes()).count() + 1;
    let bins = columns.checked_sub(3)?;
    let (to_us, coarseness) = (0..COARSENESS_MAX)
        .find_map(|c| {
            let unit = [(BINS_NS, 1e-3), (BINS_US, 1.0)].into_iter().find(|(all, _)| all >> c == bins)?;
            Some((unit.1, c))
        })
        .filter(|_| bins >= 19)?;
    let mut fields = line.split(',').map(|f| decimal(f.trim()));
    let time_ms = fields.next()??;
    let direction = fields.next()?.filter(|d| (0.0..=2.0).contains(d))? as u8;
    fields.next()??;
    let counts: Option<Vec<f64>> = fields.collect();
    Some((time_ms, direction, counts?, to_us, coarseness))
}

/// Upper bound of a bin, in the unit of the histogram: 64 bins of width 1, and then 64 in each doubling.
fn upper(bin: usize, coarseness: u32) -> f64 {
    let edge = |index: usize| {
        if index < 128 {
            return index as f64;
        }
        let bits = (index >> 6) as i32 - 1;
        2f64.powi(bits + 6) + (index & 63) as f64 * 2f64.powi(bits)
    };
    edge((bin + 1) << coarseness)
}

/// The reader.
#[derive(Default)]
struct Log {
    held: Vec<(Line, Origin)>,
    kind: Option<Kind>,
    /// End of the last interval of each direction.
    last_ms: [f64; 3],
    place: Option<PlaceId>,
    /// Counts of all histograms, by direction; unit and coarseness.
    sums: [Vec<f64>; 3],
    bins: (f64, u32),
    sample_full: bool,
}

impl LineFormat for Log {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some(read) = sample(trimmed) {
            if self.kind.is_some() {
                self.say(read, out.origin(), out);
            } else {
                self.held.push((read, out.origin()));
                if self.held.len() >= SAMPLE {
                    self.decided(out);
                }
            }
            return Took::Yes;
        }
        if let Some((time_ms, direction, counts, to_us, coarseness)) = histogram(trimmed) {
            self.bins = (to_us, coarseness);
            if counts.iter().any(|n| *n >= COUNT_MAX) {
                out.complain("counts of a histogram", "counts that no disk can reach");
                return Took::Yes;
            }
            self.histogram(time_ms, direction, &counts, out);
            return Took::Yes;
        }
        if trimmed.starts_with(|c: char| c.is_ascii_digit()) && trimmed.contains(',') {
            out.complain("time, value, direction, size", trimmed);
            return Took::Yes;
        }
        Took::No
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.decided(out);
        let place = self.place(out);
        let (to_us, coarseness) = self.bins;
        for (direction, class) in [(0, Some(IoClass::Read)), (1, Some(IoClass::Write)), (2, None)] {
            let Some(counts) = self.sums.get_mut(direction).map(std::mem::take) else { continue };
            let bins = counts.iter().enumerate().filter(|(_, n)| **n > 0.0);
            let buckets: Vec<(f64, f64)> =
                bins.map(|(bin, n)| (upper(bin, coarseness) * to_us, *n)).collect();
            if !buckets.is_empty() {
                out.distribution(place, Quantity::ResponseUs, class, buckets);
            }
        }
    }
}

impl Log {
    fn place(&mut self, out: &mut Out<'_>) -> PlaceId {
        // The name of the job stands in the name of the file alone.
        *self.place.get_or_insert_with(|| out.place(PlaceKind::Job, ""))
    }

    fn decided(&mut self, out: &mut Out<'_>) {
        if self.held.is_empty() || self.sample_full {
            return;
        }
        self.sample_full = true;
        let lines: Vec<Line> = self.held.iter().map(|(line, _)| *line).collect();
        let kind = decide(&lines);
        out.remark(kind.why);
        self.kind = Some(kind);
        for (line, origin) in std::mem::take(&mut self.held) {
            self.say(line, origin, out);
        }
    }

    fn say(&mut self, line: Line, origin: Origin, out: &mut Out<'_>) {
        let Some(kind) = &self.kind else { return };
        let of = usize::from(line.direction).min(2);
        let (quantity, factor) = (kind.quantities[of], kind.factor);
        let is_each = line.bytes > 0.0;
        let length_s = if is_each { f64::NAN } else { self.length_s(of, line.time_ms) };
        let kind = if is_each { RowsKind::Request } else { RowsKind::Interval };
        out.interval(Interval { at_s: line.time_ms / 1e3, length_s, basis: Basis::SinceStart, kind });
        let place = self.place(out);
        let size = if is_each { line.bytes } else { f64::NAN };
        let is_write = if line.direction == 2 { f64::NAN } else { f64::from(line.direction) };
        let values =
            [(quantity, line.value * factor), (Quantity::RequestBytes, size), (Quantity::IsWrite, is_write)];
        out.put_from(origin, place, &values);
    }

    fn length_s(&mut self, direction: usize, time_ms: f64) -> f64 {
        let last = self.last_ms.get_mut(direction).map_or(0.0, |last| std::mem::replace(last, time_ms));
        if time_ms > last { (time_ms - last) / 1e3 } else { f64::NAN }
    }

    /// Counts since the line before of the same direction (the log holds differences).
    fn histogram(&mut self, time_ms: f64, direction: u8, counts: &[f64], out: &mut Out<'_>) {
        let of = usize::from(direction).min(2);
        let (to_us, coarseness) = self.bins;
        let total: f64 = counts.iter().sum();
        let at = |share: f64| {
            let mut passed = 0.0;
            let bin = counts.iter().position(|n| {
                passed += n;
                passed >= share * total
            });
            bin.filter(|_| total > 0.0).map_or(f64::NAN, |bin| upper(bin, coarseness) * to_us)
        };
        let names = match direction {
            0 => [
                Quantity::Reads,
                Quantity::ReadResponseP50Us,
                Quantity::ReadResponseP95Us,
                Quantity::ReadResponseP99Us,
                Quantity::ReadResponseP999Us,
            ],
            1 => [
                Quantity::Writes,
                Quantity::WriteResponseP50Us,
                Quantity::WriteResponseP95Us,
                Quantity::WriteResponseP99Us,
                Quantity::WriteResponseP999Us,
            ],
            _ => [
                Quantity::Discards,
                Quantity::ResponseP50Us,
                Quantity::ResponseP95Us,
                Quantity::ResponseP99Us,
                Quantity::ResponseP999Us,
            ],
        };
        let length_s = self.length_s(of, time_ms);
        out.interval(Interval {
            at_s: time_ms / 1e3,
            length_s,
            basis: Basis::SinceStart,
            kind: RowsKind::Interval,
        });
        let place = self.place(out);
        let row = [total, at(0.5), at(0.95), at(0.99), at(0.999)];
        let pairs: Vec<(Quantity, f64)> = names.into_iter().zip(row).collect();
        out.put(place, &pairs);
        let sums = &mut self.sums[of];
        sums.resize(sums.len().max(counts.len()), 0.0);
        for (sum, n) in sums.iter_mut().zip(counts) {
            *sum += n;
        }
    }
}
