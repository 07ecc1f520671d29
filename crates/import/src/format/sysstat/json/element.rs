//! One element of `statistics`: the report of one interval.

use super::scan::repaired;
use crate::clock::Clock;
use crate::format::sysstat::activity::Item;
use crate::format::sysstat::iostat::Moments;
use crate::format::sysstat::process;
use crate::format::sysstat::report::{Figures, Stamp};
use crate::out::Out;
use record::imported::{Interval, PlaceKind, Quantity, RowsKind};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Names of tables that were left unread and are told.
const SKIPPED_MAX: usize = 64;

/// Reads elements.
pub(super) struct Elements {
    /// The first report of iostat is since boot.
    is_iostat: bool,
    page_bytes: Option<f64>,
    clock: Clock,
    moments: Moments,
    /// Elements of this host.
    reports: u64,
    skipped: BTreeSet<String>,
    unread: BTreeSet<String>,
    doubtful: Option<String>,
}

/// Where in the text of an element the next row is looked for, so that its line can be told.
struct Cursor<'t> {
    text: &'t str,
    first_line: u64,
    at: usize,
    line: u64,
}

impl Cursor<'_> {
    /// Goes to the next mention of a name, and tells its line.
    fn go(&mut self, name: &str, out: &mut Out<'_>) {
        let Some(found) = self.text[self.at..].find(&format!("\"{name}\"")) else {
            // Written with escapes: what follows is told with the line reached.
            self.at = self.text.len();
            return;
        };
        let to = self.at + found;
        self.line += self.text[self.at..to].matches('\n').count() as u64;
        self.at = to;
        out.at_line(self.line);
    }

    fn restart(&mut self) {
        (self.at, self.line) = (0, self.first_line);
    }
}

impl Elements {
    pub fn new(is_iostat: bool) -> Self {
        Self {
            is_iostat,
            page_bytes: None,
            clock: Clock::new(),
            moments: Moments::default(),
            reports: 0,
            skipped: BTreeSet::new(),
            unread: BTreeSet::new(),
            doubtful: None,
        }
    }

    /// A host begins.
    pub fn host(&mut self, page_bytes: Option<f64>, clock: Clock) {
        (self.page_bytes, self.clock, self.reports) = (page_bytes, clock, 0);
    }

    /// The date of the host could be read in two orders.
    pub fn doubtful_date(&mut self, text: &str) {
        self.doubtful = Some(text.to_owned());
    }

    /// One report.
    pub fn read(&mut self, text: &str, line: u64, out: &mut Out<'_>) {
        let parsed = serde_json::from_str(text).or_else(|_| serde_json::from_str(&repaired(text)));
        let element: Map<String, Value> = match parsed {
            Ok(element) => element,
            Err(error) => {
                let at = line + error.line().saturating_sub(1) as u64;
                return out.complain_at(at, "a report in JSON", &error.to_string());
            }
        };
        if element.is_empty() {
            return;
        }
        self.reports += 1;
        let interval = self.interval(element.get("timestamp"), out);
        out.interval(interval);
        let mut cursor = Cursor { text, first_line: line, at: 0, line };
        for (table, value) in &element {
            if table != "timestamp" {
                cursor.restart();
                cursor.go(table, out);
                self.table(table, value, &mut cursor, out);
            }
        }
    }

    pub fn end(&mut self, out: &mut Out<'_>) {
        if !self.unread.is_empty() {
            let names: Vec<&str> = self.unread.iter().map(String::as_str).collect();
            out.remark(&format!("keys that are not known here were left unread: {}", names.join(" ")));
        }
        if !self.skipped.is_empty() {
            let names: Vec<&str> = self.skipped.iter().map(String::as_str).collect();
            out.remark(&format!(
                "tables that say nothing about storage were left unread: {}",
                names.join(", ")
            ));
        }
    }

    fn interval(&mut self, stamp: Option<&Value>, out: &mut Out<'_>) -> Interval {
        let is_first = self.reports == 1;
        let kind = if self.is_iostat && is_first { RowsKind::SinceBoot } else { RowsKind::Interval };
        let text = match stamp {
            Some(Value::Object(stamp)) => {
                let text = |key: &str| stamp.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                let stamp = Stamp {
                    date: text("date"),
                    time: text("time"),
                    is_utc: text("tz") == "UTC" || stamp.get("utc").and_then(number) == Some(1.0),
                    interval_s: stamp.get("interval").and_then(number).unwrap_or(f64::NAN),
                };
                return stamp.interval().unwrap_or_else(|| {
                    out.complain("date and time of a report", &format!("{} {}", stamp.date, stamp.time));
                    Interval::unknown(RowsKind::Interval)
                });
            }
            Some(Value::String(text)) => text.as_str(),
            _ => return self.clock.next(kind),
        };
        if let Some((at_s, basis)) = self.moments.read(text) {
            return self.clock.moment(at_s, basis, kind);
        }
        match crate::clock::time_of_day(text) {
            Some(seconds) => {
                if let Some(date) = self.doubtful.take().filter(|_| !text.to_ascii_uppercase().ends_with('M'))
                {
                    out.remark(&format!("the date {date} was read as month/day: nothing tells the order"));
                }
                self.clock.time_of_day(seconds, kind)
            }
            None => {
                out.complain("a time", text);
                Interval::unknown(kind)
            }
        }
    }

