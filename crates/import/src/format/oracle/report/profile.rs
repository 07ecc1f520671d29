//! Load profile, processors of the host, and statistics of its operating system.

use super::{Report, value};
use crate::out::Out;
use record::imported::PlaceKind;
use record::imported::Quantity::{self, *};

const MIB: f64 = 1_048_576.0;

/// Rates of the load profile by their label, without spaces and in lower case, and the factor to the quantity's unit.
const PROFILE: [(&str, Quantity, f64); 20] = [
    ("dbtime(s)", ActiveSessions, 1.0),
    ("dbcpu(s)", DatabaseCpuPerS, 1.0),
    ("redosize", RedoBytesPerS, 1.0),
    ("redosize(bytes)", RedoBytesPerS, 1.0),
    ("logicalreads", LogicalReadsPerS, 1.0),
    ("logicalread(blocks)", LogicalReadsPerS, 1.0),
    ("physicalreads", PhysicalReadBlocksPerS, 1.0),
    ("physicalread(blocks)", PhysicalReadBlocksPerS, 1.0),
    ("physicalwrites", PhysicalWriteBlocksPerS, 1.0),
    ("physicalwrite(blocks)", PhysicalWriteBlocksPerS, 1.0),
    ("readiorequests", ReadIops, 1.0),
    ("writeiorequests", WriteIops, 1.0),
    ("readio(mb)", ReadBytesPerS, MIB),
    ("writeio(mb)", WriteBytesPerS, MIB),
    ("usercalls", UserCallsPerS, 1.0),
    ("calls", UserCallsPerS, 1.0),
    ("executes", ExecutionsPerS, 1.0),
    ("executes(sql)", ExecutionsPerS, 1.0),
    ("transactions", TransactionsPerS, 1.0),
    ("txns", TransactionsPerS, 1.0),
];

/// What the load profile has told so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    rates: Vec<(Quantity, f64)>,
    origin: record::imported::Origin,
    /// Whether processor times of the host have been told.
    host_told: bool,
    /// Hundredths of seconds by the names of `V$OSSTAT`.
    times: Vec<(&'static str, f64)>,
}

/// Times of `V$OSSTAT` that are read.
const TIMES: [&str; 5] = ["BUSY_TIME", "IDLE_TIME", "IOWAIT_TIME", "SYS_TIME", "USER_TIME"];

impl Report {
    /// `Redo size:   503,031.6   2,811.5`: the first number is per second.
    pub(crate) fn profile_line(&mut self, line: &str, out: &mut Out<'_>) {
        let Some((label, rest)) = line.split_once(':') else { return };
        let label = super::normal(label);
        let Some((_, quantity, factor)) = PROFILE.iter().find(|(l, ..)| *l == label) else { return };
        match rest.split_ascii_whitespace().next().map(value::count) {
            Some(Some(rate)) => {
                if self.profile.rates.is_empty() {
                    self.profile.origin = out.origin();
                }
                self.profile.rates.retain(|(q, _)| q != quantity);
                self.profile.rates.push((*quantity, rate * factor));
            }
            Some(None) => out.complain("a rate per second", line),
            None => {}
        }
    }

    /// The load profile has ended: one row of the database. Sessions that it does not tell (10g) come from the heading.
    pub(crate) fn end_profile(&mut self, is_last: bool, out: &mut Out<'_>) {
        let (sessions, cpu) = self.heading.sessions();
        let mut rates = std::mem::take(&mut self.profile.rates);
        let is_told = |rates: &[(Quantity, f64)], wanted| rates.iter().any(|(q, _)| *q == wanted);
        // A report, or an excerpt, without a load profile.
        if rates.is_empty() && (self.profile_told || !sessions.is_finite() || !is_last) {
            return;
        }
        let origin = if rates.is_empty() { out.origin() } else { self.profile.origin };
        for (quantity, rate) in [(ActiveSessions, sessions), (DatabaseCpuPerS, cpu)] {
            if rate.is_finite() && !is_told(&rates, quantity) && !self.profile_told {
                rates.push((quantity, rate));
            }
        }
        self.profile_told = true;
        self.heading.begin_period(out);
        let database = self.heading.database(out);
        out.put_from(origin, database, &rates);
    }

    /// A row of `Host CPU`: columns by normalised name.
    pub(crate) fn host_cpu(&mut self, cells: &[&str], out: &mut Out<'_>) {
        let cell = |names: &[&str]| {
            let at = self.table.columns.iter().position(|c| names.contains(&c.as_str()));
            at.and_then(|at| cells.get(at)).and_then(|c| value::plain(c))
        };
        let of = |names: &[&str]| cell(names).unwrap_or(f64::NAN);
        let user = of(&["%user", "user"]);
        let system = of(&["%system", "system", "%sys"]);
        let waiting = of(&["%wio", "wio"]);
        let idle = of(&["%idle", "idle"]);
        if user.is_nan() && idle.is_nan() {
            return out.complain("shares of user, system, idle time", &cells.join(" "));
        }
        self.host_row([user, system, waiting, idle], out);
    }

    /// Oracle counts time that waits for I/O within idle time on Linux and apart from it elsewhere; here it is always apart,
    /// so that all shares sum to 100.
    fn host_row(&mut self, [user, system, waiting, idle]: [f64; 4], out: &mut Out<'_>) {
        if std::mem::replace(&mut self.profile.host_told, true) {
            return;
        }
        let is_within = user + system + waiting + idle > 101.0 && idle >= waiting;
        let idle = if is_within { idle - waiting } else { idle };
        self.heading.begin_period(out);
        let host = out.place(PlaceKind::Host, "");
        let row = [
            (CpuUserPercent, user),
            (CpuSystemPercent, system),
            (CpuIowaitPercent, waiting),
            (CpuIdlePercent, idle),
        ];
        out.put(host, &row);
    }

    /// A row of the operating system's statistics: name, value, and the value at the end where it differs.
    pub(crate) fn os_statistic(&mut self, cells: &[&str], out: &mut Out<'_>) {
        let (Some(name), Some(text)) = (cells.first(), cells.get(1)) else { return };
        let name = name.trim();
        let Some(number) = value::count(text) else {
            return out.complain("a statistic and its value", &cells.join(" "));
        };
        if !number.is_finite() {
            return;
        }
        if let Some(known) = TIMES.iter().find(|t| **t == name) {
            self.profile.times.retain(|(n, _)| n != known);
            self.profile.times.push((known, number));
            return;
        }
        let host = out.place(PlaceKind::Host, "");
        match name {
            "NUM_CPUS" if number >= 1.0 => self.heading.processors(number as u32, out),
            "NUM_CPU_CORES" => out.fact(host, "cpu_cores", number),
            "NUM_CPU_SOCKETS" => out.fact(host, "cpu_sockets", number),
            "PHYSICAL_MEMORY_BYTES" => out.fact(host, "memory_bytes", number),
            _ => {}
        }
    }

    /// The operating system's statistics have ended: shares of its times, where the report has not told them before.
    pub(crate) fn end_os_statistics(&mut self, out: &mut Out<'_>) {
        let times = std::mem::take(&mut self.profile.times);
        let of = |name| times.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, t)| *t);
        let all = of("BUSY_TIME") + of("IDLE_TIME");
        if all > 0.0 {
            let share = |name| of(name) / all * 100.0;
            let shares = [share("USER_TIME"), share("SYS_TIME"), share("IOWAIT_TIME"), share("IDLE_TIME")];
            self.host_row(shares, out);
        }
    }
}
