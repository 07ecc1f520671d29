//! `sar` and `mpstat` of sysstat, text: any mixture of activities, of any version and locale.
//!
//! sar's `await` covers reads, writes and discards together, and is host queue and device together. The header of a table
//! carries the time at which its first interval began.

pub(super) mod stamp;

use super::activity::{Activity, Item, Known as Table, activity};
use super::banner::Banner;
use super::cells::{Cells, Values, WIDTH_MAX};
use super::known::Known;
use crate::clock::{Clock, DateOrder};
use crate::format::linux::collector;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::{EventKind, Interval, PlaceKind, RowsKind};
use stamp::{Stamp, split};
use std::collections::BTreeSet;

/// sar.
pub(super) const SAR: Format = Format {
    name: "linux-sar",
    title: "sar of sysstat 5 to 12 (Linux), text",
    recognise: |head| recognise(head, is_sar_header),
    reads: Reads::Lines { new: || Box::new(Sar::default()), begins: is_sar_header },
};

/// mpstat.
pub(super) const MPSTAT: Format = Format {
    name: "linux-mpstat",
    title: "mpstat of sysstat 5 to 12 (Linux), text",
    recognise: |head| recognise(head, is_mpstat_header),
    reads: Reads::Lines { new: || Box::new(Sar::default()), begins: is_mpstat_header },
};

/// Headers that are kept in mind; a text with more distinct ones is none of sar.
const TABLES_MAX: usize = 256;

fn recognise(head: &Head<'_>, is_header: fn(&str) -> bool) -> Option<Likeness> {
    let header = head.find(is_header).and_then(|line| Likeness::by_line(93, "header", line));
    // A data file that held nothing but comments.
    header.or_else(|| {
        let is_comment = |l: &str| split(l).is_some_and(|(_, rest)| rest.trim_start().starts_with("COM "));
        let comment = head.find(is_comment).filter(|_| head.find(|l| Banner::read(l).is_some()).is_some())?;
        Likeness::by_line(70, "comment", comment)
    })
}

/// A time and columns of sar that no other system's sar has.
fn is_sar_header(line: &str) -> bool {
    let Some((_, rest)) = split(line) else { return false };
    let rest = rest.trim();
    if rest.starts_with("LINUX RESTART") {
        return true;
    }
    let names = words(rest);
    let has = |name: &str| names.contains(&name);
    let pairs = [
        ("DEV", "tps"),
        ("rtps", "wtps"),
        ("pgpgin/s", "pgpgout/s"),
        ("pswpin/s", "pswpout/s"),
        ("kbmemfree", "kbmemused"),
        ("kbswpfree", "kbswpused"),
        ("runq-sz", "plist-sz"),
        ("IFACE", "rxpck/s"),
        ("INTR", "intr/s"),
        ("INTR", "all"),
        ("dentunusd", "inode-nr"),
        ("totsck", "tcpsck"),
        ("proc/s", "cswch/s"),
        ("TTY", "rcvin/s"),
        ("FCHOST", "fch_rxf/s"),
        ("MBfsfree", "MBfsused"),
        ("kbhugfree", "kbhugused"),
        ("CPU", "MHz"),
        ("%sio-10", "%sio-60"),
    ];
    pairs.iter().any(|(a, b)| has(a) && has(b))
        || names.first() == Some(&"CPU") && has("%idle") && has("%iowait") && !is_mpstat_header(line)
        || names == ["cswch/s"]
}

/// mpstat puts `%irq %soft` before `%steal`, sar after it; old versions end with `intr/s`.
fn is_mpstat_header(line: &str) -> bool {
    let Some((_, rest)) = split(line) else { return false };
    let names = words(rest);
    let at = |name: &str| names.iter().position(|n| *n == name);
    if names == ["CPU", "intr/s"] {
        return true;
    }
    let is_cpu = matches!(names.first(), Some(&("CPU" | "NODE"))) && at("%idle").is_some();
    is_cpu
        && match (at("%irq"), at("%steal")) {
            (Some(irq), Some(steal)) => irq < steal,
            _ => at("intr/s").is_some(),
        }
}

/// A table that was met, by its header.
struct Met {
    header: String,
    clock: Clock,
    /// Time of the last header, when no row has followed it.
    began_s: Option<f64>,
    /// Time of the last row as written: most rows have that of the row before.
    stamp: String,
    interval: Interval,
    /// Absent when the table is not kept.
    kept: Option<(Activity, Cells)>,
    known: Known,
}

/// The reader.
#[derive(Default)]
struct Sar {
    /// Date and last restart.
    base: Clock,
    page_bytes: Option<f64>,
    tables: Vec<Met>,
    current: Option<usize>,
    skipped: BTreeSet<String>,
    asked_s: f64,
    /// A date that could be read in two orders, until a clock with AM and PM shows that the month comes first.
    doubtful: Option<String>,
    date_told: bool,
}

