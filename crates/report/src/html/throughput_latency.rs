//! Throughput and response time against concurrency, one above the other: two panels, no second axis.

use super::axis::{Frame, Scale};
use super::svg::{Anchor, Key, Svg, figure as wrap};
use crate::curve::{self, largest};
use crate::number::{compact, count, significant, time, whole};
use analyze::Point;
use probe::Answer;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 500.0;
const ACROSS: (f64, f64) = (72.0, 546.0);
/// Lower and upper edge of each panel.
const UPPER: (f64, f64) = (214.0, 28.0);
const LOWER: (f64, f64) = (454.0, 268.0);

/// The figure.
pub fn figure(answer: &Answer) -> String {
    if answer.points.is_empty() {
        return String::new();
    }
    let mut svg = Svg::new("tl", WIDTH, HEIGHT);
    let x = concurrency_scale(&answer.points, ACROSS);
    let upper = Frame { x, y: Scale::linear(0.0, throughput_max(answer), UPPER) };
    let lower = Frame { x, y: latency_scale(answer) };
    throughput(&mut svg, &upper, answer);
    latency(&mut svg, &lower, answer);
    readouts(&mut svg, &upper, answer);
    let first = answer.points.first().map_or(0, |p| p.concurrency);
    let last = answer.points.last().map_or(0, |p| p.concurrency);
    let drawing = svg.finish(
        "Throughput and response time against concurrency",
        &format!(
            "{} concurrencies from {first} to {last}; the table below has the numbers.",
            answer.points.len()
        ),
    );
    let statistic = answer.limit.statistic.to_string();
    let mut keys: Vec<Key<'_>> = vec![("k-rate", "throughput".to_owned()), ("k-p50", "p50".to_owned())];
    keys.push(("k-p99", "p99".to_owned()));
    if shows_statistic(answer) {
        keys.push(("k-stat", format!("{statistic} of the limit")));
    }
    keys.push(("k-limit", format!("limit {}", answer.limit)));
    if curve::load_line(answer).is_some() {
        keys.push(("k-line", format!("{}, 95 % interval", curve::line_name(answer))));
    }
    if answer.knee.is_some() {
        keys.push(("k-knee", "knee".to_owned()));
    }
    wrap(
        "What it carries, and how long that takes",
        "Both against concurrency, on one scale by ratio.",
        &keys,
        &drawing,
    )
}

/// By ratio, with a little room on both sides.
pub fn concurrency_scale(points: &[Point], across: (f64, f64)) -> Scale {
    let first = points.first().map_or(1.0, |p| f64::from(p.concurrency.max(1)));
    let last = points.last().map_or(1.0, |p| f64::from(p.concurrency.max(1)));
    Scale::log(first * 0.85, last * 1.18, across)
}

fn throughput_max(answer: &Answer) -> f64 {
    let points = answer.points.iter().map(|p| p.iops_ci95.map_or(p.iops, |ci| ci[1].max(p.iops)));
    let line = curve::load_line(answer).map(|l| l.ci95[1]);
    1.12 * largest(points.chain(line)).filter(|v| *v > 0.0).unwrap_or(1.0)
}

/// From the fastest median to the slowest p99; the limit is in it unless it lies far away.
fn latency_scale(answer: &Answer) -> Scale {
    let all = |q| answer.points.iter().filter_map(move |p| curve::quantile_us(p, q));
    let statistics = answer.points.iter().filter_map(|p| curve::limit_statistic_us(&answer.limit, p));
    let low = all(0.5).filter(|v| *v > 0.0).reduce(f64::min).unwrap_or(1.0);
    let high = largest(all(0.99).chain(statistics)).unwrap_or(low);
    let limit_us = answer.limit.limit_ns as f64 / 1e3;
    let near = limit_us < high * 100.0 && limit_us > low / 100.0;
    let (low, high) = if near { (low.min(limit_us), high.max(limit_us)) } else { (low, high) };
    Scale::log(low / 1.4, high * 1.4, LOWER)
}

fn shows_statistic(answer: &Answer) -> bool {
    let limit = &answer.limit;
    let plain =
        [record::Statistic::Quantile(0.5), record::Statistic::Quantile(0.99)].contains(&limit.statistic);
    !plain || limit.class.is_some()
}

