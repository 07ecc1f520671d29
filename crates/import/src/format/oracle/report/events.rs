//! Wait events: the top list and the complete tables, of foreground and background.

use super::{Report, Section, Table, value};
use crate::out::Out;
use record::imported::Quantity::*;
use record::imported::{Origin, PlaceKind};

/// Events of the top list that are remembered.
const TOP_MAX: usize = 1000;

/// What a column of a table of wait events holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Event,
    Waits,
    /// Seconds of all waits; the unit of the column in seconds.
    Time(f64),
    /// Mean wait; microseconds of a number that has no unit of its own.
    Average(f64),
    Percent,
    /// Known, and of no use here.
    Unread,
    /// Of a newer version.
    Unknown,
}

fn role(label: &str) -> Role {
    let is_percent = label.starts_with('%');
    match label {
        "event" | "eventname" | "waitevent" => Role::Event,
        "waits" | "totalwaits" => Role::Waits,
        "waitclass" | "class" | "timeouts" | "waits/txn" | "waits/trans" | "i#" | "#" => Role::Unread,
        "avg" | "min" | "max" | "stddev" | "stdev" | "cnt" | "min(ms)" | "max(ms)" | "stddev(ms)" => {
            Role::Unread
        }
        "avg(ms)" => Role::Average(1e3),
        _ if is_percent && label.contains("out") => Role::Unread,
        _ if is_percent && label.ends_with("time") => Role::Percent,
        _ if label.contains("avg") || label.contains("average") => {
            if !label.contains("wait") && !label.contains("time") {
                return Role::Unknown;
            }
            Role::Average(if label.contains("(cs)") {
                1e4
            } else if label.contains("(us)") {
                1.0
            } else if label.ends_with("(s)") {
                1e6
            } else {
                1e3
            })
        }
        _ if label.contains("time") || label.starts_with("total(s)") => {
            Role::Time(if label.contains("(cs)") { 0.01 } else { 1.0 })
        }
        _ => Role::Unknown,
    }
}

/// Whether columns are those of a table of wait events.
pub(super) fn is_events(columns: &[String]) -> bool {
    let has = |wanted: Role| columns.iter().any(|c| role(c) == wanted);
    has(Role::Event)
        && has(Role::Waits)
        && columns.iter().any(|c| matches!(role(c), Role::Time(_) | Role::Average(_)))
}

/// Columns of such a table that are not known.
pub(super) fn unknown(columns: &[String]) -> Vec<&str> {
    columns.iter().map(String::as_str).filter(|c| !c.is_empty() && role(c) == Role::Unknown).collect()
}

/// Cells of a line whose spaces were lost, so that columns are not where the ruler has them: the name, then numbers, then
/// the class.
fn by_words<'l>(line: &'l str, table: &Table) -> Option<Vec<&'l str>> {
    let words = crate::text::words_at(line);
    let numeric: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, c)| !matches!(role(c), Role::Event) && !c.contains("class"))
        .map(|(n, _)| n)
        .collect();
    let after = words.iter().rposition(|(_, w)| value::is_numeric(w))? + 1;
    let first = words[..after].iter().rposition(|(_, w)| !value::is_numeric(w))? + 1;
    let name = line.get(..words.get(first)?.0)?.trim();
    let numbers: Vec<&str> = words[first..after].iter().map(|(_, w)| *w).collect();
    let is_cpu = is_cpu(name) && numbers.len() == 2;
    if numbers.len() != numeric.len() && !is_cpu {
        return None;
    }
    let mut cells = vec![""; table.columns.len()];
    let at = |wanted: fn(Role) -> bool| table.columns.iter().position(|c| wanted(role(c)));
    *cells.get_mut(at(|r| r == Role::Event)?)? = name;
    if is_cpu {
        *cells.get_mut(at(|r| matches!(r, Role::Time(_)))?)? = numbers[0];
        *cells.get_mut(at(|r| r == Role::Percent)?)? = numbers[1];
    } else {
        for (at, number) in numeric.iter().zip(numbers) {
            *cells.get_mut(*at)? = number;
        }
    }
    Some(cells)
}

fn is_cpu(name: &str) -> bool {
    matches!(name, "DB CPU" | "CPU time" | "CPU Time" | "CPU TIME")
}

/// Values of a row: waits, seconds, microseconds of the average, percent.
fn values(table: &Table, cells: &[&str]) -> Option<[f64; 4]> {
    let mut values = [f64::NAN; 4];
    let mut is_coarse = false;
    for (column, cell) in table.columns.iter().zip(cells) {
        match role(column) {
            Role::Waits => values[0] = value::count(cell)?,
            Role::Time(unit) => values[1] = value::count(cell)? * unit,
            // A cluster's report has another one further right, of the instances' averages.
            Role::Average(_) if values[2].is_finite() => {}
            Role::Average(unit_us) => {
                values[2] = value::time_us(cell, unit_us)?;
                is_coarse = cell.trim() == "0";
            }
            Role::Percent => values[3] = value::plain(cell)?,
            _ => {}
        }
    }
    // Whole milliseconds that are 0 say no more than that it was less than half of one.
    if is_coarse && values[0] > 0.0 {
        values[2] = if values[1] > 0.0 { values[1] / values[0] * 1e6 } else { f64::NAN };
    }
    Some(values)
}