impl LineFormat for Sar {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        // The usual case first: one more row of the same time.
        if let Some(table) = self.current.and_then(|n| self.tables.get_mut(n)) {
            let rest = line.strip_prefix(table.stamp.as_str());
            if let Some(rest) = rest.filter(|r| !table.stamp.is_empty() && r.starts_with([' ', '\t']))
                && table.row(rest, out)
            {
                return Took::Yes;
            }
        }
        // An interrupted run on a terminal.
        let line = line.strip_prefix("^C").unwrap_or(line);
        if line.trim().is_empty() {
            return Took::Yes;
        }
        if is_extreme(line) && self.current.is_some() {
            return Took::Yes;
        }
        if let Some((stamp, rest)) = split(line) {
            return self.stamped(stamp, rest.trim(), out);
        }
        if let Some(banner) = Banner::read(line) {
            self.banner(&banner, out);
            return Took::Yes;
        }
        // What collectors put around: `## FooterBegin`.
        if line.starts_with("##") || collector::is_noise(line) { Took::Yes } else { Took::No }
    }

    fn command(&mut self, command: &str) {
        let asked = words(command).into_iter().find_map(|w| decimal(w).filter(|n| *n > 0.0));
        if let Some(asked) = asked {
            self.asked_s = asked;
            self.base.asked(asked);
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let skipped = std::mem::take(&mut self.skipped);
        if !skipped.is_empty() {
            let names: Vec<&str> = skipped.iter().map(String::as_str).collect();
            out.remark(&format!(
                "tables that say nothing about storage were left unread: {}",
                names.join(", ")
            ));
        }
    }
}

impl Sar {
    fn banner(&mut self, banner: &Banner, out: &mut Out<'_>) {
        out.host(banner.host.clone());
        self.page_bytes = banner.page_bytes;
        self.tables.clear();
        self.current = None;
        self.base = Clock::new();
        self.base.asked(self.asked_s);
        if let Some(date) = banner.date_in(DateOrder::default()) {
            self.base.set_date(date);
        }
        self.doubtful = banner.date.clone().filter(|_| banner.is_ambiguous());
    }

    /// A line that begins with a time, or with the word for average.
    fn stamped(&mut self, stamp: Stamp<'_>, rest: &str, out: &mut Out<'_>) -> Took {
        let cells = words(rest);
        let is_header = !cells.is_empty() && cells.iter().all(|c| is_column_name(c));
        if rest.starts_with("LINUX RESTART") || rest.starts_with("COM ") {
            self.event(stamp, rest, out);
            return Took::Yes;
        }
        // The word for average is any word: what follows must be a table met before.
        let is_new = |header: &str| self.tables.iter().all(|t| t.header != header);
        if stamp == Stamp::Average && (self.current.is_none() || is_header && is_new(rest)) {
            return Took::No;
        }
        if is_header {
            if cells.iter().any(|c| matches!(*c, "PID" | "TGID" | "Command")) {
                return Took::No;
            }
            self.header(stamp, rest, &cells, out);
            return Took::Yes;
        }
        // A clock with AM and PM is that of a country where the month comes first.
        if let (Stamp::Time { text, .. }, Some(date)) = (stamp, self.doubtful.take())
            && text.len() <= 8
            && !std::mem::replace(&mut self.date_told, true)
        {
            out.remark(&format!("the date {date} was read as month/day: nothing tells the order"));
        }
        let Some(table) = self.current.and_then(|n| self.tables.get_mut(n)) else {
            out.complain("a header of a table", rest);
            return Took::Yes;
        };
        if table.kept.is_none() {
            return Took::Yes;
        }
        table.begin(stamp, out);
        if !table.row(rest, out) {
            if stamp == Stamp::Average {
                return Took::No;
            }
            let (named, numbers) = table.expected();
            out.complain(&format!("a time, {named}{numbers} numbers"), rest);
        }
        if stamp == Stamp::Average {
            table.stamp.clear();
        }
        Took::Yes
    }

    fn header(&mut self, stamp: Stamp<'_>, rest: &str, cells: &[&str], out: &mut Out<'_>) {
        let known = self.tables.iter().position(|t| t.header == rest);
        let at = known.unwrap_or_else(|| {
            if self.tables.len() >= TABLES_MAX {
                self.tables.clear();
            }
            let kept = match activity(cells, self.page_bytes, out) {
                Table::Kept(activity) => {
                    let cells = Cells::new(&activity.columns, true, out);
                    Some((activity, cells))
                }
                Table::Skipped => {
                    self.skip(cells);
                    None
                }
            };
            self.tables.push(Met {
                header: rest.to_owned(),
                clock: self.base.clone(),
                began_s: None,
                stamp: String::new(),
                interval: Interval::unknown(RowsKind::Interval),
                kept,
                known: Known::default(),
            });
            self.tables.len() - 1
        });
        self.current = Some(at);
        let table = &mut self.tables[at];
        table.stamp.clear();
        table.known.begin_table();
        if let Stamp::Time { seconds, .. } = stamp {
            // The interval of the first row begins here.
            table.began_s = Some(seconds);
            table.clock.time_of_day(seconds, RowsKind::SinceBoot);
        }
    }

