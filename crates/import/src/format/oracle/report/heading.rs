//! What stands at the top of a report: database, host, snapshots.

use super::value;
use crate::clock::{DateOrder, date, epoch_s, time_of_day};
use crate::out::Out;
use record::imported::{Basis, Host, Interval, PlaceId, PlaceKind, Platform, RowsKind, facts};

/// Facts that wait for the name of the instance.
const WAITING_MAX: usize = 200;

/// The heading, as far as it has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heading {
    instance: String,
    begin_s: Option<f64>,
    end_s: Option<f64>,
    elapsed_s: Option<f64>,
    /// Time of all sessions in calls, and of it processor time, in the period.
    time_s: Option<f64>,
    cpu_s: Option<f64>,
    period_told: bool,
    host: Host,
    /// Facts of the instance that stood above its name.
    waiting: Vec<(&'static str, String)>,
    named: bool,
}

impl Heading {
    /// Length of the period; NaN when it is not known.
    fn length_s(&self) -> f64 {
        match (self.begin_s, self.end_s) {
            (Some(begin), Some(end)) if end > begin => end - begin,
            _ => self.elapsed_s.unwrap_or(f64::NAN),
        }
    }

    /// Mean number of active sessions, and processors that they used, by the times of the heading; NaN when not known.
    pub(crate) fn sessions(&self) -> (f64, f64) {
        let per_s = |time: Option<f64>| time.map_or(f64::NAN, |t| t / self.length_s());
        (per_s(self.time_s), per_s(self.cpu_s))
    }

    /// The instance as a place.
    pub(crate) fn database(&mut self, out: &mut Out<'_>) -> PlaceId {
        let place = out.place(PlaceKind::Database, &self.instance);
        for (name, value) in std::mem::take(&mut self.waiting) {
            match value::plain(&value).filter(|n| n.is_finite() && name != facts::DATABASE_RELEASE) {
                Some(number) => out.fact(place, name, number),
                None => out.fact(place, name, value),
            }
        }
        place
    }

    /// The report has ended: what was told of the instance and not yet said.
    pub(crate) fn end(&mut self, out: &mut Out<'_>) {
        if !self.waiting.is_empty() {
            self.database(out);
        }
    }

    /// Before rows: where no snapshots were told, the period is unknown.
    pub(crate) fn begin_period(&mut self, out: &mut Out<'_>) {
        if !self.period_told {
            self.period_told = true;
            out.interval(Interval::unknown(RowsKind::Period));
        }
    }

    /// `ORCL  Instance: orcl  Snaps: 1 -2`: the same of 8i and 9i.
    pub(crate) fn instance_of(&mut self, after: &str) {
        let name = after.split_once("Instance:").and_then(|(_, rest)| rest.split_ascii_whitespace().next());
        if let (Some(name), false) = (name, self.named) {
            name.clone_into(&mut self.instance);
            self.named = true;
        }
    }

    /// `DB/Inst: ORCL/orcl1  Snaps: 37-38` above a section: the instance, where the heading is missing.
    pub(crate) fn section_of(&mut self, after: &str) {
        if self.named {
            return;
        }
        let name =
            after.split_ascii_whitespace().next().and_then(|n| n.split_once('/')).map(|(_, inst)| inst);
        if let Some(name) = name.filter(|n| !n.is_empty()) {
            self.instance = name.to_owned();
            self.named = true;
        }
    }

    /// The host's processors, told after its name.
    pub(crate) fn processors(&mut self, processors: u32, out: &mut Out<'_>) {
        self.host.processors = Some(processors);
        out.host(self.host.clone());
    }

    /// Whether the processor time of sessions is known.
    pub(crate) fn has_cpu(&self) -> bool {
        self.cpu_s.is_some()
    }

