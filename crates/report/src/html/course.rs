//! The time course: throughput of every slice, step by step, coloured by concurrency.

use super::axis::{Frame, Scale};
use super::svg::{Anchor, Svg, figure as wrap};
use crate::curve::largest;
use crate::number::{compact, significant, whole};
use probe::Answer;
use record::{Demand, Step};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
const ACROSS: (f64, f64) = (72.0, 546.0);
const UPWARD: (f64, f64) = (314.0, 44.0);
/// More places than this are closer than the eye tells apart; neighbours are averaged.
const PLACES_MAX: usize = 1500;
/// Names of steps closer than this would run into each other.
const NAME_GAP_PX: f64 = 26.0;
/// Colours from few to many outstanding I/Os.
const SHADES: usize = 7;

/// One step as it ran.
struct Run {
    name: String,
    shade: usize,
    /// Seconds since the run began, and IOPS.
    course: Vec<(f64, f64)>,
}

/// The figure.
pub fn figure(answer: &Answer) -> String {
    let runs = runs(answer);
    let all = || runs.iter().flat_map(|r| &r.course);
    let (Some(high), Some(last)) = (largest(all().map(|c| c.1)), largest(all().map(|c| c.0))) else {
        return String::new();
    };
    let first = all().map(|c| c.0).fold(f64::INFINITY, f64::min).min(last);
    let span = (last - first).max(0.1);
    let frame = Frame {
        x: Scale::linear((first - 0.02 * span).max(0.0), last + 0.02 * span, ACROSS),
        y: Scale::linear(0.0, if high > 0.0 { high * 1.06 } else { 1.0 }, UPWARD),
    };
    let mut svg = Svg::new("tc", WIDTH, HEIGHT);
    frame.rows(&mut svg, &frame.y.ticks(5), compact, "");
    frame.columns(&mut svg, &frame.x.ticks(8), compact, "seconds since the start");
    svg.text("axis", (frame.left() - 6.0, 14.0), Anchor::Start, "IOPS");
    draw(&mut svg, &frame, &runs);
    let drawing = svg.finish(
        "Throughput over time",
        &format!("{} steps in the order they ran, each at one concurrency.", runs.len()),
    );
    wrap(
        "The course of the run",
        "Throughput per 100 ms. Numbers at the top are the concurrency; gaps are settling, which counts for nothing.",
        &[("c0", "few outstanding".to_owned()), ("c6", "many".to_owned())],
        &drawing,
    )
}

/// From the steps; a report read back without them falls back to the points' own courses.
fn runs(answer: &Answer) -> Vec<Run> {
    let largest_n =
        answer.points.iter().map(|p| p.concurrency).chain(answer.steps.iter().filter_map(Step::concurrency));
    let shade = shades(largest_n.max().unwrap_or(1));
    let mut runs: Vec<Run> = if answer.steps.is_empty() {
        let of_point = |p: &analyze::Point| (p.concurrency, p.course.clone());
        answer
            .points
            .iter()
            .map(of_point)
            .map(|(n, course)| Run { name: n.to_string(), shade: shade(n), course })
            .collect()
    } else {
        answer.steps.iter().map(|step| run(step, &shade)).collect()
    };
    let places: usize = runs.iter().map(|r| r.course.len()).sum();
    let together = places.div_ceil(PLACES_MAX).max(1);
    runs.iter_mut().for_each(|r| r.course = averaged(&r.course, together));
    runs
}

/// By ratio from one I/O to the largest concurrency.
fn shades(largest_n: u32) -> impl Fn(u32) -> usize {
    let whole = f64::from(largest_n.max(2)).ln();
    move |n| ((f64::from(n.max(1)).ln() / whole * (SHADES - 1) as f64).round() as usize).min(SHADES - 1)
}

fn run(step: &Step, shade: &impl Fn(u32) -> usize) -> Run {
    let at = |s: &record::Slice| {
        let middle_s = step.start_s + s.start_s + s.length_s / 2.0;
        (s.length_s > 0.0).then(|| (middle_s, s.ios() as f64 / s.length_s))
    };
    let (name, shade) = match step.load.demand {
        Demand::Closed { concurrency } => (concurrency.to_string(), shade(concurrency)),
        Demand::Open { .. } => ("open".to_owned(), 0),
    };
    Run { name, shade, course: step.slices.iter().filter_map(at).collect() }
}

fn averaged(course: &[(f64, f64)], together: usize) -> Vec<(f64, f64)> {
    let mean = |chunk: &[(f64, f64)]| {
        let count = chunk.len() as f64;
        (chunk.iter().map(|c| c.0).sum::<f64>() / count, chunk.iter().map(|c| c.1).sum::<f64>() / count)
    };
    course.chunks(together).map(mean).collect()
}

fn draw(svg: &mut Svg, frame: &Frame, runs: &[Run]) {
    let mut named_px = f64::NEG_INFINITY;
    for run in runs {
        let (Some(first), Some(last)) = (run.course.first(), run.course.last()) else { continue };
        let class = format!("c{}", run.shade);
        let places: Vec<(f64, f64)> = run.course.iter().map(|(t, iops)| frame.at(*t, *iops)).collect();
        match places.as_slice() {
            [only] => svg.dot(&format!("{class} dot"), *only, 2.0),
            _ => svg.line_through(&format!("{class} course"), places.iter().copied().map(Some)),
        }
        let (from, to) = (frame.x.at(first.0), frame.x.at(last.0));
        let middle = (from + to) / 2.0;
        if middle - named_px >= NAME_GAP_PX {
            svg.text("tick", (middle, frame.top() - 6.0), Anchor::Middle, &run.name);
            named_px = middle;
        }
        let mean = run.course.iter().map(|c| c.1).sum::<f64>() / run.course.len() as f64;
        let text = format!(
            "{} outstanding: {} IOPS from {} to {} s",
            run.name,
            whole(mean),
            significant(first.0),
            significant(last.0)
        );
        svg.readout((from, frame.top()), ((to - from).max(3.0), frame.bottom() - frame.top()), &text);
    }
}
