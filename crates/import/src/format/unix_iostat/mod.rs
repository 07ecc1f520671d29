//! The iostat that Solaris, illumos, FreeBSD and HP-UX have in common: a table with a row per device under a header that
//! every report repeats, or the horizontal layout with a group of columns per disk; processors above, beside or behind.
//!
//! Sources: iostat(1M) of Solaris and illumos, iostat(8) of FreeBSD, iostat(1) of HP-UX. The first report is since boot on
//! all of them, and nothing in it tells so: it is marked by its position.

mod devices;
mod header;
mod plain;

use crate::clock::Clock;
use crate::format::columns::numbers;
use crate::format::{LineFormat, Took, stamp};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use devices::{Devices, Fit};
pub(crate) use header::Flavour;
use plain::Plain;
use record::imported::{EventKind, Interval, PlaceKind, Platform, RowsKind};

/// How much a text looks like this iostat.
pub(crate) fn recognise(flavour: Flavour, head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| header::is_header(flavour, l)) {
        return Likeness::by_line(95, "header", line);
    }
    if flavour == Flavour::Solaris
        && let Some(line) = head.lines.windows(2).position(is_broken_header)
    {
        return Likeness::by_line(90, "header in two lines", (line + 1, head.lines.get(line).unwrap_or(&"")));
    }
    let line = head.find(|l| header::is_group_header(flavour, l))?;
    Likeness::by_line(if line.1.contains("tin") || line.1.contains("kps") { 92 } else { 70 }, "header", line)
}

/// Whether a line begins this iostat and no other.
pub(crate) fn begins(flavour: Flavour, line: &str) -> bool {
    header::is_header(flavour, line)
        || words(line).starts_with(&["tin", "tout"]) && header::is_group_header(flavour, line)
}

fn is_broken_header(lines: &[&str]) -> bool {
    let [first, second] = lines else { return false };
    header::is_part_of_header(Flavour::Solaris, first)
        && header::is_header(Flavour::Solaris, &format!("{first} {second}"))
}

/// The reader.
pub(crate) struct Iostat {
    flavour: Flavour,
    kind: fn(&str) -> PlaceKind,
    clock: Clock,
    /// Reports seen; the first is since boot.
    reports: u64,
    /// A time line has begun the report that follows.
    begun: bool,
    /// Processors stood above: with option -x the devices below them are of the same report.
    after_processors: bool,
    /// A stamp of a collector began a run of the tool; its reports have that one time.
    stamped: Option<Interval>,
    devices: Option<Devices>,
    plain: Option<Plain>,
    header: String,
    /// The line above, as far as it could be a title with the names of disks.
    title: String,
    /// A line that ends early, with its number: the next may be its rest.
    held: Option<(u64, String)>,
    unread_told: bool,
    platform_told: bool,
    single_told: bool,
}

impl Iostat {
    /// Of a flavour; `kind` tells what a device is by its name.
    pub fn new(flavour: Flavour, kind: fn(&str) -> PlaceKind) -> Self {
        Self {
            flavour,
            kind,
            clock: Clock::default(),
            reports: 0,
            begun: false,
            after_processors: false,
            stamped: None,
            devices: None,
            plain: None,
            header: String::new(),
            title: String::new(),
            held: None,
            unread_told: false,
            platform_told: false,
            single_told: false,
        }
    }

    fn kind_of_report(&self) -> RowsKind {
        if self.reports <= 1 { RowsKind::SinceBoot } else { RowsKind::Interval }
    }

