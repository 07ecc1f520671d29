//! `sadf -x`: XML of any version of its format, from 1.0 (RHEL 5) to 3.x.

use super::time::joined;
use crate::format::sysstat::activity::Item;
use crate::format::sysstat::report::{Figures, HostInfo, Stamp};
use crate::format::{DocumentFormat, Format, Reads};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use crate::text::number::decimal;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use record::imported::{EventKind, PlaceKind, Quantity};
use std::io::BufReader;

/// This format.
pub(crate) const FORMAT: Format = Format {
    name: "sadf-xml",
    title: "sadf -x of sysstat 5 to 12: XML",
    recognise,
    reads: Reads::Document { new: || Box::new(Xml::default()) },
};

/// Text of an element beyond this is not kept.
const TEXT_MAX: usize = 256;
/// Attributes of an element that are looked at.
const ATTRIBUTES_MAX: usize = 64;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if head.first_char() != Some('<') {
        return None;
    }
    let is_root =
        |line: &str| line.trim_start().starts_with("<sysstat") || line.contains("<sysdata-version>");
    head.find(is_root).and_then(|line| Likeness::by_line(98, "element", line))
}

/// The reader.
#[derive(Default)]
struct Xml {
    host: HostInfo,
    page_bytes: Option<f64>,
    host_told: bool,
    /// Open elements below `host`, of which figures come as text.
    table: Option<&'static str>,
    figures: Figures,
    text: String,
    has_tables: bool,
    in_global: bool,
}

impl DocumentFormat for Xml {
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>) {
        let line = input.line();
        let mut reader = Reader::from_reader(BufReader::with_capacity(4096, input));
        let mut lines = Lines::default();
        reader.config_mut().check_end_names = false;
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer) {
                Ok(Event::Start(element)) => {
                    out.at_line(lines.at(&element));
                    self.start(&element, out);
                    lines.within(&element);
                }
                Ok(Event::Empty(element)) => {
                    out.at_line(lines.at(&element));
                    self.start(&element, out);
                    self.end(element.local_name().as_ref(), out);
                    lines.within(&element);
                }
                Ok(Event::End(element)) => {
                    out.at_line(lines.now());
                    self.end(element.local_name().as_ref(), out);
                }
                Ok(Event::Text(text)) => {
                    lines.within(&text);
                    if self.text.len() < TEXT_MAX {
                        self.text.push_str(text.trim());
                    }
                }
                Ok(Event::Eof) => break,
                Ok(other) => lines.within(&other),
                Err(error) => {
                    out.complain_at(line.get(), "XML of sadf", &error.to_string());
                    break;
                }
            }
            if buffer.capacity() > 1 << 20 {
                buffer = Vec::new();
            }
        }
        if !self.has_tables {
            out.complain_at(0, "elements 'timestamp' with statistics", "none");
        }
    }
}

/// Counts lines of what has been read.
#[derive(Default)]
struct Lines(u64);

impl Lines {
    fn now(&self) -> u64 {
        self.0 + 1
    }

    /// The line on which an element begins.
    fn at(&self, _: &BytesStart<'_>) -> u64 {
        self.now()
    }

    fn within(&mut self, text: &str) {
        self.0 += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    }
}

/// An attribute as text.
fn attribute(element: &BytesStart<'_>, wanted: &str) -> Option<String> {
    let found = element.attributes().with_checks(false).flatten().find(|a| a.key.as_ref() == wanted)?;
    let raw = found.value.as_ref();
    Some(quick_xml::escape::unescape(raw).map_or_else(|_| raw.to_owned(), |text| text.into_owned()))
}

fn stamp(element: &BytesStart<'_>) -> Stamp {
    let text = |name: &str| attribute(element, name);
    Stamp {
        date: text("date").unwrap_or_default(),
        time: text("time").unwrap_or_default(),
        is_utc: text("tz").is_some_and(|zone| zone == "UTC") || text("utc").is_some_and(|utc| utc == "1"),
        interval_s: text("interval").and_then(|i| decimal(&i)).unwrap_or(f64::NAN),
    }
}