fn throughput(svg: &mut Svg, frame: &Frame, answer: &Answer) {
    frame.rows(svg, &frame.y.ticks(4), compact, "IOPS");
    frame.columns(svg, &frame.x.doublings(8), whole, "");
    if let Some(line) = curve::load_line(answer) {
        let [low, high] = line.ci95.map(|iops| frame.y.at(iops));
        svg.rect("band", (frame.left(), high), (frame.right() - frame.left(), (low - high).max(1.0)));
        let [from, to] = line.concurrency_ci95.map(|n| frame.x.at(n));
        svg.rect("band", (from, frame.top()), ((to - from).max(1.0), frame.bottom() - frame.top()));
    }
    uprights(svg, frame, answer, Names::Shown);
    for point in &answer.points {
        if let Some([low, high]) = point.iops_ci95 {
            let n = f64::from(point.concurrency);
            svg.line("whisker", frame.at(n, low), frame.at(n, high));
        }
    }
    curve_of(svg, frame, answer, "rate", |p| Some(p.iops));
    if let Some(line) = curve::load_line(answer) {
        svg.dot("line-dot", frame.at(f64::from(line.concurrency), line.iops), 6.0);
    }
}

fn latency(svg: &mut Svg, frame: &Frame, answer: &Answer) {
    frame.rows(svg, &frame.y.ticks(8), tick_time, "response time");
    frame.columns(svg, &frame.x.doublings(8), whole, "concurrency (I/Os outstanding)");
    uprights(svg, frame, answer, Names::Hidden);
    let limit_us = answer.limit.limit_ns as f64 / 1e3;
    if frame.y.holds(limit_us) {
        let y = frame.y.at(limit_us);
        svg.line("limit", (frame.left(), y), (frame.right(), y));
        svg.text("limit", (frame.left() + 5.0, y - 5.0), Anchor::Start, &answer.limit.to_string());
    }
    curve_of(svg, frame, answer, "p50", |p| curve::quantile_us(p, 0.5));
    curve_of(svg, frame, answer, "p99", |p| curve::quantile_us(p, 0.99));
    if shows_statistic(answer) {
        curve_of(svg, frame, answer, "stat", |p| curve::limit_statistic_us(&answer.limit, p));
    }
}

/// A time on an axis: round, so no digits behind the point.
pub fn tick_time(us: f64) -> String {
    match us {
        ..1e3 => format!("{} us", compact(us)),
        ..1e6 => format!("{} ms", compact(us / 1e3)),
        _ => format!("{} s", compact(us / 1e6)),
    }
}

/// Whether upright lines carry their names.
#[derive(PartialEq, Eq)]
enum Names {
    Shown,
    Hidden,
}

fn uprights(svg: &mut Svg, frame: &Frame, answer: &Answer, names: Names) {
    let name = |text: String| if names == Names::Shown { text } else { String::new() };
    if let Some(knee) = answer.knee.as_ref().filter(|k| frame.x.holds(k.concurrency)) {
        let place = frame.x.at(knee.concurrency);
        svg.line("knee", (place, frame.top()), (place, frame.bottom()));
        // At the foot, since the load line is named at the top and often stands near.
        let text = name(format!("knee {}", count(knee.concurrency)));
        svg.text("knee", (place + 5.0, frame.bottom() - 7.0), Anchor::Start, &text);
    }
    if let Some(line) = curve::load_line(answer) {
        frame.upright(
            svg,
            "line",
            f64::from(line.concurrency),
            &name(format!("{} {}", curve::line_name(answer), line.concurrency)),
        );
    }
}

fn curve_of(svg: &mut Svg, frame: &Frame, answer: &Answer, class: &str, of: impl Fn(&Point) -> Option<f64>) {
    let places: Vec<Option<(f64, f64)>> =
        answer.points.iter().map(|p| of(p).map(|v| frame.at(f64::from(p.concurrency), v))).collect();
    for place in places.iter().flatten() {
        svg.dot(&format!("{class} dot"), *place, 3.0);
    }
    svg.line_through(class, places);
}

fn readouts(svg: &mut Svg, frame: &Frame, answer: &Answer) {
    let places: Vec<f64> = answer.points.iter().map(|p| frame.x.at(f64::from(p.concurrency))).collect();
    for (point, (from, to)) in answer.points.iter().zip(frame.reaches(&places)) {
        svg.readout((from, UPPER.1), (to - from, LOWER.0 - UPPER.1), &told(answer, point));
    }
}

fn told(answer: &Answer, point: &Point) -> String {
    let shown = |us: Option<f64>| us.map_or("-".to_owned(), time);
    let mut text = format!(
        "{} outstanding: {} IOPS, {} MiB/s, p50 {}, p99 {}",
        point.concurrency,
        whole(point.iops),
        significant(point.mib_per_s),
        shown(curve::quantile_us(point, 0.5)),
        shown(curve::quantile_us(point, 0.99))
    );
    if shows_statistic(answer) {
        let statistic = shown(curve::limit_statistic_us(&answer.limit, point));
        text.push_str(&format!(", {} {statistic}", answer.limit.statistic));
    }
    text
}
