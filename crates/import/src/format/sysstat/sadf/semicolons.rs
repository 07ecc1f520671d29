//! `sadf -d`: semicolons, one table per activity; with -h all items of an interval on one line.

use super::line::Beginning;
use crate::format::linux::device;
use crate::format::sysstat::activity::{Activity, Item, Known as Table, activity};
use crate::format::sysstat::cells::{Cells, Values, WIDTH_MAX};
use crate::format::sysstat::known::Known;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::PlaceKind;
use std::collections::BTreeSet;

/// This format.
pub(crate) const FORMAT: Format = Format {
    name: "sadf-csv",
    title: "sadf -d of sysstat 5 to 12: semicolons",
    recognise,
    reads: Reads::Lines { new: || Box::new(Semicolons::default()), begins: is_header },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    head.find(is_header).and_then(|line| Likeness::by_line(98, "header", line))
}

fn is_header(line: &str) -> bool {
    line.starts_with("# hostname;interval;timestamp") || line.starts_with("#hostname;interval;timestamp")
}

/// Items of one table on a line.
const ITEMS_MAX: usize = 4096;

/// One activity of a header.
#[derive(Default)]
struct Group {
    /// Absent when it is not kept.
    kept: Option<(Activity, Cells)>,
    /// Cells of an item, its name included; `None` when their number is not told (`CPU*`).
    cells: Option<usize>,
    /// Has a name, and stands as often as there are items (option -h).
    repeats: bool,
    /// The first column, to tell names apart where items repeat.
    first: String,
    known: Known,
}

/// The reader.
#[derive(Default)]
struct Semicolons {
    header: String,
    groups: Vec<Group>,
    /// All items of an interval stand on one line.
    is_flat: bool,
    beginning: Beginning,
    skipped: BTreeSet<String>,
}

impl LineFormat for Semicolons {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        // The usual case first: another item of the same table and time.
        if !self.is_flat
            && let (Some(rest), Some(group)) = (self.beginning.same(line), self.groups.first_mut())
            && group.row(rest, out)
        {
            return Took::Yes;
        }
        self.other(line, out)
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

impl Semicolons {
    fn other(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim_end();
        if line.is_empty() {
            return Took::Yes;
        }
        if is_header(line) {
            self.header(line, out);
            return Took::Yes;
        }
        let Some((rest, is_new_host)) = self.beginning.read(line, ';', out) else {
            let is_mine = line.bytes().filter(|b| *b == b';').count() >= 3;
            if is_mine {
                out.complain("host;interval;time;...", line);
                return Took::Yes;
            }
            return Took::No;
        };
        for group in &mut self.groups {
            if is_new_host {
                group.known.forget();
            }
            group.known.begin_table();
        }
        if self.beginning.event(rest, out) {
            return Took::Yes;
        }
        if self.is_flat {
            self.flat(rest, out);
            return Took::Yes;
        }
        let Some(group) = self.groups.first_mut() else {
            out.complain("a header that begins with '# hostname;interval;timestamp'", line);
            return Took::Yes;
        };
        if group.kept.is_some() && !group.row(rest, out) {
            let cells = group.cells.unwrap_or(0);
            out.complain(&format!("{cells} cells after host, interval and time"), line);
        }
        Took::Yes
    }

    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        if line == self.header {
            return;
        }
        self.header = line.to_owned();
        self.groups.clear();
        self.is_flat = line.contains("[...]");
        let names: Vec<&str> = line.split(';').skip(3).collect();
        // With -h an activity with items ends with `[...]`; one without ends where the next begins, and nothing tells
        // where: all their columns are names of their own, so they can be read as one.
        let mut from = 0;
        for n in 0..names.len() {
            let ends = names[n].ends_with("[...]");
            // Processor time ends so; without [...] where only all processors were asked for.
            let begins_next = names[n] == "%idle" || names.get(n + 1).is_some_and(|next| is_item(next));
            if ends || begins_next && self.is_flat || n + 1 == names.len() {
                let columns: Vec<&str> =
                    names[from..=n].iter().map(|c| c.trim_end_matches("[...]")).collect();
                self.group(&columns, ends, out);
                from = n + 1;
            }
        }
    }

    fn group(&mut self, columns: &[&str], repeats: bool, out: &mut Out<'_>) {
        let kept = match activity(columns, None, out) {
            Table::Kept(activity) => {
                let cells = Cells::new(&activity.columns, true, out);
                Some((activity, cells))
            }
            Table::Skipped => {
                if self.skipped.len() >= 256 {
                    self.skipped.clear();
                }
                self.skipped.insert(columns.iter().take(2).copied().collect::<Vec<_>>().join(" "));
                None
            }
        };
        let is_open = columns.iter().any(|c| c.ends_with('*'));
        self.groups.push(Group {
            kept,
            cells: (!is_open).then_some(columns.len()),
            repeats,
            first: columns.first().copied().unwrap_or_default().to_owned(),
            known: Known::default(),
        });
    }