impl Report {
    /// A row of a table of wait events.
    pub(crate) fn event(&mut self, line: Option<&str>, cells: &[&str], out: &mut Out<'_>) {
        let name_at = self.table.columns.iter().position(|c| role(c) == Role::Event);
        let (Some(name_at), Some(all)) = (name_at, Some(cells.to_vec())) else { return };
        let mut cells = all;
        let name = cells.get(name_at).map_or("", |c| c.trim());
        let has_number = name.rsplit(' ').next().is_some_and(value::is_numeric);
        let mut found = values(&self.table, &cells)
            .filter(|v| (v[0].is_finite() || v[1].is_finite()) && !(has_number && line.is_some()));
        if let (None, Some(line)) = (found, line)
            && let Some(words) = by_words(line, &self.table)
        {
            found = values(&self.table, &words);
            cells = words;
        }
        let name = cells.get(name_at).map_or("", |c| c.trim());
        let Some([waits, time_s, average_us, percent]) = found.filter(|_| !name.is_empty()) else {
            return out.complain("a wait event, its waits, their time", line.unwrap_or(&cells.join(" ")));
        };
        if self.has_instances() {
            if !self.enter_instance(&cells, out) || is_cpu(name) {
                return;
            }
        } else {
            self.heading.begin_period(out);
        }
        if is_cpu(name) {
            let database = self.heading.database(out);
            if !self.heading.has_cpu() {
                out.fact(database, "database_cpu_s", time_s);
            }
            if percent.is_finite() {
                out.fact(database, "database_cpu_percent", percent);
            }
            return;
        }
        let name = self.names.whole(name, self.table.widths.get(name_at).copied());
        let is_background = self.section == Section::BackgroundEvents;
        // The same event on another instance is another one.
        let key = format!("{} {name}", self.cluster.current);
        let row = TopRow { origin: out.origin(), name, values: [waits, time_s, average_us, percent] };
        if self.section == Section::TopEvents && self.top.len() < TOP_MAX {
            self.top.insert(key.clone(), waits);
            let is_rounded = self.table.columns.iter().zip(&cells).any(|(c, cell)| {
                matches!(role(c), Role::Time(_)) && cell.trim().ends_with(|c: char| c.is_ascii_uppercase())
            });
            // `16.4K`: the complete table has it to the second.
            if is_rounded && !self.cluster.is_one {
                self.held.push(row);
                return;
            }
        } else if let Some(at) = self.held.iter().position(|h| h.name == row.name && h.values[0] == waits) {
            self.held.remove(at);
        } else if self.top.get(&key) == Some(&waits) && (!is_background || self.is_top_of_all) {
            // It stood in the top list already, with the same figures.
            return;
        }
        row.tell(is_background, out);
    }

    /// Rows of the top list that no other table had.
    pub(crate) fn end_events(&mut self, out: &mut Out<'_>) {
        for row in std::mem::take(&mut self.held) {
            row.tell(false, out);
        }
    }
}

/// A row of a table of events.
#[derive(Clone, Debug)]
pub(super) struct TopRow {
    origin: Origin,
    name: String,
    /// Waits, seconds, microseconds of the mean, percent.
    values: [f64; 4],
}

impl TopRow {
    fn tell(&self, is_background: bool, out: &mut Out<'_>) {
        let place = out.place(PlaceKind::WaitEvent, &self.name);
        let share = if is_background { BackgroundTimePercent } else { DatabaseTimePercent };
        let [waits, time_s, average_us, percent] = self.values;
        let row = [(Waits, waits), (WaitTimeS, time_s), (WaitUs, average_us), (share, percent)];
        out.put_from(self.origin, place, &row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_many_versions() {
        let wanted = [
            ("event", Role::Event),
            ("totalwaittime(sec)", Role::Time(1.0)),
            ("time(s)", Role::Time(1.0)),
            ("time(cs)", Role::Time(0.01)),
            ("avgwait(ms)", Role::Average(1e3)),
            ("waitavg(ms)", Role::Average(1e3)),
            ("avgwait", Role::Average(1e3)),
            ("%totalcalltime", Role::Percent),
            ("%totalelatime", Role::Percent),
            ("%bgtime", Role::Percent),
            ("%time-outs", Role::Unread),
            ("waits/txn", Role::Unread),
            ("colour", Role::Unknown),
        ];
        for (label, expected) in wanted {
            assert_eq!(role(label), expected, "{label}");
        }
    }

    #[test]
    fn a_line_without_its_spaces_is_read_word_by_word() {
        let columns = ["event", "waits", "time(s)", "avgwait(ms)", "%dbtime", "waitclass"];
        let table = Table { columns: columns.map(str::to_owned).to_vec(), ..Table::default() };
        let cells = by_words("db file sequential read 35,732 6,575 184 77.5 User I/O", &table).unwrap();
        assert_eq!(values(&table, &cells), Some([35_732.0, 6575.0, 184_000.0, 77.5]));
        let cells = by_words("CPU time 12,205 10.9", &table).unwrap();
        assert_eq!((cells[0], cells[2], cells[4]), ("CPU time", "12,205", "10.9"));
        assert_eq!(by_words("nothing here", &table), None);
    }
}
