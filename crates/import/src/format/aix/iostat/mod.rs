//! `iostat` of AIX 3.2 to 7.3: plain, by adapters (`-a`), by paths (`-m`), system (`-s`), filesystems (`-F`), and the
//! extended reports `-D` (a block per disk) and `-Dl` (a line per disk), with `-T`, `-R`, `-V`.
//!
//! AIX tells host queue and LUN queue apart: `avgtime` and `avgwqsz` are the wait queue in the host, `avgserv` and
//! `avgsqsz` the service queue, up to `queue_depth`. Times are milliseconds unless a letter follows.

mod blocks;
mod columns;
mod rulers;
mod table;

use super::device::{self, arguments, runs};
use crate::clock::Clock;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use blocks::Blocks;
use columns::{Group, names};
use record::imported::{EventKind, Host, PlaceId, PlaceKind, Platform, RowsKind, facts};
use rulers::{Header, is_rulers};
use std::collections::HashSet;
use table::{About, Row, Table};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-iostat",
    title: "iostat of AIX, plain and extended (-D, -Dl), with adapters, paths, filesystems",
    recognise,
    reads: Reads::Lines { new: || Box::new(Iostat { clock: Clock::new(), ..Iostat::default() }), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "header", head.find(is_header)?)
}

fn begins(line: &str) -> bool {
    is_header(line) || line.starts_with("System configuration:") && line.contains(" paths=")
}

/// A header that only this iostat has.
fn is_header(line: &str) -> bool {
    let plain = |line: &str| {
        let lower = line.to_ascii_lowercase();
        (lower.starts_with("tty:") || lower.starts_with("aio:")) && lower.contains("cpu:")
            || titled(line).is_some_and(|(_, rest)| {
                names(rest).first().is_some_and(|n| n.eq_ignore_ascii_case("%tm_act"))
                    && lower.contains("kbps")
                    && lower.contains("tps")
            })
    };
    is_long_title(line) || blocks::is_first(line) || plain(line.trim_start())
}

/// `Disks:    xfers    read    write    queue`.
fn is_long_title(line: &str) -> bool {
    titled(line.trim_start())
        .is_some_and(|(_, rest)| words(rest).iter().take(4).copied().eq(["xfers", "read", "write", "queue"]))
}

/// What a table is about, by the title that its header begins with, and the rest of the line.
fn titled(line: &str) -> Option<(About, &str)> {
    let (title, rest) = line.split_once(':')?;
    let about = match title.to_ascii_lowercase().as_str() {
        "disks" | "disk" | "tapes" | "tape" | "disks/paths" | "disk/paths" => About::Disks,
        "adapter" | "adapters" | "vadapter" | "vadapters" => About::Adapters,
        "paths" | "path" | "paths/disks" | "paths/disk" => About::Paths,
        "fs name" | "filesystem" => About::Filesystems,
        _ => return None,
    };
    Some((about, rest))
}

/// The reader.
#[derive(Default)]
struct Iostat {
    clock: Clock,
    table: Option<Table>,
    /// A header of the long layout that is not complete.
    header: Option<(About, Header)>,
    /// The names of the `System:` table are awaited.
    system: bool,
    blocks: Blocks,
    reports: Reports,
    unread_told: bool,
    sums_told: bool,
    paths_told: HashSet<PlaceId>,
    /// The disk that paths below it belong to.
    disk: String,
}

/// Where one report ends and the next begins: no line says so.
#[derive(Default)]
struct Reports {
    /// The text has the beginning of a run, so that its first report is since boot.
    from_start: bool,
    /// Reports begun.
    count: u64,
    /// The next row begins a report.
    due: bool,
    /// The configuration has changed: the next configuration line begins no run.
    changed: bool,
    /// Rows and tables of the report so far; rows below adapters repeat within it.
    rows: HashSet<(About, Option<PlaceId>, PlaceId)>,
    titles: HashSet<About>,
    adapter: Option<PlaceId>,
    time_s: Option<f64>,
    /// Time of a line of `date` above the report.
    dated_s: Option<f64>,
}

impl LineFormat for Iostat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some((about, mut header)) = self.header.take() {
            if is_rulers(trimmed) {
                header.rulers(line);
                self.header = Some((about, header));
                return Took::Yes;
            }
            if header.names(line) {
                let columns = header.columns();
                self.begin_table(about, &columns, out);
                self.header = Some((about, header));
                return Took::Yes;
            }
        }
        if self.blocks.is_open() && self.block_values(trimmed, out) {
            return Took::Yes;
        }
        if let Some(table) = &self.table
            && let Some(row) = table.row(trimmed)
        {
            let about = table.about;
            self.row(about, &row, trimmed, out);
            return Took::Yes;
        }
        self.other(line, trimmed, out)
    }

    fn command(&mut self, command: &str) {
        if !runs(command, "iostat") {
            return;
        }
        if let Some(interval) = arguments(command).find_map(|w| decimal(w).filter(|n| *n > 0.0)) {
            self.clock.asked(interval);
        }
        self.start();
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish_block(out);
    }
}