    /// All items of an interval, activity after activity.
    fn flat(&mut self, rest: &str, out: &mut Out<'_>) {
        let mut at = 0;
        for n in 0..self.groups.len() {
            // What follows the last table that is kept is of no use.
            if self.groups[n..].iter().all(|g| g.kept.is_none()) {
                return;
            }
            let is_last_group = n + 1 == self.groups.len();
            let interfaces_follow = self.groups.get(n + 1).is_some_and(|next| next.first == "IFACE");
            let group = &mut self.groups[n];
            // The number of processors is not told: their figures have a point, the next interrupt's name has none.
            let width = group.cells.unwrap_or_else(|| {
                let figures = rest.get(at..).unwrap_or("").split(';').skip(1);
                1 + figures.take_while(|cell| cell.contains(['.', ','])).count()
            });
            let mut names: Vec<&str> = Vec::new();
            loop {
                let Some(item) = take(rest, at, width) else {
                    return out
                        .complain(&format!("{width} cells for each item"), rest.get(at..).unwrap_or(""));
                };
                if group.kept.is_some() && !group.row(item, out) {
                    return out.complain(&format!("{width} cells for each item"), item);
                }
                if names.len() >= ITEMS_MAX {
                    return out.complain(&format!("at most {ITEMS_MAX} items of a table"), item);
                }
                names.push(item.split(';').next().unwrap_or(""));
                at += item.len() + 1;
                let next = rest.get(at..).unwrap_or("").split(';').next().unwrap_or("");
                // A name that comes again is that of the next table: of processors there are several.
                let is_mine = is_last_group || group.names(next) && !names.contains(&next);
                let is_mine =
                    is_mine && !(interfaces_follow && is_interface(next, rest.get(at..).unwrap_or("")));
                if !group.repeats || at >= rest.len() || !is_mine {
                    break;
                }
            }
            if at >= rest.len() {
                return;
            }
        }
    }
}

impl Group {
    /// One item; false when it is none, and when the table is not kept.
    #[inline]
    fn row(&mut self, rest: &str, out: &mut Out<'_>) -> bool {
        let Some((activity, cells)) = &self.kept else { return false };
        let Some(layout) = cells.layout() else { return false };
        let item = activity.item;
        let (name, numbers) = if item == Item::Host {
            ("", rest)
        } else {
            let Some(end) = memchr::memchr(b';', rest.as_bytes()) else { return false };
            (&rest[..end], &rest[end + 1..])
        };
        if item == Item::Interrupt {
            return self.interrupt(name, numbers, out);
        }
        let mut values: Values = [f64::NAN; WIDTH_MAX];
        if !cells.semicolons(numbers, &mut values) {
            return false;
        }
        let place = self.known.place(name, |name| item.place(name), out);
        out.row(layout, place, &values[..cells.width()]);
        true
    }

    /// Of interrupts only the sum: of all processors, which may be followed by one for each.
    fn interrupt(&mut self, name: &str, numbers: &str, out: &mut Out<'_>) -> bool {
        if name == "sum" || name == "-1" {
            let Some(number) = numbers.split(';').next().and_then(decimal) else { return false };
            let place = self.known.place(name, |name| Item::Interrupt.place(name), out);
            out.put(place, &[(record::imported::Quantity::InterruptsPerS, number)]);
        }
        true
    }

    /// Whether a cell can be the name of one more item of this table, where another table may follow.
    fn names(&self, cell: &str) -> bool {
        let is_number = !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit());
        match self.first.as_str() {
            "CPU" => cell == "-1" || is_number,
            "INTR" => !cell.contains(['.', ',']),
            "TTY" | "BAT" | "FAN" | "TEMP" | "IN" | "BUS" => is_number,
            _ => decimal(cell).is_none(),
        }
    }
}

/// Whether a name is that of a network interface, where devices have come before: it comes again with its errors, or is one
/// that no block device has.
fn is_interface(name: &str, rest: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "lo", "eth", "en", "wl", "bond", "br", "virbr", "docker", "veth", "tun", "tap", "ib", "team", "vlan",
    ];
    let comes_again = rest.split(';').skip(1).take(ITEMS_MAX).any(|cell| cell == name);
    let is_block = name.starts_with("loop") || device::kind(name) != PlaceKind::Volume;
    !is_block && (comes_again || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)))
}

fn is_item(name: &str) -> bool {
    let name = name.trim_end_matches("[...]");
    name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase())
}

/// So many cells from a byte on.
fn take(rest: &str, from: usize, cells: usize) -> Option<&str> {
    let text = rest.get(from..).filter(|t| !t.is_empty())?;
    let mut ends = memchr::memchr_iter(b';', text.as_bytes());
    for n in 1..=cells {
        match ends.next() {
            Some(end) if n == cells => return Some(&text[..end]),
            Some(_) => {}
            None if n == cells => return Some(text),
            None => return None,
        }
    }
    None
}
