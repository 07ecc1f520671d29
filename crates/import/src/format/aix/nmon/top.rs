//! The `TOP` section: processes that used much processor time in a snapshot.

use super::snapshot;
use crate::out::Out;
use crate::text::number::decimal;
use record::imported::PlaceId;
use record::imported::PlaceKind;
use record::imported::Quantity::{self, *};

/// Reads the section by its header: `+PID,Time,%CPU,%Usr,%Sys,Size,ResSet,...,Command`.
#[derive(Default)]
pub(super) struct Top {
    columns: Vec<String>,
}

impl Top {
    /// A line: its snapshot where it is a process, with the values in `values`.
    pub fn line(
        &mut self,
        rest: &str,
        out: &mut Out<'_>,
        values: &mut Vec<(PlaceId, Quantity, f64)>,
    ) -> Option<u32> {
        values.clear();
        if rest.starts_with('+') {
            self.columns = rest.split(',').map(|c| c.trim().to_owned()).collect();
            return None;
        }
        let at = |name: &str| self.columns.iter().position(|c| c == name);
        // The command is the last column of Linux and may hold commas; on AIX the class follows.
        let cells: Vec<&str> = rest.splitn(self.columns.len().max(3), ',').collect();
        let number = cells.get(at("Time").unwrap_or(1)).and_then(|t| snapshot(t))?;
        let cell = |name: &str| at(name).and_then(|at| cells.get(at)).copied();
        let pid = cell("+PID")?.trim_start_matches('0');
        let command = cell("Command").unwrap_or("").trim_matches('"');
        let place = out.place(PlaceKind::Process, &format!("{command} ({pid})"));
        for (column, quantity, factor) in [
            ("%Usr", CpuUserPercent, 1.0),
            ("%Sys", CpuSystemPercent, 1.0),
            // Kilobytes; AIX tells text and data apart instead.
            ("ResSet", ResidentBytes, 1024.0),
        ] {
            if let Some(value) = cell(column).and_then(|c| decimal(c.trim())) {
                values.push((place, quantity, value * factor));
            }
        }
        Some(number)
    }
}