    /// Cells below normalised labels of one of the first tables.
    pub(crate) fn row(&mut self, columns: &[String], line: Option<&str>, cells: &[&str], out: &mut Out<'_>) {
        let words = line.and_then(|line| by_words(columns, line));
        let words: Option<Vec<&str>> = words.as_ref().map(|w| w.iter().map(String::as_str).collect());
        let cells = words.as_deref().unwrap_or(cells);
        let cell = |wanted: &[&str]| {
            let of_column = columns.iter().zip(cells).filter(|(c, _)| wanted.contains(&c.as_str()));
            of_column.map(|(_, cell)| cell.trim()).find(|cell| !value::is_absent(cell))
        };
        let is_host = cell(&["platform"]).is_some() && columns.iter().any(|c| c == "cpus");
        let is_database = columns.iter().any(|c| matches!(c.as_str(), "dbid" | "instance"));
        if let (true, Some(name)) = (is_host || is_database, cell(&["hostname", "host", "name"])) {
            let processors = cell(&["cpus"]).and_then(value::plain).filter(|n| *n >= 1.0).map(|n| n as u32);
            let platform = cell(&["platform"]).map_or(Platform::Unknown, platform);
            self.host = Host { name: Some(name.to_owned()), platform, release: None, processors };
            out.host(self.host.clone());
        }
        if is_host {
            let host = out.place(PlaceKind::Host, "");
            if let Some(platform) = cell(&["platform"]) {
                out.fact(host, "platform", platform);
            }
            let numbers = [
                ("cores", "cpu_cores", 1.0),
                ("sockets", "cpu_sockets", 1.0),
                ("memory(gb)", "memory_bytes", 1_073_741_824.0),
                ("memory(g)", "memory_bytes", 1_073_741_824.0),
            ];
            for (column, name, factor) in numbers {
                if let Some(number) = cell(&[column]).and_then(value::plain).filter(|n| n.is_finite()) {
                    out.fact(host, name, number * factor);
                }
            }
        }
        if is_database && self.waiting.len() < WAITING_MAX {
            self.waiting.extend(
                [
                    ("dbname", "database_name"),
                    ("database", "database_name"),
                    ("uniquename", "database_unique_name"),
                    ("dbid", "database_id"),
                    ("dbrole", "database_role"),
                    ("role", "database_role"),
                    ("edition", "database_edition"),
                    ("instnum", "instance_number"),
                    ("startuptime", "startup_time"),
                    ("release", facts::DATABASE_RELEASE),
                    ("rac", "cluster"),
                    ("cluster", "cluster"),
                    ("cdb", "container_database"),
                ]
                .into_iter()
                .filter_map(|(column, name)| cell(&[column]).map(|c| (name, c.to_owned()))),
            );
            if let Some(instance) = cell(&["instance"]) {
                self.instance = instance.to_owned();
                self.named = true;
            }
        }
    }

    /// A line of the table of snapshots, or of the cache sizes; whether it was one.
    pub(crate) fn line(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let text = line.trim_start();
        let after = |label: &str| {
            let head = text.get(..label.len())?;
            head.eq_ignore_ascii_case(label).then(|| &text[label.len()..])
        };
        if let Some(rest) = after("Begin Snap:") {
            self.snapshot(rest, true, out);
        } else if let Some(rest) = after("End Snap:") {
            self.snapshot(rest, false, out);
        } else if let Some(rest) = after("Elapsed:") {
            let Some(minutes) = value::first(rest).filter(|m| *m > 0.0 && m.is_finite()) else {
                out.complain("the minutes that the snapshots are apart", line);
                return true;
            };
            // Snapshots tell it to the second; this is rounded.
            if !self.length_s().is_finite() {
                self.elapsed_s = Some(minutes * 60.0);
                self.period(minutes * 60.0, out);
            }
        } else if let Some(rest) = after("DB Time:") {
            self.time_s = value::first(rest).filter(|m| m.is_finite()).map(|m| m * 60.0);
            if let Some((_, cpu)) = rest.split_once("DB CPU:") {
                self.cpu_s = value::first(cpu).filter(|m| m.is_finite()).map(|m| m * 60.0);
            }
            let told = [("database_time_s", self.time_s), ("database_cpu_s", self.cpu_s)];
            self.waiting.truncate(WAITING_MAX);
            self.waiting.extend(told.iter().filter_map(|(name, t)| t.map(|t| (*name, t.to_string()))));
        } else if let Some((_, rest)) = text.split_once("Std Block Size:") {
            let size =
                rest.split_ascii_whitespace().next().and_then(|w| crate::text::number::scaled(w, 1024.0));
            match size.filter(|s| *s >= 512.0) {
                Some(_) if self.waiting.len() >= WAITING_MAX => {}
                Some(size) => self.waiting.push((facts::DATABASE_BLOCK_BYTES, size.to_string())),
                None => out.complain("the standard block size", line),
            }
        } else if let Some((name, rest)) =
            after("Host  Name:").or_else(|| after("Host Name:")).and_then(|r| r.split_once("Num CPUs:"))
        {
            // Statspack of 10g.
            let processors = value::first(rest).filter(|n| *n >= 1.0).map(|n| n as u32);
            let name = Some(name.trim().to_owned()).filter(|n| !n.is_empty());
            self.host = Host { name, processors, ..Host::default() };
            out.host(self.host.clone());
        } else {
            return false;
        }
        true
    }

