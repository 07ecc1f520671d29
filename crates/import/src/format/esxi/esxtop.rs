//! `esxtop -b` and `resxtop -b`: one line of column names (tens of thousands of them), and one line for each look.
//!
//! Of a command: DAVG (driver and device) is `ServiceUs`, KAVG (the VMkernel, QAVG of its queue included) is `HostWaitUs`,
//! GAVG (what the guest sees) is `ResponseUs`; ACTV is `DeviceQueue`, QUED `HostQueue` (VMware, "Interpreting esxtop
//! statistics").

use crate::clock::{Clock, DateOrder, date, epoch_s, time_of_day};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::Quantity::{self, *};
use record::imported::{Basis, Host, PlaceId, PlaceKind, Platform, RowsKind, facts};
use std::collections::HashMap;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "esxtop",
    title: "esxtop -b (ESX, ESXi), CSV",
    recognise,
    reads: Reads::Lines { new: || Box::new(Esxtop::default()), begins: is_header },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let (number, line) = head.find(is_header)?;
    Likeness::by_line(95, "header", (number, line))
}

/// Windows writes such files too, with objects of other names.
fn is_header(line: &str) -> bool {
    const OBJECTS: [&str; 6] = [
        "\\Physical Disk ",
        "\\Physical Disk(",
        "\\Physical Cpu(",
        "\\Group Cpu(",
        "\\Virtual Disk(",
        "Memory Overcommit",
    ];
    line.starts_with("\"(PDH-CSV") && OBJECTS.iter().any(|o| line.contains(o))
}

const MIB: f64 = 1_048_576.0;
const US_PER_MS: f64 = 1e3;

/// The quantity of a counter, and what turns its unit into ours.
fn counter(name: &str) -> Option<(Quantity, f64)> {
    Some(match name {
        "Commands/sec" => (Iops, 1.0),
        "Reads/sec" => (ReadIops, 1.0),
        "Writes/sec" => (WriteIops, 1.0),
        "MBytes Read/sec" => (ReadBytesPerS, MIB),
        "MBytes Written/sec" => (WriteBytesPerS, MIB),
        "Average Driver MilliSec/Command" => (ServiceUs, US_PER_MS),
        "Average Driver MilliSec/Read" => (ReadServiceUs, US_PER_MS),
        "Average Driver MilliSec/Write" => (WriteServiceUs, US_PER_MS),
        "Average Kernel MilliSec/Command" => (HostWaitUs, US_PER_MS),
        "Average Guest MilliSec/Command" => (ResponseUs, US_PER_MS),
        // Virtual disks have these alone.
        "Average Guest MilliSec/Read" | "Average MilliSec/Read" => (ReadResponseUs, US_PER_MS),
        "Average Guest MilliSec/Write" | "Average MilliSec/Write" => (WriteResponseUs, US_PER_MS),
        "Active Commands" => (DeviceQueue, 1.0),
        "Queued Commands" => (HostQueue, 1.0),
        _ => return None,
    })
}

/// Counters that are rates of what the model counts by interval.
fn per_interval(name: &str) -> Option<Quantity> {
    match name {
        "Failed Commands/sec" => Some(Failures),
        "Aborts/sec" => Some(Timeouts),
        _ => None,
    }
}

/// The kind of an object's instances.
fn kind(object: &str) -> Option<PlaceKind> {
    match object {
        "Physical Disk SCSI Device" | "Physical Disk" => Some(PlaceKind::Device),
        "Physical Disk Adapter" => Some(PlaceKind::Adapter),
        "Physical Disk Path" => Some(PlaceKind::Path),
        "Virtual Disk" => Some(PlaceKind::Volume),
        _ => None,
    }
}

