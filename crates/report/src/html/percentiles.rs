//! How response times spread at each concurrency: bands between percentiles, on one scale by ratio.

use super::axis::{Frame, Scale};
use super::svg::{Anchor, Key, Svg, figure as wrap};
use super::throughput_latency::{concurrency_scale, tick_time};
use crate::number::{time, whole};
use analyze::Point;
use probe::{Answer, Percentiles};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
const ACROSS: (f64, f64) = (72.0, 546.0);
const UPWARD: (f64, f64) = (314.0, 28.0);

/// The figure.
pub fn figure(answer: &Answer) -> String {
    let spread: Vec<(&Point, Percentiles)> =
        answer.points.iter().filter_map(|p| Some((p, Percentiles::of(&p.response)?))).collect();
    if spread.is_empty() {
        return String::new();
    }
    let low = spread.iter().map(|(_, s)| s.p50).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let high = spread.iter().map(|(_, s)| s.max).fold(0.0, f64::max);
    let low = if low.is_finite() { low } else { 1.0 };
    let frame = Frame {
        x: concurrency_scale(&answer.points, ACROSS),
        y: Scale::log(low / 1.4, high.max(low) * 1.4, UPWARD),
    };
    let mut svg = Svg::new("pc", WIDTH, HEIGHT);
    frame.rows(&mut svg, &frame.y.ticks(9), tick_time, "response time");
    bands(&mut svg, &frame, &spread);
    frame.columns(&mut svg, &frame.x.doublings(8), whole, "concurrency (I/Os outstanding)");
    limit(&mut svg, &frame, answer);
    readouts(&mut svg, &frame, &spread);
    let drawing = svg.finish(
        "Percentiles of the response time against concurrency",
        "Median, 95th, 99th and 99.9th percentile and the largest; the table below has the numbers.",
    );
    let keys: Vec<Key<'_>> = [
        ("spread0", "p50 to p95"),
        ("spread1", "p95 to p99"),
        ("spread2", "p99 to p99.9"),
        ("k-max", "largest"),
        ("k-limit", "limit"),
    ]
    .map(|(class, text)| (class, text.to_owned()))
    .to_vec();
    wrap("How response times spread", "All reads and writes of each concurrency together.", &keys, &drawing)
}

fn bands(svg: &mut Svg, frame: &Frame, spread: &[(&Point, Percentiles)]) {
    let line = |of: fn(&Percentiles) -> f64| -> Vec<(f64, f64)> {
        spread.iter().map(|(p, s)| frame.at(f64::from(p.concurrency), of(s))).collect()
    };
    let edges = [line(|s| s.p50), line(|s| s.p95), line(|s| s.p99), line(|s| s.p999)];
    for (class, pair) in ["spread0", "spread1", "spread2"].into_iter().zip(edges.windows(2)) {
        svg.area(&format!("{class} area"), &pair[1], &pair[0]);
    }
    for edge in &edges {
        svg.line_through("edge", edge.iter().copied().map(Some));
        // A single point has no area; its dots still show where the percentiles lie.
        edge.iter().for_each(|place| svg.dot("edge dot", *place, 2.0));
    }
    for place in line(|s| s.max) {
        svg.dot("max dot", place, 2.5);
    }
}

fn limit(svg: &mut Svg, frame: &Frame, answer: &Answer) {
    let limit_us = answer.limit.limit_ns as f64 / 1e3;
    if frame.y.holds(limit_us) {
        let y = frame.y.at(limit_us);
        svg.line("limit", (frame.left(), y), (frame.right(), y));
        svg.text("limit", (frame.left() + 5.0, y - 5.0), Anchor::Start, &answer.limit.to_string());
    }
}

fn readouts(svg: &mut Svg, frame: &Frame, spread: &[(&Point, Percentiles)]) {
    let places: Vec<f64> = spread.iter().map(|(p, _)| frame.x.at(f64::from(p.concurrency))).collect();
    for ((point, s), (from, to)) in spread.iter().zip(frame.reaches(&places)) {
        let text = format!(
            "{} outstanding: p50 {}, p95 {}, p99 {}, p99.9 {}, largest {}",
            point.concurrency,
            time(s.p50),
            time(s.p95),
            time(s.p99),
            time(s.p999),
            time(s.max)
        );
        svg.readout((from, frame.top()), (to - from, frame.bottom() - frame.top()), &text);
    }
}