    /// `   141 10-Feb-20 11:21:15       109 ...`
    fn snapshot(&mut self, rest: &str, begins: bool, out: &mut Out<'_>) {
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let id = words.first().and_then(|w| value::plain(w)).filter(|n| n.is_finite());
        let time = words.iter().position(|w| w.contains(':')).filter(|at| *at >= 2);
        let at_s = time.and_then(|at| {
            let day = words[1..at].concat();
            let half = words.get(at + 1).filter(|w| matches!(**w, "AM" | "PM")).copied().unwrap_or("");
            Some(epoch_s(day_of(&day)?, time_of_day(&format!("{} {half}", words[at]))?))
        });
        if let Some(id) = id.filter(|_| self.waiting.len() < WAITING_MAX) {
            let name = if begins { "begin_snapshot" } else { "end_snapshot" };
            self.waiting.push((name, id.to_string()));
        }
        if at_s.is_none() {
            return out.complain("a snapshot: number, date, time", rest);
        }
        if begins {
            (self.begin_s, self.end_s) = (at_s, None);
        } else {
            self.end_s = at_s;
            let length_s = self.length_s();
            if self.begin_s.is_some() && !length_s.is_finite() {
                out.complain("an end after the beginning", rest);
            }
            self.period(length_s, out);
        }
    }

    fn period(&mut self, length_s: f64, out: &mut Out<'_>) {
        let (at_s, basis) = match self.end_s {
            Some(end) => (end, Basis::Local),
            None => (f64::NAN, Basis::SinceStart),
        };
        self.period_told = true;
        out.interval(Interval { at_s, length_s, basis, kind: RowsKind::Period });
    }
}

/// Cells by the words of a line, where there are as many as columns: a name that was replaced by a shorter one moves all
/// that follows. Dates and platforms have several words.
fn by_words(columns: &[String], line: &str) -> Option<Vec<String>> {
    let words = crate::text::words(line);
    if let Some(at) = columns.iter().position(|c| c == "platform") {
        let numbers = columns.len() - at - 1;
        let (name, rest) = words.split_first()?;
        let (platform, numbers) = rest.split_at_checked(rest.len().checked_sub(numbers)?)?;
        let is_fit = at == 1 && !platform.is_empty() && numbers.iter().all(|n| value::plain(n).is_some());
        let mut cells = vec![(*name).to_owned(), platform.join(" ")];
        cells.extend(numbers.iter().map(|n| (*n).to_owned()));
        return is_fit.then_some(cells);
    }
    let mut cells: Vec<String> = Vec::new();
    for word in words {
        match cells.last_mut() {
            Some(day) if word.contains(':') && day.contains('-') => {
                day.push(' ');
                day.push_str(word);
            }
            _ => cells.push(word.to_owned()),
        }
    }
    (cells.len() == columns.len()).then_some(cells)
}

