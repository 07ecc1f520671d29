//! A table that compares runs by figures of their AWR reports, pasted from a page: a header of metrics and a line for each
//! run, or a header of I/O schedulers and a line for each metric.

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::grouped;
use record::imported::Quantity::{self, *};
use record::imported::{Interval, PlaceKind, RowsKind, facts};

/// Such a table.
pub(super) const COMPARISON: Format = Format {
    name: "oracle-comparison",
    title: "Table of AWR figures of several runs (for example of I/O schedulers)",
    recognise,
    reads: Reads::Lines {
        new: || Box::<Comparison>::default(),
        begins: |line| matches!(header(line), Some(Header::Metrics(_))),
    },
};

/// Metrics by what they are called, longer names first. Those without a quantity become facts.
const METRICS: [(&str, Option<Quantity>, &str); 14] = [
    ("transactions per second", Some(TransactionsPerS), ""),
    ("transaction per second", Some(TransactionsPerS), ""),
    ("transactions/s", Some(TransactionsPerS), ""),
    ("transactions", Some(TransactionsPerS), ""),
    ("tps", Some(TransactionsPerS), ""),
    ("log file sync %", None, "log_file_sync_percent"),
    ("user calls", Some(UserCallsPerS), ""),
    ("physical reads", Some(PhysicalReadBlocksPerS), ""),
    ("physical writes", Some(PhysicalWriteBlocksPerS), ""),
    ("logical reads", Some(LogicalReadsPerS), ""),
    ("redo size", Some(RedoBytesPerS), ""),
    ("executes", Some(ExecutionsPerS), ""),
    ("db time", Some(ActiveSessions), ""),
    ("db cpu", Some(DatabaseCpuPerS), ""),
];

const SCHEDULERS: [&str; 9] =
    ["noop", "anticipatory", "as", "deadline", "cfq", "none", "mq-deadline", "bfq", "kyber"];

/// Characters of a header.
const LINE_MAX: usize = 500;

type Metric = (Option<Quantity>, &'static str);

#[derive(Clone, Debug, PartialEq)]
enum Header {
    /// A run in each line.
    Metrics(Vec<Metric>),
    /// A metric in each line.
    Runs(Vec<String>),
}

/// The metric that a text begins with, and what follows.
fn metric(text: &str) -> Option<(Metric, &str)> {
    let text = text.trim_start();
    METRICS.iter().find_map(|(name, quantity, fact)| {
        let head = text.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
        let rest = &text[head.len()..];
        (rest.is_empty() || rest.starts_with([' ', '\t', '|'])).then_some(((*quantity, *fact), rest))
    })
}

/// Nothing, or the rule below a header.
fn is_blank(line: &str) -> bool {
    line.trim().bytes().all(|b| matches!(b, b'-' | b'|' | b'+' | b' ' | b':'))
}

/// A line of metrics, or of schedulers, and nothing else.
fn header(line: &str) -> Option<Header> {
    if line.len() > LINE_MAX {
        return None;
    }
    let words = words(line);
    if words.len() >= 2 && words.iter().all(|w| SCHEDULERS.contains(&w.as_str())) {
        return Some(Header::Runs(words));
    }
    let joined = words.join(" ");
    let mut rest = joined.strip_prefix("scheduler ").unwrap_or(&joined);
    let mut metrics = Vec::new();
    while !rest.trim().is_empty() {
        let (found, after) = metric(rest)?;
        metrics.push(found);
        rest = after;
    }
    let is_database = metrics.iter().any(|(q, _)| *q == Some(TransactionsPerS));
    (metrics.len() >= 2 && is_database).then_some(Header::Metrics(metrics))
}

fn words(line: &str) -> Vec<String> {
    line.split([' ', '\t', '|']).filter(|w| !w.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// The numbers that end a line, and the words before them.
fn name_and_numbers(line: &str, wanted: usize) -> Option<(String, Vec<f64>)> {
    let words = words(line);
    let (name, numbers) = words.split_at_checked(words.len().checked_sub(wanted)?)?;
    let numbers: Option<Vec<f64>> = numbers.iter().map(|w| grouped(w)).collect();
    Some((name.join(" "), numbers?)).filter(|(name, _)| name.starts_with(|c: char| c.is_alphabetic()))
}

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let mut lines = head.lines.iter().enumerate().filter(|(_, l)| !is_blank(l));
    let (number, line) = lines.by_ref().take(3).find(|(_, l)| header(l).is_some())?;
    let columns = match header(line)? {
        Header::Metrics(metrics) => metrics.len(),
        Header::Runs(runs) => runs.len(),
    };
    lines.next().and_then(|(_, row)| name_and_numbers(row, columns))?;
    let likeness = Likeness::by_line(75, "header", (number + 1, line))?;
    Some(likeness.with_ambiguity("figures are taken as rates of AWR load profiles, per second"))
}

/// Reads the table.
#[derive(Default)]
struct Comparison {
    header: Option<Header>,
}

impl LineFormat for Comparison {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if is_blank(line) {
            return Took::Yes;
        }
        if let Some(header) = header(line) {
            self.header = Some(header);
            out.interval(Interval::unknown(RowsKind::Period));
            return Took::Yes;
        }
        match &self.header {
            Some(Header::Metrics(metrics)) => {
                let Some((name, numbers)) = name_and_numbers(line, metrics.len()) else { return Took::No };
                tell(&name, metrics.iter().copied().zip(numbers), out);
            }
            Some(Header::Runs(runs)) => {
                let joined = words(line).join(" ");
                let found = metric(&joined).map(|(m, _)| m).zip(name_and_numbers(line, runs.len()));
                let Some((metric, (_, numbers))) = found else { return Took::No };
                for (run, number) in runs.iter().zip(numbers) {
                    tell(run, [(metric, number)].into_iter(), out);
                }
            }
            None => return Took::No,
        }
        Took::Yes
    }
}

/// Figures of a run.
fn tell(run: &str, figures: impl Iterator<Item = (Metric, f64)>, out: &mut Out<'_>) {
    let job = out.place(PlaceKind::Job, run);
    if SCHEDULERS.contains(&run) {
        out.fact(job, facts::SCHEDULER, run);
    }
    let mut row = Vec::new();
    for ((quantity, fact), number) in figures {
        match quantity {
            Some(quantity) => row.push((quantity, number)),
            None => out.fact(job, fact, number),
        }
    }
    if !row.is_empty() {
        out.put(job, &row);
    }
}