impl Xml {
    fn start(&mut self, element: &BytesStart<'_>, out: &mut Out<'_>) {
        self.text.clear();
        let local = element.local_name();
        match local.as_ref() {
            "host" => {
                self.host = HostInfo { nodename: attribute(element, "nodename"), ..HostInfo::default() };
                self.host_told = false;
            }
            "statistics" => self.tell_host(out),
            "timestamp" => self.timestamp(element, out),
            "boot" => stamp(element).event(EventKind::Restart, "LINUX RESTART", out),
            "comment" => {
                let text = attribute(element, "com").unwrap_or_default();
                stamp(element).event(EventKind::Other, &text, out);
            }
            "cpu" => self.named(element, "cpu", Item::Processor, "number", out),
            "disk-device" => self.named(element, "disk", Item::Device, "dev", out),
            "fchost" => self.named(element, "fchost", Item::FibreHost, "name", out),
            "int-global" => self.in_global = true,
            "irq" if self.in_global => self.interrupt(element, out),
            "io" => self.table = Some("io"),
            "memory" => self.table = Some("memory"),
            "process-and-context-switch" | "context-switch" | "swap-pages" | "paging" | "queue" => {
                self.attributes(element, "host");
                self.figures.push(Item::Host, "", out);
            }
            "io-reads" | "io-writes" | "io-discard" if self.table == Some("io") => {
                self.attributes(element, "io");
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, out: &mut Out<'_>) {
        let text = std::mem::take(&mut self.text);
        match name {
            "release" => self.host.release = Some(text),
            "machine" => self.host.machine = Some(text),
            "number-of-cpus" => self.host.processors = text.parse().ok(),
            "int-global" => self.in_global = false,
            "io" | "memory" => {
                self.table = None;
                self.figures.push(Item::Host, "", out);
            }
            key => {
                if let (Some(table), Some(number)) = (self.table, decimal(&text)) {
                    self.figures.add(table, key, number, self.page_bytes);
                }
            }
        }
    }

    fn tell_host(&mut self, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.host_told, true) {
            self.page_bytes = self.host.tell(out);
        }
    }

    fn timestamp(&mut self, element: &BytesStart<'_>, out: &mut Out<'_>) {
        self.tell_host(out);
        self.has_tables = true;
        let stamp = stamp(element);
        match stamp.interval() {
            Some(interval) => out.interval(interval),
            None => {
                out.interval(record::imported::Interval::unknown(record::imported::RowsKind::Interval));
                let is_half = joined("2000-01-01", &stamp.time).is_some();
                let expected = if is_half { "a date" } else { "a time" };
                out.complain(expected, &format!("{} {}", stamp.date, stamp.time));
            }
        }
    }

    fn named(&mut self, element: &BytesStart<'_>, table: &str, item: Item, key: &str, out: &mut Out<'_>) {
        let Some(name) = attribute(element, key) else { return };
        self.attributes(element, table);
        self.figures.push(item, &name, out);
    }

    /// All attributes that are figures of a table.
    fn attributes(&mut self, element: &BytesStart<'_>, table: &str) {
        let has = |key: &str| {
            element
                .attributes()
                .with_checks(false)
                .flatten()
                .take(ATTRIBUTES_MAX)
                .any(|a| a.key.as_ref() == key)
        };
        for attribute in element.attributes().with_checks(false).flatten().take(ATTRIBUTES_MAX) {
            let key = attribute.key.as_ref();
            if Figures::is_told_better(key, has) {
                continue;
            }
            if let Some(number) = decimal(&attribute.value) {
                self.figures.add(table, key, number, self.page_bytes);
            }
        }
    }

    fn interrupt(&mut self, element: &BytesStart<'_>, out: &mut Out<'_>) {
        let is_sum = attribute(element, "intr").is_some_and(|name| name == "sum");
        let is_all = attribute(element, "cpu").is_none_or(|cpu| cpu == "all");
        let value = attribute(element, "value").and_then(|value| decimal(&value));
        if let (true, true, Some(value)) = (is_sum, is_all, value) {
            let host = out.place(PlaceKind::Host, "");
            out.put(host, &[(Quantity::InterruptsPerS, value)]);
        }
    }
}