/// An instance and where its figures stand.
struct Instance {
    place: PlaceId,
    layout: Layout,
    width: usize,
    last_column: usize,
    /// Column of a queue depth, and the value told last.
    depth: Option<(usize, &'static str, f64)>,
}

/// A column that is kept.
#[derive(Clone, Copy)]
struct Column {
    at: usize,
    instance: usize,
    slot: usize,
    factor: f64,
    is_rate: bool,
}

/// The reader.
#[derive(Default)]
struct Esxtop {
    columns: usize,
    kept: Vec<Column>,
    instances: Vec<Instance>,
    /// Values of the line, instance after instance.
    values: Vec<f64>,
    starts: Vec<usize>,
    clock: Clock,
    /// Seconds to add to get UTC.
    offset_s: f64,
}

impl LineFormat for Esxtop {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if is_header(line) {
            self.header(line, out);
            return Took::Yes;
        }
        if line.trim().is_empty() {
            return Took::Yes;
        }
        if self.columns == 0 || !line.starts_with('"') {
            return Took::No;
        }
        self.row(line, out);
        Took::Yes
    }
}

/// Fields of a line; each in quotes, which none of them holds.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_end().trim_end_matches(',');
    let inner = line.strip_prefix('"').unwrap_or(line);
    inner.strip_suffix('"').unwrap_or(inner).split("\",\"")
}

/// `\\host\Object(instance)\Counter`: host, object, instance, counter. Instances may hold backslashes and parentheses.
fn path(field: &str) -> Option<(&str, &str, &str, &str)> {
    let rest = field.strip_prefix("\\\\")?;
    let (host, rest) = rest.split_once('\\')?;
    let (object, rest) = rest.split_once('(')?;
    let (instance, counter) = rest.rsplit_once(")\\")?;
    Some((host, object, instance, counter))
}

