//! AWR and Statspack reports as text: finds titles, rulers and rows. What they mean, [`super::report`] knows.

mod recognise;
mod ruler;

pub(super) use recognise::is_markup;

use super::report::{Report, Section, is_table, value};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use record::imported::Origin;
use ruler::{Dashes, Ruler};

/// AWR of one instance.
pub(super) const AWR_FORMAT: Format = Format {
    name: "oracle-awr-text",
    title: "Oracle AWR report, text (10g to 19c and later)",
    recognise: recognise::awr,
    reads: Reads::Lines { new: || Box::<TextReport>::default(), begins: recognise::begins },
};

/// Statspack.
pub(super) const STATSPACK_FORMAT: Format = Format {
    name: "oracle-statspack",
    title: "Oracle Statspack report (8i and later)",
    recognise: recognise::statspack,
    reads: Reads::Lines { new: || Box::<TextReport>::default(), begins: recognise::begins_statspack },
};

/// Formats whose beginnings may stand within a report: findings of ADDM and ASH are part of it.
const OWN: [&str; 4] = ["oracle-awr-text", "oracle-statspack", "oracle-addm", "oracle-ash"];

/// Cells of a line that are looked at.
const CELLS_MAX: usize = 64;
/// Lines above a ruler that may be headings.
const HEADINGS_MAX: usize = 6;

/// Where in a table the lines stand.
#[derive(Clone, Debug, Default)]
enum State {
    /// Not in one.
    #[default]
    Between,
    /// Below the ruler of the names, above the one of the numbers: `Tablespace`, then `Reads  Av Rds/s ...`.
    Names(Ruler),
    /// Below headings that tabs divide, as they are copied out of a browser.
    Tabs,
    /// Below its ruler. The first ruler is there where names stand on lines of their own.
    Rows(Option<Ruler>, Ruler),
}

/// Reads a report.
#[derive(Default)]
struct TextReport {
    report: Report,
    above: Vec<String>,
    state: State,
    /// Cells of a name that waits for its numbers.
    held: Option<(Origin, Vec<String>)>,
    has_ended: bool,
}

impl LineFormat for TextReport {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if recognise::is_heading(line) {
            self.finish(out);
            self.has_ended = false;
            self.report.cluster.is_one = recognise::is_cluster(line);
            return Took::Yes;
        }
        if self.has_ended && !line.trim().is_empty() {
            return Took::No;
        }
        if line.trim_start().starts_with("End of Report") {
            self.finish(out);
            self.has_ended = true;
            return Took::Yes;
        }
        if !line.contains('\t') {
            return self.look_at(line, out);
        }
        if self.tabbed(line, out) {
            return Took::Yes;
        }
        self.look_at(&expand(line), out)
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(out);
    }
}

impl TextReport {
    fn finish(&mut self, out: &mut Out<'_>) {
        self.end_table();
        self.above.clear();
        self.report.end(out);
    }

    fn end_table(&mut self) {
        self.state = State::Between;
        self.held = None;
    }

    fn look_at(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let text = line.trim();
        if text.is_empty() || text.starts_with("```") {
            self.end_table();
            self.above.clear();
        } else if text.starts_with("->") || (text.starts_with("us is") || text.starts_with("ms is")) {
            self.report.legend(line);
            self.above.clear();
        } else if let Some((title, after)) = line.split_once("DB/Inst:") {
            self.end_table();
            self.above.clear();
            self.report.title(title, out);
            self.report.heading.section_of(after);
        } else if let Some((title, after)) = line.split_once(" for DB: ").filter(|_| line.contains("Snaps:"))
        {
            // Statspack of 8i and 9i.
            self.end_table();
            self.above.clear();
            self.report.title(title, out);
            self.report.heading.instance_of(after);
        } else if self.report.heading.line(line, out) {
            self.above.clear();
        } else if let Some(dashes) = Ruler::read(line) {
            self.dashes(line, dashes, out);
        } else if text.starts_with("~~~~") {
            // Underlines the title; headings of the table go on beside it.
            self.titled(line, out);
        } else if !matches!(self.state, State::Rows(..)) && super::is_foreign(line, &OWN) {
            return Took::No;
        } else {
            self.other(line, out);
        }
        Took::Yes
    }

    /// A line of cells that tabs divide; whether it was one.
    fn tabbed(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let cells: Vec<&str> = line.split('\t').map(str::trim).take(CELLS_MAX).collect();
        if is_table(line) {
            self.report.columns(&cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>(), Vec::new(), out);
            self.state = State::Tabs;
            return true;
        }
        let is_row = matches!(self.state, State::Tabs) && cells.len() >= 3;
        if is_row {
            self.report.row(out.origin(), Some(line), &cells, out);
        }
        is_row
    }

    /// A line of tildes: the line above it begins with a title.
    fn titled(&mut self, line: &str, out: &mut Out<'_>) {
        if let Some(above) = self.above.pop() {
            let (title, rest) = title_of(&above);
            self.report.title(title, out);
            self.end_table();
            // `Host CPU  (CPUs: 32  Cores: 8)`: what stands beside it heads no columns.
            let rest = if rest.contains('(') { "" } else { rest };
            self.above = vec![" ".repeat(above.chars().count() - rest.chars().count()) + rest];
        }
        let rest = line.trim_start().trim_start_matches('~');
        self.above.push(" ".repeat(line.chars().count() - rest.chars().count()) + rest);
    }