impl Iostat {
    /// A run begins.
    fn start(&mut self) {
        self.clock.restarted();
        self.reports = Reports { from_start: true, due: true, ..Reports::default() };
    }

    /// Headers, banners and the like.
    fn other(&mut self, line: &str, trimmed: &str, out: &mut Out<'_>) -> Took {
        if let Some(rest) = trimmed.strip_prefix("System configuration") {
            return self.configuration(rest, trimmed, out);
        }
        if let Some(name) = trimmed.strip_prefix("System:") {
            let name = Some(name.trim().to_owned()).filter(|n| !n.is_empty());
            out.host(Host { name, platform: Platform::Aix, ..Host::default() });
            (self.system, self.table) = (true, None);
            return Took::Yes;
        }
        let lower = trimmed.to_ascii_lowercase();
        if lower.starts_with("tty:") || lower.starts_with("aio:") {
            out.platform(Platform::Aix);
            if out.origin().line <= 2 && self.reports.count == 0 && !self.reports.from_start {
                // Releases up to 5.2 print no configuration above the first report.
                self.start();
                out.remark(
                    "the text begins with a report, which was taken for the first one of a run: since boot",
                );
            }
            let columns: Vec<_> = names(trimmed)
                .into_iter()
                .filter(|n| !n.ends_with(':'))
                .map(|name| (Group::Transfers, name))
                .collect();
            self.titled(About::Processors);
            self.begin_table(About::Processors, &columns, out);
            return Took::Yes;
        }
        if std::mem::take(&mut self.system) && lower.contains("kbps") {
            let columns: Vec<_> = names(trimmed).into_iter().map(|n| (Group::Transfers, n)).collect();
            self.begin_table(About::System, &columns, out);
            return Took::Yes;
        }
        if blocks::group_line(trimmed).is_some() {
            return self.block_header(trimmed, out);
        }
        if let Some((about, rest)) = titled(trimmed) {
            return self.title(about, line, rest, out);
        }
        if trimmed.bytes().all(|b| b == b'-') {
            self.finish_block(out);
            return Took::Yes;
        }
        if lower.starts_with("disk history since boot not available") {
            out.remark("disk history since boot was not kept on this host (sys0 attribute iostat)");
            return Took::Yes;
        }
        if let Some((date, time_s)) = super::errpt::date_line(trimmed) {
            self.clock.set_date(date);
            self.reports.due = true;
            self.reports.dated_s = Some(time_s);
            return Took::Yes;
        }
        if let Some(table) = self.table.as_ref().filter(|t| t.looks_like_row(trimmed)) {
            out.complain(&format!("a name and {} figures", table.width()), trimmed);
            return Took::Yes;
        }
        Took::No
    }

    /// `: lcpu=8 drives=2 paths=4 vdisks=1 tapes=0`, and ` changed at 11:11:11. ...`.
    fn configuration(&mut self, rest: &str, line: &str, out: &mut Out<'_>) -> Took {
        self.finish_block(out);
        self.table = None;
        if rest.trim_start().starts_with("changed") {
            self.reports.changed = true;
            let host = out.place(PlaceKind::Host, "");
            out.event(host, EventKind::Other, f64::NAN, line);
            return Took::Yes;
        }
        let processors = words(rest).iter().find_map(|w| w.strip_prefix("lcpu=")?.parse().ok());
        out.host(Host { platform: Platform::Aix, processors, ..Host::default() });
        if std::mem::take(&mut self.reports.changed) {
            self.reports.due = true;
        } else {
            self.start();
        }
        Took::Yes
    }

    fn title(&mut self, about: About, line: &str, rest: &str, out: &mut Out<'_>) -> Took {
        let is_rate = |n: &str| matches!(n.to_ascii_lowercase().as_str(), "kbps" | "bps" | "tps" | "xfers");
        if !rest.trim().is_empty() && !words(rest).into_iter().any(is_rate) {
            return Took::No;
        }
        self.finish_block(out);
        out.platform(Platform::Aix);
        if about == About::Adapters && !std::mem::replace(&mut self.sums_told, true) {
            out.remark("adapters: AIX sums the disks behind each, there are no counters of its own; do not add them to the disks");
        }
        self.titled(about);
        self.table = None;
        let columns: Vec<_> = names(rest).into_iter().map(|n| (Group::Transfers, n)).collect();
        if is_long_title(line) {
            self.header = Some((about, Header::new(line)));
        } else if !columns.is_empty() {
            self.begin_table(about, &columns, out);
        }
        Took::Yes
    }