    fn skip(&mut self, names: &[&str]) {
        let is_item = |name: &&&str| name.bytes().all(|b| b.is_ascii_uppercase());
        let pick = |n: usize| names.get(n).copied().unwrap_or_default();
        let name = match [names.first(), names.last()].into_iter().flatten().find(is_item) {
            Some(item) => format!("{item} {}", if pick(0) == *item { pick(1) } else { pick(0) }),
            None => pick(0).to_owned(),
        };
        if self.skipped.len() < TABLES_MAX {
            self.skipped.insert(name);
        }
    }

    /// `LINUX RESTART` ends the intervals before it; `COM` is a comment that somebody put in the data file.
    fn event(&mut self, stamp: Stamp<'_>, rest: &str, out: &mut Out<'_>) {
        let mut clock = match self.current.and_then(|n| self.tables.get(n)) {
            Some(table) => table.clock.clone(),
            None => self.base.clone(),
        };
        let at_s = match stamp {
            Stamp::Time { seconds, .. } => clock.time_of_day(seconds, RowsKind::SinceBoot).at_s,
            Stamp::Average => f64::NAN,
        };
        let host = out.place(PlaceKind::Host, "");
        if let Some(comment) = rest.strip_prefix("COM ") {
            out.event(host, EventKind::Other, at_s, comment.trim());
            return;
        }
        out.event(host, EventKind::Restart, at_s, rest);
        self.base = clock;
        self.tables.clear();
        self.current = None;
    }
}

impl Met {
    /// The interval of a row.
    fn begin(&mut self, stamp: Stamp<'_>, out: &mut Out<'_>) {
        self.known.begin_table();
        self.interval = match stamp {
            Stamp::Average => Interval::unknown(RowsKind::Average),
            Stamp::Time { seconds, text } => {
                // Without an interval mpstat and `sar 0` report everything since boot, and both times are now.
                let since_boot = self.began_s.take() == Some(seconds);
                let kind = if since_boot { RowsKind::SinceBoot } else { RowsKind::Interval };
                self.stamp.clear();
                self.stamp.push_str(text);
                self.clock.time_of_day(seconds, kind)
            }
        };
        out.interval(self.interval);
    }

    /// A row of the interval begun last; false when it is none. What is not kept is none.
    #[inline]
    fn row(&mut self, rest: &str, out: &mut Out<'_>) -> bool {
        let Some((activity, cells)) = &self.kept else { return false };
        let Some(layout) = cells.layout() else { return false };
        let rest = rest.trim();
        let (name, numbers) = match (activity.item, activity.item_last) {
            (Item::Host, _) => ("", rest),
            (_, false) => rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len())),
            (_, true) => {
                let at = rest.rfind([' ', '\t']).map_or(0, |at| at + 1);
                (&rest[at..], &rest[..at])
            }
        };
        let mut values: Values = [f64::NAN; WIDTH_MAX];
        let is_row = cells.blanks(numbers, &mut values)
            || activity.topology > 0 && cells.blanks(after_words(numbers, activity.topology), &mut values);
        if !is_row || (name.is_empty() && activity.item != Item::Host) {
            return false;
        }
        // Of interrupts only the sum.
        if activity.item == Item::Interrupt && name != "sum" {
            return true;
        }
        let item = activity.item;
        let place = self.known.place(name, |name| item.place(name), out);
        out.row(layout, place, &values[..cells.width()]);
        true
    }

    fn expected(&self) -> (&'static str, usize) {
        self.kept.as_ref().map_or(("", 0), |(activity, cells)| {
            (if activity.item == Item::Host { "" } else { "a name and " }, cells.len())
        })
    }
}

/// What stands behind so many words.
fn after_words(text: &str, count: usize) -> &str {
    let mut rest = text.trim_start();
    for _ in 0..count {
        rest = rest.find([' ', '\t']).map_or("", |end| rest[end..].trim_start());
    }
    rest
}

/// Rows of option -x (12.7): least and largest figures, which are no interval and no average.
fn is_extreme(line: &str) -> bool {
    ["Minimum:", "Maximum:", "Minimum :", "Maximum :"].iter().any(|word| line.starts_with(word))
}

/// A word that can stand in a header: no number.
fn is_column_name(word: &str) -> bool {
    let number = word.trim_end_matches(['%', 'k', 'M', 'G', 'T', 'B']);
    decimal(number).is_none() && !matches!(word, "nan" | "-nan" | "inf" | "-") && !word.starts_with('/')
}
