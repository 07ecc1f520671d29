//! System calls as `strace` (Linux) and `truss` (Solaris, AIX, FreeBSD) print them, and their tables of counts (`-c`).
//!
//! Reads, writes, asynchronous I/O, syncs and calls on memory give a row each, on a place of their own name; of all other
//! calls only the number is kept. A name may carry what decides: `mmap(PROT_NONE)` only reserves addresses,
//! `memcntl(MC_HAT_ADVISE)` asks for a page size, `kaio(AIOWRITE)` writes.

mod line;
mod meaning;
mod table;

use crate::clock::Clock;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use line::{Call, Line, Stamp};
use record::imported::Quantity::{
    CallBytes, CallUs, Calls as CallCount, Failures, Ios, IsWrite, OffsetBytes, PageBytes,
};
use record::imported::{Basis, Interval, Origin, PlaceKind, Platform, RowsKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use table::Table;

/// strace.
pub(super) const STRACE: Format = Format {
    name: "strace",
    title: "strace (Linux)",
    recognise: |head| recognise(head, Tool::Strace),
    reads: Reads::Lines {
        new: || Box::new(Calls::new(Tool::Strace)),
        begins: |line| begins(line, Tool::Strace),
    },
};

/// truss.
pub(super) const TRUSS: Format = Format {
    name: "truss",
    title: "truss (Solaris, AIX, FreeBSD)",
    recognise: |head| recognise(head, Tool::Truss),
    reads: Reads::Lines {
        new: || Box::new(Calls::new(Tool::Truss)),
        begins: |line| begins(line, Tool::Truss),
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Strace,
    Truss,
}

/// Files, calls and processes that are remembered.
const NAMES_MAX: usize = 65_536;

fn recognise(head: &Head<'_>, tool: Tool) -> Option<Likeness> {
    if let Some(line) = head.find(|l| Table::is_header(l).is_some_and(|t| t == tool)) {
        return Likeness::by_line(92, "header", line);
    }
    let calls = head.count(|l| Line::read(l).is_some_and(|l| l.call().is_some()));
    let first = head.find(|l| Line::read(l).is_some_and(|l| l.call().is_some()))?;
    let (strace, truss) = (head.count(is_strace), head.count(is_truss));
    let by = |name: &str| Likeness::by_line(if calls > 2 { 84 } else { 80 }, name, first);
    match tool {
        Tool::Truss if truss > strace => by("call, as truss writes it,"),
        Tool::Strace if strace > truss => by("call, as strace writes it,"),
        Tool::Strace if strace == truss => by("call").map(|l| {
            l.with_ambiguity("read as strace: nothing tells it from truss, whose calls look the same")
        }),
        _ => None,
    }
}

/// What only strace writes.
fn is_strace(line: &str) -> bool {
    const MARKS: [&str; 7] =
        ["<unfinished ...>", " resumed>", "[pid ", "openat(AT_FDCWD", "mmap2(", "(NULL,", "= -1 E"];
    MARKS.iter().any(|m| line.contains(m)) || line.starts_with("strace: ")
}

/// What only truss writes.
fn is_truss(line: &str) -> bool {
    const MARKS: [&str; 9] =
        ["Err#", "ERR#", ")\t", "memcntl(", "kaio(", "MC_HAT_ADVISE", "kread(", "kwrite(", "(sleeping..."];
    MARKS.iter().any(|m| line.contains(m)) || Line::has_truss_prefix(line)
}

fn begins(line: &str, tool: Tool) -> bool {
    if Table::is_header(line).is_some_and(|t| t == tool) {
        return true;
    }
    let Some(read) = Line::read(line) else { return false };
    let known = read.call().is_some_and(|call| meaning::is_kept(call.name));
    known && (is_truss(line) == (tool == Tool::Truss))
}

/// A call that has begun and not returned.
struct Begun {
    text: String,
    at: Interval,
    origin: Origin,
}

/// The reader.
struct Calls {
    tool: Tool,
    platform_told: bool,
    layout: Option<Layout>,
    clock: Clock,
    /// Sum of relative times.
    since_s: f64,
    last_s: f64,
    went_back: bool,
    unfinished: HashMap<String, Begun>,
    /// Calls that are only counted: number and summed time.
    others: BTreeMap<String, (u64, f64)>,
    files: HashSet<String>,
    table: Table,
    without_time: bool,
}

impl Calls {
    fn new(tool: Tool) -> Self {
        Self {
            tool,
            platform_told: false,
            layout: None,
            clock: Clock::new(),
            since_s: 0.0,
            last_s: f64::NEG_INFINITY,
            went_back: false,
            unfinished: HashMap::new(),
            others: BTreeMap::new(),
            files: HashSet::new(),
            table: Table::default(),
            without_time: true,
        }
    }

    fn platform(&mut self, line: &str, out: &mut Out<'_>) {
        if self.platform_told {
            return;
        }
        let platform = match self.tool {
            Tool::Strace => Platform::Linux,
            Tool::Truss if ["memcntl(", "kaio(", "lwp_", "MC_"].iter().any(|m| line.contains(m)) => {
                Platform::Solaris
            }
            Tool::Truss
                if ["kread(", "kwrite(", "kfsync(", "aio_nwait", "listio64"]
                    .iter()
                    .any(|m| line.contains(m)) =>
            {
                Platform::Aix
            }
            Tool::Truss if line.contains(" ERR#") => Platform::FreeBsd,
            Tool::Truss => return,
        };
        self.platform_told = true;
        out.platform(platform);
    }

    /// When a call began, or, where the tool prints it then, returned.
    fn moment(&mut self, stamp: Option<Stamp>) -> Interval {
        let unknown = Interval::unknown(RowsKind::Request);
        let at = |at_s: f64, basis: Basis| Interval { at_s, basis, ..unknown };
        match stamp {
            None => unknown,
            Some(Stamp::Epoch(at_s)) => at(at_s, Basis::Utc),
            Some(Stamp::TimeOfDay(seconds)) => self.clock.time_of_day(seconds, RowsKind::Request),
            Some(Stamp::Seconds(seconds)) if self.tool == Tool::Strace => {
                // Option -r: since the call before.
                self.since_s += seconds;
                at(self.since_s, Basis::SinceStart)
            }
            Some(Stamp::Seconds(seconds)) => {
                // Options -d (since the start), -D and -E (differences) look the same.
                self.went_back |= seconds < self.last_s - 1.0;
                self.last_s = seconds;
                if self.went_back { unknown } else { at(seconds, Basis::SinceStart) }
            }
        }
    }

    fn call(&mut self, call: &Call<'_>, at: Interval, origin: Origin, out: &mut Out<'_>) {
        if !meaning::is_kept(call.name) {
            let known = self.others.len() < NAMES_MAX || self.others.contains_key(call.name);
            if known {
                let (count, us) = self.others.entry(call.name.to_owned()).or_insert((0, 0.0));
                *count += 1;
                *us += call.us;
            }
            self.opened(call, out);
            return;
        }
        let Some(meant) = meaning::of(call) else {
            out.complain("a call with its arguments and result", call.name);
            return;
        };
        self.without_time &= call.us.is_nan();
        let quantities = [CallBytes, CallUs, OffsetBytes, IsWrite, PageBytes, Ios, Failures];
        let layout = *self.layout.get_or_insert_with(|| out.layout(&quantities));
        let place = out.place(PlaceKind::Call, &meant.name);
        out.interval(at);
        let failed = if call.failed { 1.0 } else { f64::NAN };
        let row = [meant.bytes, call.us, meant.offset, meant.is_write, meant.page_bytes, meant.ios, failed];
        out.row_from(origin, layout, place, &row);
    }

    /// A file that was opened for direct or synchronous I/O.
    fn opened(&mut self, call: &Call<'_>, out: &mut Out<'_>) {
        if call.failed
            || !matches!(call.name, "open" | "openat" | "open64" | "openat64" | "openat2" | "kopen")
        {
            return;
        }
        let Some((path, flags)) = meaning::opened(call) else { return };
        let special = ["O_DIRECT", "O_SYNC", "O_DSYNC", "O_RSYNC", "O_CIO"]
            .iter()
            .any(|f| flags.split('|').any(|x| x == *f));
        if special && self.files.len() < NAMES_MAX && self.files.insert(format!("{path} {flags}")) {
            let place = out.place(PlaceKind::DatabaseFile, &path);
            out.fact(place, "open_flags", flags);
        }
    }
}

impl LineFormat for Calls {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        self.platform(line, out);
        if let Some(took) = self.table.line(line, out) {
            return took;
        }
        let Some(read) = Line::read(line) else {
            if line::is_noise(trimmed) {
                return Took::Yes;
            }
            if line::is_meant(trimmed) {
                out.complain("a call: name(arguments) = result", trimmed);
                return Took::Yes;
            }
            return Took::No;
        };
        let process = read.process.to_owned();
        let at = self.moment(read.stamp);
        match read.what {
            line::What::Whole(call) => self.call(&call, at, out.origin(), out),
            line::What::Begun(text) => {
                if self.unfinished.len() < NAMES_MAX {
                    self.unfinished
                        .insert(process, Begun { text: text.to_owned(), at, origin: out.origin() });
                }
            }
            line::What::Resumed(rest) => {
                // The first process has no number until there is a second.
                let begun = self.unfinished.remove(&process).or_else(|| self.unfinished.remove(""));
                let Some(begun) = begun else {
                    // It began before the trace; what it was called with is not known, except of reads and writes.
                    if let Some(call) = line::whole(rest.1, Some(rest.0)) {
                        self.call(&call, at, out.origin(), out);
                    }
                    return Took::Yes;
                };
                let text = format!("{}{}", begun.text, rest.1);
                match line::whole(&text, None) {
                    Some(call) => self.call(&call, begun.at, begun.origin, out),
                    None => out.complain("the rest of a call", trimmed),
                }
            }
            line::What::Nothing => {}
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.table.end();
        out.interval(Interval::unknown(RowsKind::Period));
        for (name, (count, us)) in std::mem::take(&mut self.others) {
            let place = out.place(PlaceKind::Call, &name);
            out.put(place, &[(CallCount, count as f64), (CallUs, us / count as f64)]);
        }
        if !self.unfinished.is_empty() {
            out.remark(&format!("{} calls had not returned when the trace ended", self.unfinished.len()));
            self.unfinished.clear();
        }
        if std::mem::take(&mut self.went_back) {
            out.remark("times before the calls do not grow (option -D or -E of truss): they were left out");
        }
        if self.layout.is_some() && self.without_time && self.tool == Tool::Strace {
            out.remark("how long calls took is not in this text: strace -T prints it");
        }
    }
}