    fn begin_report(&mut self, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.begun, false) {
            return;
        }
        self.reports += 1;
        let kind = self.kind_of_report();
        let interval = match self.stamped {
            Some(stamped) => Interval { kind, ..stamped },
            None => self.clock.next(kind),
        };
        out.interval(interval);
    }

    fn tell_platform(&mut self, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.platform_told, true) {
            out.platform(match self.flavour {
                Flavour::Solaris => Platform::Solaris,
                Flavour::FreeBsd => Platform::FreeBsd,
                Flavour::HpUx => Platform::HpUx,
            });
        }
    }

    fn device_header(&mut self, line: &str, out: &mut Out<'_>) {
        self.tell_platform(out);
        if !std::mem::replace(&mut self.after_processors, false) {
            self.begin_report(out);
        }
        self.plain = None;
        if self.header == line && self.devices.is_some() {
            return;
        }
        let (devices, remark) = Devices::new(self.flavour, line, out);
        if let Some(remark) = remark.filter(|_| !std::mem::replace(&mut self.unread_told, true)) {
            out.remark(&remark);
        }
        self.devices = Some(devices);
        line.clone_into(&mut self.header);
    }

    /// A line that ended early and was not continued.
    fn give_up_held(&mut self, out: &mut Out<'_>) {
        if let Some((number, text)) = self.held.take() {
            let expected =
                self.devices.as_ref().map_or_else(|| "a whole header".to_owned(), Devices::expected);
            out.complain_at(number, &expected, &text);
        }
    }

    /// The held line and this one together, where they make a row or a header.
    fn joined(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some((number, text)) = self.held.take() else { return false };
        let whole = format!("{text} {}", line.trim());
        if header::is_header(self.flavour, &whole) {
            self.device_header(&whole, out);
            return true;
        }
        let kind = self.kind;
        if self.devices.as_mut().is_some_and(|d| d.row(&whole, kind, out) == Fit::Row) {
            return true;
        }
        self.held = Some((number, text));
        false
    }

    /// A line of the horizontal layout; absent when it is none.
    fn plain_row(&mut self, line: &str, out: &mut Out<'_>) -> Option<Took> {
        let plain = self.plain.take()?;
        let cells = words(line);
        let row = numbers(cells.iter().copied()).filter(|n| n.len() == plain.len());
        let took = match row {
            Some(row) => {
                self.begin_report(out);
                plain.push(&row, self.kind, out);
                self.after_processors = plain.is_host_only();
                Some(Took::Yes)
            }
            None if cells.iter().filter(|c| decimal(c).is_some()).count() * 2 > plain.len() => {
                out.complain(&format!("{} numbers", plain.len()), line);
                Some(Took::Yes)
            }
            None => None,
        };
        self.plain = Some(plain);
        took
    }

    /// `<<device added: sd0>>`; processors and the like are told of the host.
    fn event(&self, line: &str, out: &mut Out<'_>) -> bool {
        let Some(text) = line.strip_prefix("<<").and_then(|l| l.strip_suffix(">>")) else { return false };
        let what = text.to_ascii_lowercase();
        let event = if what.contains("added") {
            EventKind::DeviceAdded
        } else if what.contains("removed") || what.contains("deleted") {
            EventKind::DeviceRemoved
        } else {
            EventKind::Other
        };
        let at_s = out.current_interval().at_s;
        let subject = text.split_once(": ").map(|(_, name)| name.trim());
        let place = match subject.filter(|n| !n.contains(' ') && !what.starts_with("processor")) {
            Some(name) => out.place((self.kind)(name), name),
            None => out.place(PlaceKind::Host, ""),
        };
        out.event(place, event, at_s, text);
        true
    }

    /// A line that only tells the time of what follows.
    fn time_line(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some((at_s, basis)) = stamp::moment(line) else { return false };
        if line.starts_with("zzz") {
            // Each stamp of OSWatcher stands above a new run of iostat, whose first report is since boot.
            self.reports = 0;
            self.begun = false;
            let kind = RowsKind::Interval;
            self.stamped = Some(Interval { at_s, length_s: f64::NAN, basis, kind });
            return true;
        }
        self.reports += 1;
        let kind = self.kind_of_report();
        let interval = self.clock.moment(at_s, basis, kind);
        out.interval(interval);
        self.begun = true;
        true
    }

    fn is_title(&self, line: &str) -> bool {
        use PlaceKind::{Device, Filesystem, Partition};
        let words = words(line);
        let disk = |w: &&str| matches!((self.kind)(w), Device | Partition | Filesystem);
        let named = words.first() == Some(&"tty") || words.last() == Some(&"cpu");
        line.len() < 4000 && (words.iter().all(disk) || named && !line.contains(['.', '%', '/']))
    }
}

impl LineFormat for Iostat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() {
            return Took::Yes;
        }
        if line == self.header || header::is_header(self.flavour, line) {
            self.give_up_held(out);
            self.device_header(line, out);
            return Took::Yes;
        }
        let kind = self.kind;
        let fit = match self.devices.as_mut().filter(|_| self.plain.is_none()) {
            Some(devices) => devices.row(line, kind, out),
            None => Fit::Foreign,
        };
        if fit != Fit::Row && self.held.is_some() && self.joined(line, out) {
            return Took::Yes;
        }
        self.give_up_held(out);
        match fit {
            Fit::Row => return Took::Yes,
            Fit::Short => {
                self.held = Some((out.origin().line, line.to_owned()));
                return Took::Yes;
            }
            Fit::Damaged => {
                let expected = self.devices.as_ref().map(Devices::expected).unwrap_or_default();
                out.complain(&expected, line);
                return Took::Yes;
            }
            Fit::Foreign => {}
        }
        if let Some(took) = self.plain_row(line, out) {
            return took;
        }
        if self.time_line(line, out) || self.event(line, out) {
            return Took::Yes;
        }
        if header::is_group_header(self.flavour, line) {
            self.tell_platform(out);
            let title = std::mem::take(&mut self.title);
            self.plain = Some(Plain::new(self.flavour, &title, line, out));
            return Took::Yes;
        }
        if line.starts_with("extended d")
            || line.starts_with("---- errors")
            || line.starts_with("device statistics")
        {
            return Took::Yes;
        }
        if header::is_part_of_header(self.flavour, line) {
            self.held = Some((out.origin().line, line.to_owned()));
            return Took::Yes;
        }
        if self.is_title(line) {
            line.clone_into(&mut self.title);
            return Took::Yes;
        }
        Took::No
    }

    fn command(&mut self, command: &str) {
        let mut before = "";
        for word in words(command.split(['|', '>', ';']).next().unwrap_or("")) {
            let counts = matches!(before, "-c" | "-n" | "-l" | "-t") && self.flavour == Flavour::FreeBsd
                || before == "-l";
            if let Some(seconds) = decimal(word).filter(|s| *s > 0.0 && !counts) {
                self.clock.asked(seconds);
                break;
            }
            before = word;
        }
        self.reports = 0;
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.give_up_held(out);
        if self.reports == 1 && !std::mem::replace(&mut self.single_told, true) {
            out.remark(
                "the only report was taken as the first of iostat, which covers the time since boot; where it was cut out of \
                 a longer run it covers an interval",
            );
        }
    }
}