    /// A table of this title begins. Twice the same one is two reports, except below adapters.
    fn titled(&mut self, about: About) {
        let below = self.reports.adapter.is_some() || about == About::Adapters;
        if !self.reports.titles.insert(about) && !below {
            self.reports.due = true;
        }
    }

    fn begin_table(&mut self, about: About, columns: &[rulers::Named], out: &mut Out<'_>) {
        // The time of option -T stands last in each row, and is told apart there.
        let end = columns.iter().rposition(|(_, name)| name != "time").map_or(0, |at| at + 1);
        let (table, unread) = Table::new(about, &columns[..end], out);
        self.table = Some(table);
        if !unread.is_empty() && !std::mem::replace(&mut self.unread_told, true) {
            out.remark(&format!("columns that are not known here were left unread: {}", unread.join(" ")));
        }
    }

    fn row(&mut self, about: About, row: &Row<'_>, line: &str, out: &mut Out<'_>) {
        let Some(place) = self.place(about, row.name, out) else { return };
        self.complain_cell(row, line, out);
        self.report(about, place, row.time_s, out);
        if let Some(layout) = self.table.as_ref().and_then(Table::layout) {
            out.row(layout, place, &row.values);
        }
    }

    fn complain_cell(&self, row: &Row<'_>, line: &str, out: &mut Out<'_>) {
        if let Some(bad) = row.bad {
            let at = line.find(bad).unwrap_or(0);
            let found = format!("{bad} in '{}'", line.get(at.saturating_sub(20)..).unwrap_or(line));
            out.complain("a figure, or a time with S (seconds) or H (hours)", &found);
        }
    }

    /// The place of a row; absent for rows that say nothing of their own.
    fn place(&mut self, about: About, name: &str, out: &mut Out<'_>) -> Option<PlaceId> {
        Some(match about {
            About::Processors => out.place(PlaceKind::Host, ""),
            About::System => {
                return (name.is_empty() || name.eq_ignore_ascii_case("physical"))
                    .then(|| out.place(PlaceKind::Host, ""));
            }
            About::Adapters => {
                let place = out.place(PlaceKind::Adapter, name);
                self.reports.adapter = Some(place);
                place
            }
            About::Filesystems => out.place(PlaceKind::Filesystem, name),
            About::Disks | About::Paths => {
                let bare = name.trim_matches(['[', ']']);
                let number = bare.strip_prefix("Path").or_else(|| bare.strip_prefix("path"));
                if let Some(number) = number.filter(|_| !self.disk.is_empty()) {
                    let place = out.place(PlaceKind::Path, &device::path(&self.disk, number));
                    if self.paths_told.insert(place) {
                        out.fact(place, facts::PART_OF, self.disk.as_str());
                    }
                    return Some(place);
                }
                if about == About::Paths || number.is_some() {
                    return Some(out.place(PlaceKind::Path, bare));
                }
                name.clone_into(&mut self.disk);
                out.place(device::disk_kind(name), name)
            }
        })
    }

    /// Begins a report where this row is the first of one.
    fn report(&mut self, about: About, place: PlaceId, time_s: Option<f64>, out: &mut Out<'_>) {
        let reports = &mut self.reports;
        let below = reports.adapter.filter(|_| about != About::Adapters);
        let is_new = reports.count == 0
            || reports.due
            || reports.rows.contains(&(about, below, place))
            || time_s.is_some() && reports.time_s.is_some() && time_s != reports.time_s;
        if is_new {
            reports.count += 1;
            reports.due = false;
            reports.rows.clear();
            let title = reports.titles.contains(&about);
            reports.titles.clear();
            if title {
                reports.titles.insert(about);
            }
            if about != About::Adapters {
                reports.adapter = None;
            }
            reports.time_s = time_s;
            let first = reports.from_start && reports.count == 1;
            let kind = if first { RowsKind::SinceBoot } else { RowsKind::Interval };
            let time_s = time_s.or(reports.dated_s.take());
            let interval = match time_s {
                Some(seconds) => self.clock.time_of_day(seconds, kind),
                None => self.clock.next(kind),
            };
            out.interval(interval);
        }
        let below = self.reports.adapter.filter(|_| about != About::Adapters);
        self.reports.rows.insert((about, below, place));
    }
}
