//! The table of the points.

use super::sink::{Role, Sink};
use crate::curve::{self, Known};
use crate::number::{self, ABSENT, TimeUnit, fitted};
use analyze::{Point, Queue};
use probe::Answer;

/// Columns from which the median has room beside the tail.
const WIDTH_WITH_MEDIAN: usize = 88;

/// One column: two lines of heading and a width, a blank ahead of it included.
struct Column {
    heading: [String; 2],
    width: usize,
    cell: fn(&Point, TimeUnit, usize) -> String,
}

/// Writes the table with its heading and legend.
pub fn table(out: &mut Sink, answer: &Answer) {
    let tail = |p: &Point| curve::quantile_us(p, 0.99);
    let unit = TimeUnit::for_us(curve::largest(answer.points.iter().filter_map(tail)).unwrap_or(0.0));
    let columns = columns(unit, out.style().width);
    out.gap();
    for line in 0..2 {
        let heading: String = columns.iter().map(|c| right(&c.heading[line], c.width)).collect();
        out.line(Some(Role::Strong), &format!("  {heading}"));
    }
    let marks = Marks::of(answer);
    let shown = curve::shown(answer);
    for index in shown.iter().copied() {
        let point = &answer.points[index];
        let cells: String =
            columns.iter().map(|c| right(&(c.cell)(point, unit, c.width - 1), c.width)).collect();
        let role = (marks.load_line == Some(index)).then_some(Role::Good);
        out.line(role, &format!("{} {cells}", marks.sign(index)));
    }
    let hidden = answer.points.len() - shown.len();
    if hidden > 0 {
        out.line(
            Some(Role::Faint),
            &format!("  {hidden} more depths near these are in --json and on the page"),
        );
    }
    if let Some(legend) = marks.legend() {
        out.line(Some(Role::Faint), &format!("  {legend}"));
    }
}

fn columns(unit: TimeUnit, width: usize) -> Vec<Column> {
    let column = |over: &str, under: &str, width, cell| Column {
        heading: [over.to_owned(), under.to_owned()],
        width,
        cell,
    };
    let symbol = unit.symbol();
    let mut columns = vec![
        column("", "N", 6, |p, _, w| concurrency(p.concurrency, w)),
        column("", "IOPS", 10, |p, _, w| fitted(p.iops, w)),
        column("", "MiB/s", 8, |p, _, w| fitted(p.mib_per_s, w)),
        column("mean", symbol, 8, |p, u, _| time(curve::mean_us(p), u)),
        column("p99", symbol, 8, |p, u, _| time(curve::quantile_us(p, 0.99), u)),
        column("p99.9", symbol, 8, |p, u, _| time(curve::quantile_us(p, 0.999), u)),
        column("", "above", 7, |p, _, w| queue(&p.above, w)),
        column("queue", "host", 7, |p, _, w| queue(&p.host_queue, w)),
        column("queue", "device", 8, |p, _, w| queue(&p.device_queue, w)),
        column("CPU us", "per IO", 8, |p, _, w| p.cpu_us_per_io.map_or(ABSENT.to_owned(), |v| fitted(v, w))),
    ];
    if width >= WIDTH_WITH_MEDIAN {
        columns.insert(4, column("p50", symbol, 8, |p, u, _| time(curve::quantile_us(p, 0.5), u)));
    }
    columns
}

fn time(us: Option<f64>, unit: TimeUnit) -> String {
    us.map_or(ABSENT.to_owned(), |us| unit.show(us))
}

/// `-` is absent, `<=x` an upper bound, anything else a mean.
fn queue(queue: &Queue, width: usize) -> String {
    match Known::of(queue) {
        Known::Absent => ABSENT.to_owned(),
        Known::Between(_, high) if high.is_finite() => format!("<={}", standing(high, width - 2)),
        Known::Between(low, _) => format!(">={}", standing(low, width - 2)),
        Known::Mean(mean) => standing(mean, width),
    }
}

/// A queue in the room there is.
fn standing(value: f64, width: usize) -> String {
    let text = number::standing(value);
    if text.len() <= width { text } else { number::compact(value) }
}

/// Without thousands apart, as it is given on the command line.
pub fn concurrency(n: u32, width: usize) -> String {
    let text = n.to_string();
    if text.len() <= width { text } else { number::compact(f64::from(n)) }
}

fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

/// Which rows are marked.
struct Marks {
    line_name: &'static str,
    load_line: Option<usize>,
    knee: Option<usize>,
}

impl Marks {
    fn of(answer: &Answer) -> Self {
        let at = |n: f64| curve::marked(&answer.points, n);
        Self {
            line_name: curve::line_name(answer),
            load_line: curve::load_line(answer).and_then(|l| at(f64::from(l.concurrency))),
            knee: answer.knee.as_ref().and_then(|k| at(k.concurrency)),
        }
    }

    fn sign(&self, index: usize) -> char {
        match (self.load_line == Some(index), self.knee == Some(index)) {
            (true, true) => '*',
            (true, false) => '>',
            (false, true) => 'k',
            (false, false) => ' ',
        }
    }

    fn legend(&self) -> Option<String> {
        let mut signs = Vec::new();
        match (self.load_line, self.knee) {
            (Some(line), Some(knee)) if line == knee => signs.push(format!("* {} and knee", self.line_name)),
            (line, knee) => {
                signs.extend(line.map(|_| format!("> {}", self.line_name)));
                signs.extend(knee.map(|_| "k nearest to the knee".to_owned()));
            }
        }
        (!signs.is_empty()).then(|| signs.join("   "))
    }
}