    fn table(&mut self, table: &str, value: &Value, cursor: &mut Cursor<'_>, out: &mut Out<'_>) {
        let rows: &[Value] = match value {
            Value::Array(rows) => rows,
            Value::Object(_) => std::slice::from_ref(value),
            _ => return,
        };
        for row in rows {
            let Value::Object(row) = row else { continue };
            if row.contains_key("cmd") && (row.contains_key("TGID") || row.contains_key("PID")) {
                self.process(row, cursor, out);
                continue;
            }
            match table {
                "disk" => self.device(row, cursor, out),
                "avg-cpu" => self.plain(table, Item::Host, "", row, out),
                "cpu-load" | "cpu-load-all" => self.named(table, Item::Processor, "cpu", row, cursor, out),
                "interrupts" | "sum-interrupts" => self.interrupts(row, out),
                "process-and-context-switch" | "swap-pages" | "paging" | "io" | "memory" | "queue" => {
                    self.plain(table, Item::Host, "", row, out);
                }
                "network" => {
                    for (inner, value) in
                        row.iter().filter(|(inner, _)| matches!(inner.as_str(), "fchosts" | "fc-host"))
                    {
                        cursor.go(inner, out);
                        self.table(inner, value, cursor, out);
                    }
                    self.skip("network");
                }
                "fchosts" | "fc-host" => self.named(table, Item::FibreHost, "fchost", row, cursor, out),
                _ => self.skip(table),
            }
        }
    }

    fn skip(&mut self, table: &str) {
        if self.skipped.len() < SKIPPED_MAX && !self.skipped.contains(table) {
            self.skipped.insert(table.to_owned());
        }
    }

    fn named(
        &mut self,
        table: &str,
        item: Item,
        key: &str,
        row: &Map<String, Value>,
        cursor: &mut Cursor<'_>,
        out: &mut Out<'_>,
    ) {
        let name = match row.get(key).or_else(|| row.get("name")) {
            Some(Value::String(name)) => name.clone(),
            Some(Value::Number(name)) => name.to_string(),
            _ => return,
        };
        cursor.go(&name, out);
        self.plain(table, item, &name, row, out);
    }

    fn device(&mut self, row: &Map<String, Value>, cursor: &mut Cursor<'_>, out: &mut Out<'_>) {
        let name = ["disk_device", "disk-device", "dev"].iter().find_map(|key| row.get(*key)?.as_str());
        let Some(name) = name else {
            out.complain("the name of a device", &row.keys().cloned().collect::<Vec<_>>().join(" "));
            return;
        };
        cursor.go(name, out);
        let mut figures = Figures::default();
        for (key, value) in row {
            let Some(number) = number(value) else { continue };
            if Figures::is_told_better(key, |other| row.contains_key(other)) {
                continue;
            }
            let is_known = figures.add("disk", key, number, None)
                || matches!(key.as_str(), "rrqm" | "wrqm" | "drqm" | "%rrqm" | "%wrqm" | "%drqm" | "svctm");
            if !is_known && self.unread.len() < SKIPPED_MAX {
                self.unread.insert(key.clone());
            }
        }
        if name.starts_with(' ') {
            // A group (option -g): the sum of devices that have rows of their own.
            figures.push_to(PlaceKind::Other, name.trim(), out);
        } else {
            figures.push(Item::Device, name, out);
        }
    }

    /// A row of numbers; objects within it belong to it (`io-reads`).
    fn plain(&mut self, table: &str, item: Item, name: &str, row: &Map<String, Value>, out: &mut Out<'_>) {
        let mut figures = Figures::default();
        for (key, value) in row {
            match value {
                Value::Object(inner) => {
                    for (key, value) in inner {
                        if let Some(number) = number(value) {
                            figures.add(table, key, number, self.page_bytes);
                        }
                    }
                }
                other => {
                    if let Some(number) = number(other) {
                        figures.add(table, key, number, self.page_bytes);
                    }
                }
            }
        }
        figures.push(item, name, out);
    }

    /// The sum of all interrupts of all processors: `{"intr": "sum", "all": 1}`, `{"cpu": "all", "intr": 1}`.
    fn interrupts(&mut self, row: &Map<String, Value>, out: &mut Out<'_>) {
        let of_sar = (row.get("intr").and_then(Value::as_str) == Some("sum"))
            .then(|| row.get("all").or_else(|| row.get("value")))
            .flatten();
        let of_mpstat =
            (row.get("cpu").and_then(Value::as_str) == Some("all")).then(|| row.get("intr")).flatten();
        if let Some(number) = of_sar.or(of_mpstat).and_then(number) {
            let mut figures = Figures::default();
            figures.put(Quantity::InterruptsPerS, number);
            figures.push(Item::Host, "", out);
        }
    }

    fn process(&mut self, row: &Map<String, Value>, cursor: &mut Cursor<'_>, out: &mut Out<'_>) {
        let text = |key: &str| match row.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let process = if row.contains_key("TGID") { text("TGID") } else { text("PID") };
        let name = process::name(&process, &text("TID"), &text("cmd"));
        cursor.go(&process, out);
        let mut figures = Figures::default();
        for (key, value) in row {
            if let (Some((quantity, factor)), Some(number)) = (process::column(key), number(value)) {
                figures.put(quantity, process::figure(number) * factor);
            }
        }
        figures.push_to(PlaceKind::Process, &name, out);
    }
}

/// A number, which some releases put between quotation marks.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => crate::text::number::decimal(text),
        _ => None,
    }
}
