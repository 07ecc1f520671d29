//! Tables of counts: `strace -c` and `truss -c`.

use super::Tool;
use crate::format::Took;
use crate::out::Out;
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::{CallUs, Calls, Failures};
use record::imported::{Interval, PlaceKind, RowsKind};

/// Reads a table.
#[derive(Default)]
pub(super) struct Table {
    /// Columns of the table that is being read; none outside.
    columns: Vec<&'static str>,
}

impl Table {
    /// Whether a line is the header of a table, and whose.
    pub fn is_header(line: &str) -> Option<Tool> {
        match words(line).as_slice() {
            ["%", "time", "seconds", "usecs/call", "calls", "errors", "syscall"] => Some(Tool::Strace),
            ["%", "time", "seconds", "calls", "errors", "syscall"] => Some(Tool::Strace),
            ["syscall", "seconds", "calls", "errors"] | ["syscall", "seconds", "calls"] => Some(Tool::Truss),
            ["%", "time", "seconds", "usecs/call", "calls", "syscall"] => Some(Tool::Strace),
            _ => None,
        }
    }

    /// The text ended.
    pub fn end(&mut self) {
        self.columns.clear();
    }

    /// One line; `None` when it is none of a table.
    pub fn line(&mut self, line: &str, out: &mut Out<'_>) -> Option<Took> {
        if Self::is_header(line).is_some() {
            const KNOWN: [&str; 6] = ["time", "seconds", "usecs/call", "calls", "errors", "syscall"];
            self.columns =
                words(line).iter().filter_map(|w| KNOWN.iter().find(|k| *k == w).copied()).collect();
            out.interval(Interval::unknown(RowsKind::Period));
            return Some(Took::Yes);
        }
        if self.columns.is_empty() {
            return None;
        }
        let cells = words(line);
        if cells.iter().all(|c| c.bytes().all(|b| b == b'-')) {
            return Some(Took::Yes);
        }
        const ENDS: [&str; 6] = ["total", "totals:", "sys totals:", "usr time:", "elapsed:", "signals"];
        let trimmed = line.trim();
        if ENDS.iter().any(|e| trimmed.starts_with(e)) || trimmed.ends_with(" total") {
            return Some(Took::Yes);
        }
        let name_first = self.columns.first() == Some(&"syscall");
        let (name, numbers) = match (name_first, cells.as_slice()) {
            (true, [name, numbers @ ..]) | (false, [numbers @ .., name]) => (*name, numbers),
            _ => return None,
        };
        // Errors are blank where there were none.
        let mut wanted: Vec<&str> = self.columns.iter().copied().filter(|c| *c != "syscall").collect();
        if numbers.len() + 1 == wanted.len() {
            wanted.retain(|c| *c != "errors");
        }
        let read: Option<Vec<f64>> = numbers.iter().map(|n| decimal(n)).collect();
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && decimal(name).is_none();
        let Some(read) = read.filter(|r| r.len() == wanted.len() && is_name) else {
            self.columns.clear();
            return None;
        };
        let value =
            |column: &str| wanted.iter().position(|c| *c == column).and_then(|at| read.get(at)).copied();
        let calls = value("calls").unwrap_or(f64::NAN);
        let mean_us = value("seconds").filter(|_| calls > 0.0).map(|s| s * 1e6 / calls);
        let place = out.place(PlaceKind::Call, name);
        let errors = value("errors").unwrap_or(0.0);
        let us = value("usecs/call").filter(|us| *us > 0.0).or(mean_us).unwrap_or(f64::NAN);
        out.put(place, &[(Calls, calls), (CallUs, mean_us.unwrap_or(us)), (Failures, errors)]);
        Some(Took::Yes)
    }
}