    fn dashes(&mut self, line: &str, dashes: Dashes, out: &mut Out<'_>) {
        let ruler = match dashes {
            // The name of a tablespace above its numbers, in a text that is indented as a whole.
            Dashes::Indented(ruler)
                if self.above.last().is_some_and(|above| above.trim().starts_with("Tablespace")) =>
            {
                ruler
            }
            Dashes::Indented(_) if matches!(self.state, State::Rows(..)) => {
                self.end_table();
                self.above.clear();
                self.report.end_section(out);
                return;
            }
            // Spans the columns of the buckets; what stands above is said of all of them.
            Dashes::Indented(_) => return self.above.clear(),
            Dashes::Ruler(ruler) => ruler,
        };
        if line.trim_start().starts_with('~') {
            let is_heading = self.above.last().is_some_and(|above| {
                let above = above.to_ascii_lowercase();
                above.contains("db id") || above.contains("platform") || above.contains("snap id")
            });
            if !is_heading {
                return self.titled_ruler(&ruler, out);
            }
        }
        let state = std::mem::take(&mut self.state);
        let labels = ruler.labels(&self.above);
        self.above.clear();
        self.held = None;
        self.state = match state {
            State::Names(first) => {
                let mut columns = self.report.table.columns.clone();
                let mut widths = first.widths();
                columns.extend(labels);
                widths.extend(ruler.widths());
                self.report.columns(&columns, widths, out);
                State::Rows(Some(first), ruler)
            }
            _ => {
                self.report.columns(&labels, ruler.widths(), out);
                let is_name = |label: &String| matches!(label.as_str(), "tablespace" | "filename");
                if self.report.table.columns.iter().all(is_name) {
                    State::Names(ruler)
                } else {
                    State::Rows(None, ruler)
                }
            }
        };
    }

    /// `~~~~~~~~~~~       ---------- ----------`: a title's underline with a ruler beside it.
    fn titled_ruler(&mut self, ruler: &Ruler, out: &mut Out<'_>) {
        let Some(above) = self.above.pop() else { return };
        self.report.title(title_of(&above).0, out);
        self.above.clear();
        if self.report.section == Section::HostCpu {
            self.report.columns(&ruler.labels(&[above]), ruler.widths(), out);
        }
        self.end_table();
    }

    fn other(&mut self, line: &str, out: &mut Out<'_>) {
        if self.report.section == Section::LoadProfile && line.contains(':') {
            return self.report.profile_line(line, out);
        }
        if Section::of(line) != Section::Other {
            // A title right below a table, or one that nothing underlines.
            self.end_table();
            self.report.title(title_of(line).0, out);
        }
        match std::mem::take(&mut self.state) {
            State::Rows(first, ruler) if self.report.wants_rows() => {
                self.row(line, first.as_ref(), &ruler, out);
                self.state = State::Rows(first, ruler);
            }
            state => {
                self.state = state;
                if self.above.len() >= HEADINGS_MAX {
                    self.above.remove(0);
                }
                self.above.push(line.to_owned());
            }
        }
    }

    fn row(&mut self, line: &str, first: Option<&Ruler>, ruler: &Ruler, out: &mut Out<'_>) {
        let origin = out.origin();
        if !self.report.section.has_names_above() || (first.is_none() && has_name(&self.report)) {
            let cells = ruler.cells(line);
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            return self.report.row(origin, Some(line), &cells, out);
        }
        let is_numbers = line.split_ascii_whitespace().all(value::is_numeric)
            && line.split_ascii_whitespace().count() >= 3;
        if !is_numbers && (self.held.is_none() || !line.starts_with("  ")) {
            let cells = first.map_or_else(|| vec![line.trim().to_owned()], |f| f.cells(line));
            self.held = Some((origin, cells));
            return;
        }
        let Some((origin, mut cells)) = self.held.take() else {
            return out.complain("a name above its numbers", line);
        };
        cells.extend(ruler.cells(line));
        if first.is_none() {
            // The table has no column for the name: it is put before the others.
            self.report.table.columns.insert(0, "name".to_owned());
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        self.report.row(origin, Some(line), &cells, out);
        if first.is_none() {
            self.report.table.columns.remove(0);
        }
    }
}

/// Whether the table has a column for the name of its rows.
fn has_name(report: &Report) -> bool {
    report.table.columns.iter().any(|c| matches!(c.as_str(), "tablespace" | "filename"))
}

/// The title that begins a line, and what stands beside it after two spaces.
fn title_of(line: &str) -> (&str, &str) {
    let start = line.len() - line.trim_start().len();
    let mut end = line[start..].find("  ").map_or(line.len(), |n| start + n);
    // `Host CPU (CPUs:    2 Cores:    1)`
    if line[start..end].contains('(') && !line[start..end].contains(')') {
        end = line[end..].find(')').map_or(end, |n| end + n + 1);
    }
    (&line[start..end], &line[end..])
}

/// Tabs become spaces up to the next multiple of 8.
fn expand(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    let mut column = 0;
    for c in line.chars() {
        if c == '\t' {
            let spaces = 8 - column % 8;
            out.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out
}
