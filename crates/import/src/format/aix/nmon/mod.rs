//! nmon of Linux and topas_nmon of AIX.
//!
//! The first word of a line names its section. The first line of a section is its header, data lines have the number of
//! their snapshot, `T0001`, in the second column, and `ZZZZ` lines tell when each snapshot was taken. Sections of many
//! disks are cut into several (`DISKBUSY`, `DISKBUSY1` ...). Texts of other commands stand in `BBBP`, `BBBC`, `BBBV`.

mod held;
mod sections;
mod top;

use crate::clock::{DateOrder, date, epoch_s, time_of_day};
use crate::format::aix::fcstat::{self, snake};
use crate::format::aix::{lsattr, lvm};
use crate::format::inventory;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use held::Held;
use record::imported::{Host, PlaceId, PlaceKind, Platform, Quantity};
use sections::{Section, columns, section, usual_columns};
use std::collections::{BTreeSet, HashMap};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "nmon",
    title: "nmon of Linux and AIX (topas_nmon)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Nmon::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(begins) {
        return Likeness::by_line(95, "line", line);
    }
    let data = |l: &str| l.split(',').nth(1).is_some_and(|t| snapshot(t).is_some());
    Likeness::by_line(85, "line", head.find(|l| data(l) && l.starts_with(|c: char| c.is_ascii_uppercase()))?)
}

