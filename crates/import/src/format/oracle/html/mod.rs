//! AWR reports as HTML: finds titles, tables and cells. What they mean, [`super::report`] knows.

mod scanner;

use super::report::{Report, Section};
use crate::format::{DocumentFormat, Format, Reads};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use scanner::{Scanner, Token, attribute};

/// AWR of one instance, as HTML.
pub(super) const AWR_HTML: Format = Format {
    name: "oracle-awr-html",
    title: "Oracle AWR report, HTML (10g to 19c and later)",
    recognise,
    reads: Reads::Document { new: || Box::<HtmlReport>::default() },
};

/// The heading of a report of all instances of a cluster.
const CLUSTER: &str = "WORKLOAD REPOSITORY REPORT (RAC)";
/// Cells of a row, and characters of a cell or title, that are kept.
const CELLS_MAX: usize = 64;
const CHARS_MAX: usize = 2000;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if !super::text::is_markup(head) {
        return None;
    }
    let lower = |l: &str| l.to_ascii_lowercase();
    if let Some(line) = head
        .find(|l| lower(l).contains("<title>awr report for") || lower(l).contains("<title>awr pdb report"))
    {
        return Likeness::by_line(97, "title", line);
    }
    if let Some(line) = head.find(|l| {
        let headings = ["WORKLOAD REPOSITORY report for", "WORKLOAD REPOSITORY PDB report", CLUSTER];
        headings.iter().any(|heading| l.contains(heading))
    }) {
        return Likeness::by_line(96, "heading", line);
    }
    // An excerpt.
    let is_table = |l: &str| {
        let l = lower(l);
        let is_read = |summary: &str| Section::of(summary) != Section::Other;
        l.split("summary=\"").skip(1).any(|s| is_read(s.split('"').next().unwrap_or("")))
    };
    Likeness::by_line(80, "table", head.find(is_table)?)
}

/// Reads a report.
#[derive(Default)]
struct HtmlReport {
    report: Report,
    /// The text since the last table, heading or break: a title may be no heading.
    text: String,
    /// The last title.
    title: String,
    /// Within a table.
    in_table: bool,
    cells: Vec<String>,
    headings: usize,
    /// Columns and rows that each cell spans.
    spans: Vec<(usize, usize)>,
    /// Labels of the row of headings above, column by column, and whether they reach into this one.
    above: Vec<(String, bool)>,
    /// Line of the row's first cell.
    row_line: u64,
    /// Within a cell.
    in_cell: bool,
}

impl DocumentFormat for HtmlReport {
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>) {
        let mut scanner = Scanner::new(input);
        let mut tables = 0_u64;
        let mut is_whole = false;
        while let Some(token) = scanner.next_token() {
            out.at_line(scanner.line());
            match token {
                Token::Text(text) => self.add(&text),
                Token::Open(name, attributes) => match name.as_str() {
                    "script" | "style" => scanner.skip_element(&name),
                    "table" => {
                        tables += 1;
                        self.begin_table(&attributes, out);
                    }
                    "tr" => self.end_row(out),
                    "td" | "th" => self.begin_cell(name == "th", &attributes, scanner.line()),
                    "h1" | "h2" | "h3" | "h4" | "p" | "hr" | "ul" | "li" => self.paragraph(),
                    "br" => self.add(" "),
                    _ => {}
                },
                Token::Close(name) => match name.as_str() {
                    "tr" => self.end_row(out),
                    "table" => self.end_table(out),
                    "td" | "th" => self.in_cell = false,
                    "h1" | "h2" | "h3" | "h4" | "p" | "ul" => self.paragraph(),
                    "li" => {
                        self.report.legend(&self.text);
                        self.text.clear();
                    }
                    "body" | "html" => is_whole = true,
                    _ => {}
                },
            }
        }
        self.end_table(out);
        self.report.end(out);
        if let Some(error) = scanner.error.take() {
            out.complain("more of the report", &format!("reading failed: {error}"));
        } else if !is_whole {
            out.remark("the report is cut off: it has no end");
        }
        if tables == 0 {
            out.complain("tables of an AWR report", "none");
        }
    }
}