impl Esxtop {
    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        let mut names: HashMap<(PlaceKind, String), usize> = HashMap::new();
        // Quantities of each instance, with its columns.
        let mut found: Vec<Found> = Vec::new();
        let mut host = None;
        self.columns = 0;
        self.offset_s = 0.0;
        for (at, field) in fields(line).enumerate() {
            self.columns += 1;
            if at == 0 {
                // `(PDH-CSV 4.0) (UTC)(0)`: minutes west of UTC.
                let minutes = field.rsplit_once('(').and_then(|(_, m)| decimal(m.trim_end_matches(')')));
                self.offset_s = minutes.unwrap_or(0.0) * 60.0;
                continue;
            }
            let Some((of_host, object, instance, counter_name)) = path(field) else { continue };
            host = host.or(Some(of_host));
            let Some(kind) = kind(object) else { continue };
            let next = found.len();
            let number = *names.entry((kind, instance.to_owned())).or_insert(next);
            if number == next {
                found.push(Found {
                    kind,
                    name: instance.to_owned(),
                    quantities: Vec::new(),
                    columns: Vec::new(),
                    depth: None,
                });
            }
            let Some(of) = found.get_mut(number) else { continue };
            let (quantity, factor, is_rate) = match (counter(counter_name), per_interval(counter_name)) {
                (Some((quantity, factor)), _) => (quantity, factor, false),
                (None, Some(quantity)) => (quantity, 1.0, true),
                (None, None) => {
                    match counter_name {
                        "Device Q Depth" | "LUN Q Depth" => of.depth = Some((at, facts::QUEUE_DEPTH)),
                        "Adapter Q Depth" => of.depth = Some((at, facts::ADAPTER_COMMANDS)),
                        _ => {}
                    }
                    continue;
                }
            };
            if !of.quantities.contains(&quantity) {
                of.columns.push((at, factor, is_rate));
                of.quantities.push(quantity);
            }
        }
        let name = host.map(str::to_owned);
        out.host(Host { name, platform: Platform::Esxi, ..Host::default() });
        self.clock = Clock::new();
        self.take(found, out);
    }

    fn take(&mut self, found: Vec<Found>, out: &mut Out<'_>) {
        (self.kept, self.instances, self.starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut start = 0;
        for of in found.into_iter().filter(|f| !f.quantities.is_empty()) {
            let instance = self.instances.len();
            for (slot, (at, factor, is_rate)) in of.columns.iter().enumerate() {
                self.kept.push(Column {
                    at: *at,
                    instance,
                    slot: start + slot,
                    factor: *factor,
                    is_rate: *is_rate,
                });
            }
            self.starts.push(start);
            start += of.quantities.len();
            self.instances.push(Instance {
                place: out.place(of.kind, &of.name),
                layout: out.layout(&of.quantities),
                width: of.quantities.len(),
                last_column: of.columns.iter().map(|c| c.0).max().unwrap_or(0),
                depth: of.depth.map(|(at, fact)| (at, fact, f64::NAN)),
            });
        }
        for (number, instance) in self.instances.iter().enumerate() {
            if let Some((at, ..)) = instance.depth {
                self.kept.push(Column {
                    at,
                    instance: number,
                    slot: usize::MAX,
                    factor: 1.0,
                    is_rate: false,
                });
            }
        }
        self.kept.sort_by_key(|c| c.at);
        self.values = vec![f64::NAN; start];
        if self.instances.is_empty() {
            out.remark("no columns of disks, adapters or paths: esxtop was told to leave them out");
        }
    }

    fn row(&mut self, line: &str, out: &mut Out<'_>) {
        let mut all = fields(line).enumerate();
        let moment = all.next().and_then(|(_, time)| moment(time));
        let Some(at_s) = moment else {
            out.complain("a date and time: 11/30/2021 15:49:57", line);
            return;
        };
        let interval = self.clock.moment(at_s + self.offset_s, Basis::Utc, RowsKind::Interval);
        out.interval(interval);
        self.values.fill(f64::NAN);
        let mut bad = 0;
        let mut count = 1;
        let mut kept = self.kept.iter().peekable();
        let mut depths: Vec<(usize, f64)> = Vec::new();
        for (at, field) in all {
            count = at + 1;
            while let Some(column) = kept.next_if(|c| c.at <= at) {
                if column.at < at {
                    continue;
                }
                let number = decimal(field.trim());
                bad += u32::from(number.is_none() && !field.trim().is_empty());
                let number = number.unwrap_or(f64::NAN);
                if column.slot == usize::MAX {
                    depths.push((column.instance, number));
                } else if let Some(value) = self.values.get_mut(column.slot) {
                    *value = number * if column.is_rate { interval.length_s } else { column.factor };
                }
            }
        }
        let is_cut = count < self.columns;
        if is_cut || count > self.columns {
            out.complain(&format!("{} fields", self.columns), &format!("{count} fields"));
        } else if bad > 0 {
            out.complain("numbers in the columns of disks", &format!("{bad} fields that are none"));
        }
        for (instance, start) in self.instances.iter().zip(&self.starts) {
            // The last field of a line that is cut off may lack digits.
            if is_cut && instance.last_column + 1 >= count {
                continue;
            }
            if let Some(values) = self.values.get(*start..*start + instance.width) {
                out.row(instance.layout, instance.place, values);
            }
        }
        for (instance, depth) in depths {
            let Some(instance) = self.instances.get_mut(instance) else { continue };
            if let Some((_, fact, told)) = &mut instance.depth {
                // An idle device prints a depth of 0, which is none.
                if depth > 0.0 && *told != depth {
                    *told = depth;
                    out.fact(instance.place, fact, depth);
                }
            }
        }
    }
}

/// What the header says of an instance.
struct Found {
    kind: PlaceKind,
    name: String,
    quantities: Vec<Quantity>,
    columns: Vec<(usize, f64, bool)>,
    depth: Option<(usize, &'static str)>,
}

/// `11/30/2021 15:49:57`.
fn moment(text: &str) -> Option<f64> {
    let (day, time) = text.trim().split_once(' ')?;
    Some(epoch_s(date(day, DateOrder::MonthFirst)?, time_of_day(time)?))
}
