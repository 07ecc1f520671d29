//! SLOB: the table that `awr_info.sh` makes of AWR reports, one line for each run, and the configuration `slob.conf`.

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::Quantity::{self, *};
use record::imported::{Interval, PlaceKind, RowsKind};

/// `awr_info.txt`.
pub(super) const AWR_INFO: Format = Format {
    name: "slob-awr-info",
    title: "SLOB awr_info.txt (made by awr_info.sh)",
    recognise: recognise_info,
    reads: Reads::Lines { new: || Box::<AwrInfo>::default(), begins: is_head },
};

/// `slob.conf`.
pub(super) const CONF: Format = Format {
    name: "slob-conf",
    title: "SLOB configuration (slob.conf)",
    recognise: recognise_conf,
    reads: Reads::Lines { new: || Box::new(Conf), begins: |line| line.starts_with("#### SLOB ") },
};

const MIB: f64 = 1_048_576.0;

/// Columns of rates: name, quantity, factor.
const RATES: [(&str, Quantity, f64); 10] = [
    ("SESSIONS", Concurrency, 1.0),
    ("DB CPU", DatabaseCpuPerS, 1.0),
    ("DB Tm", ActiveSessions, 1.0),
    ("EXECUTES", ExecutionsPerS, 1.0),
    ("LIO", LogicalReadsPerS, 1.0),
    ("PREADS", ReadIops, 1.0),
    ("READ_MBS", ReadBytesPerS, MIB),
    ("PWRITES", WriteIops, 1.0),
    ("WRITE_MBS", WriteBytesPerS, MIB),
    ("REDO_MBS", RedoBytesPerS, MIB),
];

/// Columns of mean waits, microseconds, and their events.
const WAITS: [(&str, &str); 5] = [
    ("DFSR_LAT", "db file sequential read"),
    ("DPR_LAT", "direct path read"),
    ("DFPR_LAT", "db file parallel read"),
    ("DFPW_LAT", "db file parallel write"),
    ("LFPW_LAT", "log file parallel write"),
];

fn is_head(line: &str) -> bool {
    line.starts_with("FILE|SESSIONS|ELAPSED|")
}

fn recognise_info(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(96, "header", head.find(is_head)?)
}

fn recognise_conf(head: &Head<'_>) -> Option<Likeness> {
    let has = |name: &str| head.find(|l| l.starts_with(name) && l.contains('='));
    if let Some(line) = head.find(|l| l.starts_with("#### SLOB ") && l.contains("slob.conf")) {
        return Likeness::by_line(95, "heading", line);
    }
    has("WORK_UNIT=").and(has("RUN_TIME="))?;
    Likeness::by_line(90, "setting", has("UPDATE_PCT=")?)
}

/// Reads `awr_info.txt`.
#[derive(Default)]
struct AwrInfo {
    columns: Vec<String>,
}

impl LineFormat for AwrInfo {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if line.trim().is_empty() {
            return Took::Yes;
        }
        if is_head(line) {
            self.columns = line.split('|').map(|c| c.trim().to_owned()).collect();
            let is_known = |c: &str| {
                RATES.iter().any(|(n, ..)| *n == c)
                    || WAITS.iter().any(|(n, _)| *n == c)
                    || matches!(c, "" | "FILE" | "ELAPSED" | "TOP WAIT")
            };
            for unknown in self.columns.iter().filter(|c| !is_known(c)) {
                out.remark(&format!("column '{unknown}' is not known and stays unread"));
            }
            return Took::Yes;
        }
        if self.columns.is_empty() || !line.contains('|') {
            return Took::No;
        }
        self.row(line, out);
        Took::Yes
    }
}

impl AwrInfo {
    fn row(&self, line: &str, out: &mut Out<'_>) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let of = |name: &str| {
            let at = self.columns.iter().position(|c| c == name)?;
            cells.get(at).copied().filter(|c| !c.is_empty())
        };
        // A blank cell is no number, and no damage; nor is the quotient of nothing by nothing.
        let is_none = |c: &&str| !matches!(c.trim_start_matches('-'), "nan" | "inf");
        let number = |name: &str| of(name).filter(is_none).map_or(Some(f64::NAN), decimal);
        let rates: Option<Vec<(Quantity, f64)>> = RATES
            .iter()
            .map(|(name, quantity, factor)| number(name).map(|n| (*quantity, n * factor)))
            .collect();
        let waits: Option<Vec<(&str, f64)>> =
            WAITS.iter().map(|(name, event)| number(name).map(|n| (*event, n))).collect();
        let (Some(file), Some(rates), Some(waits), Some(length_s)) =
            (of("FILE"), rates, waits, number("ELAPSED"))
        else {
            return out.complain("a run: a file and numbers", line);
        };
        if cells.len() + 1 < self.columns.len() {
            return out.complain(&format!("{} columns", self.columns.len()), line);
        }
        out.interval(Interval { length_s, ..Interval::unknown(RowsKind::Period) });
        let job = out.place(PlaceKind::Job, file);
        out.put(job, &rates);
        if let Some(top) = of("TOP WAIT") {
            out.fact(job, "top_wait", top);
        }
        for (event, wait_us) in waits {
            // The script writes 0 where a report has no such event.
            if wait_us > 0.0 {
                let place = out.place(PlaceKind::WaitEvent, event);
                out.put(place, &[(WaitUs, wait_us)]);
            }
        }
    }
}

/// Reads `slob.conf`.
struct Conf;

impl LineFormat for Conf {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            if let Some(version) = text.strip_prefix("#### SLOB ").and_then(|t| t.split(' ').next()) {
                let job = out.place(PlaceKind::Job, "SLOB");
                out.fact(job, "slob_release", version);
            }
            return Took::Yes;
        }
        let text = text.strip_prefix("export ").unwrap_or(text);
        let Some((name, value)) = text.split_once('=') else { return Took::No };
        if !name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') {
            return Took::No;
        }
        // Whoever reads a configuration needs no password.
        if name.contains("PASSWD") || name.contains("PASSWORD") {
            return Took::Yes;
        }
        let value = value.split(" #").next().unwrap_or("").trim().trim_matches('"');
        let job = out.place(PlaceKind::Job, "SLOB");
        let name = name.to_ascii_lowercase();
        match decimal(value) {
            Some(number) => out.fact(job, &name, number),
            None => out.fact(job, &name, value),
        }
        Took::Yes
    }
}