impl HtmlReport {
    fn add(&mut self, text: &str) {
        let into = match (self.in_table, self.in_cell) {
            (false, _) => &mut self.text,
            (true, true) => match self.cells.last_mut() {
                Some(cell) => cell,
                None => return,
            },
            (true, false) => return,
        };
        if into.len() < CHARS_MAX {
            into.push_str(text);
        }
    }

    /// A heading or paragraph ends or begins: its text may be the title of the next table.
    fn paragraph(&mut self) {
        if !self.in_table {
            let text = self.text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() {
                self.report.cluster.is_one |= text.starts_with(CLUSTER);
                self.title = text;
            }
            self.text.clear();
        }
    }

    fn begin_table(&mut self, attributes: &str, out: &mut Out<'_>) {
        self.end_table(out);
        self.paragraph();
        let summary = attribute(attributes, "summary").unwrap_or_default();
        let title = std::mem::take(&mut self.title);
        let known = [&title, &summary].into_iter().find(|t| Section::of(t) != Section::Other);
        let legend = self.report.table.legend_us;
        self.report.title(known.unwrap_or(&title), out);
        self.report.table.legend_us = legend;
        self.in_table = true;
    }

    fn begin_cell(&mut self, is_heading: bool, attributes: &str, line: u64) {
        if self.cells.is_empty() {
            self.row_line = line;
        }
        self.in_cell = self.in_table && self.cells.len() < CELLS_MAX;
        if self.in_cell {
            self.cells.push(String::new());
            let span = |name| attribute(attributes, name).and_then(|n| n.parse().ok()).unwrap_or(1);
            self.spans.push((span("colspan").clamp(1, CELLS_MAX), span("rowspan")));
            self.headings += usize::from(is_heading);
        }
    }

    fn end_row(&mut self, out: &mut Out<'_>) {
        self.in_cell = false;
        let cells = std::mem::take(&mut self.cells);
        let headings = std::mem::take(&mut self.headings);
        if cells.is_empty() {
            return;
        }
        out.at_line(self.row_line);
        let cells: Vec<String> =
            cells.iter().map(|c| c.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let filled = cells.iter().filter(|c| !c.is_empty()).count();
        let spans = std::mem::take(&mut self.spans);
        if headings > 0 && (headings == cells.len() || filled <= headings) {
            let labels = self.below_others(&cells, &spans);
            self.report.columns(&labels, Vec::new(), out);
            self.above = labels.into_iter().zip(spans_of(&spans)).collect();
            return;
        }
        self.above.clear();
        let joined = cells.join(" ");
        if self.report.section == Section::Other && self.report.heading.line(&joined, out) {
            return;
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        self.report.row(out.origin(), None, &cells, out);
    }

    /// Labels of a row of headings, column by column. Where headings above reach into the row, its own fill the others.
    fn below_others(&self, cells: &[String], spans: &[(usize, usize)]) -> Vec<String> {
        let own =
            cells.iter().zip(spans).flat_map(|(c, (columns, _))| std::iter::repeat_n(c.clone(), *columns));
        if self.above.iter().all(|(_, reaches)| !reaches) {
            return own.take(CELLS_MAX).collect();
        }
        let mut own = own;
        let label = |(above, reaches): &(String, bool)| match reaches {
            true => above.clone(),
            false => own.next().unwrap_or_default(),
        };
        self.above.iter().map(label).collect()
    }

    fn end_table(&mut self, out: &mut Out<'_>) {
        self.end_row(out);
        if self.in_table {
            self.report.end_section(out);
            self.report.table.legend_us = false;
        }
        self.in_table = false;
        self.above.clear();
        self.text.clear();
    }
}

/// Whether each column's heading reaches into the row below.
fn spans_of(spans: &[(usize, usize)]) -> impl Iterator<Item = bool> {
    spans.iter().flat_map(|(columns, rows)| std::iter::repeat_n(*rows > 1, *columns))
}