fn begins(line: &str) -> bool {
    line.starts_with("AAA,progname,") || line.starts_with("ZZZZ,T") || line.starts_with("AAA,host,")
}

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// The number of a snapshot: `T0001`.
fn snapshot(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('T')?;
    (digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// A column of a section: its place, and what it is.
type Kept = Option<(PlaceId, Quantity, f64)>;

/// The reader.
#[derive(Default)]
struct Nmon {
    held: Held,
    sections: HashMap<String, Vec<Kept>>,
    is_aix: bool,
    host: Host,
    /// Snapshots were met since the run began.
    has_data: bool,
    start: (Option<String>, Option<String>),
    order: Option<DateOrder>,
    top: top::Top,
    /// Sections without a header, and those that are not read; each is said once.
    unread: BTreeSet<String>,
    headless: BTreeSet<String>,
    /// Midnights passed, in seconds, and the time of the last snapshot, where these have no date.
    days_s: f64,
    last_s: f64,
    usual_told: bool,
    /// Values of the line being read.
    values: Vec<(PlaceId, Quantity, f64)>,
    /// Readers of the commands whose text stands in `BBBP` and its like.
    commands: Vec<(String, Box<dyn LineFormat>)>,
}

impl LineFormat for Nmon {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some((name, rest)) = line.split_once(',') else {
            return if line.trim().is_empty() { Took::Yes } else { Took::No };
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Took::No;
        }
        match name {
            "AAA" => self.about(rest, out),
            "ZZZZ" => self.time(rest, out),
            "BBBP" | "BBBC" | "BBBV" => self.command_text(name, rest, out),
            _ if name.starts_with("BBB") => {}
            "ERROR" => out.remark(&format!("nmon reported an error: {rest}")),
            _ => return self.data(name, rest, out),
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.held.all(out);
        for (_, reader) in &mut self.commands {
            reader.end(out);
        }
        if !self.unread.is_empty() {
            let unread: Vec<String> = std::mem::take(&mut self.unread).into_iter().collect();
            out.remark(&format!("sections that are not read: {}", unread.join(" ")));
        }
        if !self.headless.is_empty() {
            let headless: Vec<String> = std::mem::take(&mut self.headless).into_iter().collect();
            out.remark(&format!(
                "sections without a header line, so that their columns have no names: {}",
                headless.join(" ")
            ));
        }
    }
}

impl Nmon {
    /// `AAA,host,db1`: what the run and the host are.
    fn about(&mut self, rest: &str, out: &mut Out<'_>) {
        let (key, value) = rest.split_once(',').unwrap_or((rest, ""));
        let value = value.trim();
        let mut tell_host = true;
        match key {
            "progname" => {
                // In a sorted file this line follows others of the same run.
                if std::mem::take(&mut self.has_data) {
                    self.new_run(out);
                }
                if value.starts_with("topas") {
                    self.is_aix = true;
                    self.host.platform = Platform::Aix;
                }
            }
            "build" if value == "AIX" => {
                self.is_aix = true;
                self.host.platform = Platform::Aix;
            }
            "AIX" => {
                self.is_aix = true;
                self.host.platform = Platform::Aix;
                self.host.release = Some(value.to_owned());
            }
            "OS" => {
                let mut parts = value.split(',');
                if parts.next() == Some("Linux") {
                    self.host.platform = Platform::Linux;
                    self.host.release = parts.next().map(str::to_owned);
                }
            }
            "host" => self.host.name = Some(value.to_owned()).filter(|v| !v.is_empty()),
            // AIX: those of the machine, then those in use here.
            "cpus" => self.host.processors = value.rsplit(',').next().and_then(|n| n.trim().parse().ok()),
            _ => tell_host = false,
        }
        match key {
            "interval" => self.held.interval_s = decimal(value).filter(|i| *i > 0.0),
            "time" => self.start.1 = Some(value.to_owned()),
            "date" => self.start.0 = Some(value.to_owned()),
            _ => {}
        }
        if let (Some(day), Some(time)) = &self.start {
            let day = date(day, self.order.unwrap_or_default());
            self.held.start_s = day.zip(time_of_day(time)).map(|(d, t)| epoch_s(d, t));
        }
        if tell_host && self.host.name.is_some() {
            out.host(self.host.clone());
        }
        let kept = [
            "command",
            "version",
            "hardware",
            "TL",
            "SerialNumber",
            "LPARNumberName",
            "MachineType",
            "kernel",
        ];
        if kept.contains(&key) && !value.is_empty() {
            let host = out.place(PlaceKind::Host, "");
            let name = snake(if key == "command" || key == "version" {
                rest.split(',').next().unwrap_or(key)
            } else {
                key
            });
            out.fact(host, &format!("nmon_{name}"), value);
        }
    }

    /// Another file was appended.
    fn new_run(&mut self, out: &mut Out<'_>) {
        self.held.new_run(out);
        self.sections.clear();
        self.top = top::Top::default();
        self.host = Host::default();
        self.start = (None, None);
        self.is_aix = false;
        (self.days_s, self.last_s) = (0.0, 0.0);
    }

    /// `ZZZZ,T0001,10:24:26,18-AUG-2015`.
    fn time(&mut self, rest: &str, out: &mut Out<'_>) {
        let mut parts = rest.split(',');
        let number = parts.next().and_then(snapshot);
        let time = parts.next().and_then(time_of_day);
        let day = parts.next();
        if let Some(day) = day {
            self.order = self.order.or_else(|| DateOrder::shown_by([day]));
        }
        let dated = day.is_some();
        let day =
            day.or(self.start.0.as_deref()).and_then(|d| date(d.trim(), self.order.unwrap_or_default()));
        match (number, time, day) {
            (Some(number), Some(time), Some(day)) => {
                let mut at_s = epoch_s(day, time);
                if !dated {
                    // Old versions give the date of the start alone: a step back is midnight.
                    at_s += self.days_s;
                    if at_s < self.last_s - DAY_S / 4.0 {
                        self.days_s += DAY_S;
                        at_s += DAY_S;
                    }
                    self.last_s = at_s;
                }
                self.held.time(number, at_s, out);
            }
            _ => out.complain("a snapshot, its time and its date", rest),
        }
    }

    /// A header or a data line.
    fn data(&mut self, name: &str, rest: &str, out: &mut Out<'_>) -> Took {
        let Some(section) = section(name) else {
            // `PCPU01` and its like are one.
            self.unread.insert(name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned());
            return Took::Yes;
        };
        if section == Section::Top {
            if let Some(number) = self.top.line(rest, out, &mut self.values) {
                self.held.values(number, &self.values, out);
            }
            return Took::Yes;
        }
        let (first, figures) = rest.split_once(',').unwrap_or((rest, ""));
        let Some(number) = snapshot(first) else {
            self.header(name, section, figures, out);
            return Took::Yes;
        };
        if !self.sections.contains_key(name) {
            match usual_columns(name) {
                Some(usual) => {
                    if !std::mem::replace(&mut self.usual_told, true) {
                        out.remark("processor sections have no header line: the usual order User Sys Wait Idle was taken");
                    }
                    self.header(name, section, usual, out);
                }
                None => {
                    self.headless.insert(name.to_owned());
                    self.sections.insert(name.to_owned(), Vec::new());
                }
            }
        }
        self.has_data = true;
        let Some(kept) = self.sections.get(name) else { return Took::Yes };
        self.values.clear();
        let mut bad = None;
        for (text, column) in figures.split(',').zip(kept) {
            let Some((place, quantity, factor)) = column else { continue };
            match decimal(text.trim()) {
                // Linux has -1 (and -0) for what the kernel does not tell.
                Some(n) if n < 0.0 || n == 0.0 && text.trim_start().starts_with('-') => {}
                Some(n) => self.values.push((*place, *quantity, n * factor)),
                None if matches!(text.trim(), "" | "nan" | "-nan" | "NaN" | "inf" | "INF") => {}
                None => bad = bad.or(Some(text)),
            }
        }
        if let Some(bad) = bad {
            out.complain(&format!("numbers of section {name}"), bad);
        }
        self.held.values(number, &self.values, out);
        Took::Yes
    }

    fn header(&mut self, name: &str, section: Section, names: &str, out: &mut Out<'_>) {
        let kept = columns(section, name, names, self.is_aix)
            .into_iter()
            .map(|c| c.map(|c| (out.place(c.kind, &c.name), c.quantity, c.factor)))
            .collect();
        self.sections.insert(name.to_owned(), kept);
    }

    /// `BBBP,1281,lsattr -El fcs0,"num_cmd_elems 500 ..."`, `BBBC,035,hdisk7:`.
    fn command_text(&mut self, section: &str, rest: &str, out: &mut Out<'_>) {
        let Some((_, rest)) = rest.split_once(',') else { return };
        let (command, text) = match section {
            "BBBP" => match rest.split_once(',') {
                Some((command, text)) => (command, text),
                None => return,
            },
            "BBBC" => ("lspv -l", rest),
            _ => ("lsvg", rest),
        };
        let at = match self.commands.iter().position(|(known, _)| known == command) {
            Some(at) => at,
            None => {
                let Some(mut reader) = reader_of(command) else { return };
                reader.command(command);
                self.commands.push((command.to_owned(), reader));
                self.commands.len() - 1
            }
        };
        let text = text.strip_prefix('"').map_or(text, |t| t.strip_suffix('"').unwrap_or(t));
        if let Some((_, reader)) = self.commands.get_mut(at) {
            // What the command's reader does not know is no fault of nmon's text.
            reader.line(text, out);
        }
    }
}

/// Who reads the text of a command.
fn reader_of(command: &str) -> Option<Box<dyn LineFormat>> {
    let program = command.split_ascii_whitespace().next()?.rsplit('/').next()?;
    Some(match program {
        "lsattr" => Box::new(lsattr::Lsattr::default()),
        "fcstat" => Box::new(fcstat::Fcstat::default()),
        "lspv" | "lsvg" => Box::new(lvm::Lvm::default()),
        "lsblk" => Box::new(inventory::Lsblk::default()),
        "multipath" => Box::new(inventory::Multipath::default()),
        _ => return None,
    })
}
