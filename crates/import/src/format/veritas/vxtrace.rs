//! `vxtrace`: one request per START and END. `len` and `block` are in blocks of 512 bytes. `time` is in ticks of the host's
//! clock, hundredths of a second as a rule, and whole: a request of less than a tick prints 0. With option -l a second
//! number is the tick at which the request began, and `concurrency` the requests pending on that volume (vxtrace(1M)).

use super::kind;
use crate::format::columns::SECTOR;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::*;
use record::imported::{Basis, Interval, Origin, PlaceKind, RowsKind};
use std::collections::BTreeMap;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "vxtrace",
    title: "vxtrace of Veritas Volume Manager",
    recognise,
    reads: Reads::Lines { new: || Box::new(Vxtrace::default()), begins },
};

/// Requests that may be outstanding; of more, the oldest are told without a time.
const OPEN_MAX: usize = 65_536;
/// Ticks of a second.
const TICKS_PER_S: f64 = 100.0;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(94, "a traced request", head.find(begins)?)
}

fn begins(line: &str) -> bool {
    matches!(Record::read(line), Some(Ok(_)))
}

/// One line: `2001 START read vol data1 op 0 block 4000000 len 32`.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    id: u64,
    /// The tick at which the request began (option -l).
    tick: Option<f64>,
    is_end: bool,
    is_write: bool,
    kind: PlaceKind,
    object: String,
    block: f64,
    len: f64,
    time: Option<f64>,
    concurrency: Option<f64>,
}

impl Record {
    /// Absent when the line is none of vxtrace; an error says what is damaged.
    fn read(line: &str) -> Option<Result<Self, &'static str>> {
        if line.len() > 1000 {
            return None;
        }
        // What someone wrote behind a line, pointing at it.
        let line = line.split("<-").next().unwrap_or(line);
        let cells = words(line);
        let id: u64 = cells.first()?.parse().ok()?;
        let at = cells.iter().take(3).position(|c| matches!(*c, "START" | "END"))?;
        let tick = if at == 2 { decimal(cells.get(1)?) } else { None };
        if at == 0 || at == 2 && tick.is_none() {
            return None;
        }
        let is_end = cells.get(at) == Some(&"END");
        let is_write = match *cells.get(at + 1)? {
            "read" => false,
            "write" => true,
            _ => return Some(Err("read or write")),
        };
        let kind = kind(cells.get(at + 2)?)?;
        let object = (*cells.get(at + 3)?).to_owned();
        let after = cells.get(at + 4..).unwrap_or(&[]);
        let value = |key: &str| {
            let at = after.iter().position(|c| *c == key)?;
            after.get(at + 1).and_then(|v| decimal(v))
        };
        let (Some(block), Some(len)) = (value("block"), value("len")) else {
            return Some(Err("'block' and 'len' with their numbers"));
        };
        let (time, concurrency) = (value("time"), value("concurrency"));
        Some(Ok(Self { id, tick, is_end, is_write, kind, object, block, len, time, concurrency }))
    }
}

/// The line that people draw where they left something out: `-------CUT-------`.
fn is_cut(line: &str) -> bool {
    line.starts_with("----") && line.ends_with("----")
}

/// The reader.
#[derive(Default)]
struct Vxtrace {
    /// Requests that began and have not ended, by their number.
    open: BTreeMap<u64, (Record, Origin)>,
    ticks_told: bool,
}

impl LineFormat for Vxtrace {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if line.trim().is_empty() {
            return Took::Yes;
        }
        let record = match Record::read(line.trim()) {
            Some(Ok(record)) => record,
            Some(Err(expected)) => {
                out.complain(expected, line);
                return Took::Yes;
            }
            None if line.contains("records lost") || line.contains("records discarded") => {
                out.remark(&format!("the kernel dropped records: '{}'", line.trim()));
                return Took::Yes;
            }
            None if line.trim() == "waiting ..." || is_cut(line.trim()) => return Took::Yes,
            None => return Took::No,
        };
        if record.is_end {
            let began = self.open.remove(&record.id);
            // An END of something else: the trace lost records, and the numbers began anew.
            let began = began.filter(|(b, _)| b.object == record.object && b.block == record.block);
            let concurrency = began.as_ref().and_then(|(b, _)| b.concurrency).or(record.concurrency);
            let tick = began.as_ref().and_then(|(b, _)| b.tick).or(record.tick);
            let origin = began.map_or(out.origin(), |(_, origin)| origin);
            if record.time.is_some() && !std::mem::replace(&mut self.ticks_told, true) {
                out.remark(
                    "times are whole ticks of the host's clock, 10 ms each as a rule: 0 is less than one tick, and no \
                     mean of them says more",
                );
            }
            push(&Record { concurrency, tick, ..record }, origin, out);
            return Took::Yes;
        }
        if self.open.len() >= OPEN_MAX
            && let Some((_, (oldest, origin))) = self.open.pop_first()
        {
            push(&oldest, origin, out);
        }
        if let Some((lost, origin)) = self.open.insert(record.id, (record, out.origin())) {
            push(&lost, origin, out);
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        for (_, (record, origin)) in std::mem::take(&mut self.open) {
            push(&record, origin, out);
        }
    }
}

fn push(record: &Record, origin: Origin, out: &mut Out<'_>) {
    let nan = f64::NAN;
    let interval = match record.tick {
        // Ticks since the host was booted.
        Some(tick) => Interval {
            at_s: (tick + record.time.unwrap_or(0.0)) / TICKS_PER_S,
            length_s: nan,
            basis: Basis::SinceStart,
            kind: RowsKind::Request,
        },
        None => Interval::unknown(RowsKind::Request),
    };
    out.interval(interval);
    let place = out.place(record.kind, &record.object);
    let values = [
        (IsWrite, if record.is_write { 1.0 } else { 0.0 }),
        (OffsetBytes, record.block * SECTOR),
        (RequestBytes, record.len * SECTOR),
        (ResponseTicks, record.time.unwrap_or(nan)),
        (OutstandingInstant, record.concurrency.unwrap_or(nan)),
    ];
    let gone = origin.block != out.origin().block;
    let origin = if gone { Origin { start: 0, end: 0, ..origin } } else { origin };
    out.put_from(origin, place, &values);
}