/// A date and a time of a snapshot, as seconds since 1970: `10-Feb-20 11:21:15`.
pub(super) fn moment(text: &str) -> Option<f64> {
    let (day, time) = text.trim().split_once(' ')?;
    Some(epoch_s(day_of(day)?, time_of_day(time)?))
}

/// The operating system that the database names.
pub(super) fn platform(text: &str) -> Platform {
    let lower = text.to_ascii_lowercase();
    match () {
        () if lower.contains("linux") => Platform::Linux,
        () if lower.contains("aix") => Platform::Aix,
        () if lower.contains("solaris") => Platform::Solaris,
        () if lower.contains("hp-ux") || lower.contains("hp ia") => Platform::HpUx,
        () => Platform::Unknown,
    }
}

/// `10-Feb-20`, with the month in the language of the session: `12-Okt-17`, `12-2月-17`.
fn day_of(text: &str) -> Option<jiff::civil::Date> {
    if let Some(date) = date(text, DateOrder::DayFirst) {
        return Some(date);
    }
    const MONTHS: [(&str, i8); 24] = [
        ("ene", 1),
        ("gen", 1),
        ("fev", 2),
        ("fév", 2),
        ("feb", 2),
        ("mär", 3),
        ("mrz", 3),
        ("avr", 4),
        ("abr", 4),
        ("mai", 5),
        ("mag", 5),
        ("giu", 6),
        ("juin", 6),
        ("juil", 7),
        ("lug", 7),
        ("aoû", 8),
        ("ago", 8),
        ("set", 9),
        ("okt", 10),
        ("out", 10),
        ("ott", 10),
        ("dez", 12),
        ("dic", 12),
        ("déc", 12),
    ];
    let mut parts = text.split('-');
    let (day, month, year) = (parts.next()?, parts.next()?.to_lowercase(), parts.next()?);
    let named = MONTHS.iter().find(|(name, _)| month.starts_with(name)).map(|(_, n)| *n);
    let month = match month.strip_suffix('月') {
        Some(digits) => digits.trim().parse().ok()?,
        None => named?,
    };
    let year: i16 = year.parse().ok().filter(|y| (0..10_000).contains(y))?;
    let year = if year < 70 {
        2000 + year
    } else if year < 100 {
        1900 + year
    } else {
        year
    };
    jiff::civil::Date::new(year, month, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_name_does_not_move_what_follows() {
        let columns = ["hostname", "platform", "cpus", "cores", "sockets", "memory(gb)"].map(str::to_owned);
        let cells = by_words(&columns, "db1 Linux x86 64-bit   8   4  1  31.40").unwrap();
        assert_eq!(cells, ["db1", "Linux x86 64-bit", "8", "4", "1", "31.40"]);
        assert_eq!(by_words(&columns, "db1 Linux x86 64-bit   8   4"), None);
        let columns = ["instance", "instnum", "startuptime"].map(str::to_owned);
        assert_eq!(
            by_words(&columns, "orcl1  1 09-Feb-20 11:12").unwrap(),
            ["orcl1", "1", "09-Feb-20 11:12"]
        );
    }

    #[test]
    fn months_of_other_languages() {
        let wanted = Some(jiff::civil::date(2017, 10, 12));
        for text in ["12-Oct-17", "12-Okt-17", "12-Out-17", "12-OTT-2017", "12-10月-17"] {
            assert_eq!(day_of(text), wanted, "{text}");
        }
        assert_eq!(day_of("12-xyz-17"), None);
    }

    #[test]
    fn platforms_as_the_database_names_them() {
        assert_eq!(platform("AIX-Based Systems (64-bit)"), Platform::Aix);
        assert_eq!(platform("Solaris[tm] OE (64-bit)"), Platform::Solaris);
        assert_eq!(platform("Linux x86 64-bit"), Platform::Linux);
        assert_eq!(platform("HP-UX IA (64-bit)"), Platform::HpUx);
        assert_eq!(platform("Microsoft Windows x86 64-bit"), Platform::Unknown);
    }
}
