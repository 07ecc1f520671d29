//! Where the I/Os stand: a stack over concurrency that adds up to N.
//!
//! Both axes are linear, so that N is a straight diagonal and a slope is what it means: the layer that stops the path is
//! the one whose part grows by one for each I/O added.

use super::axis::{Frame, Scale};
use super::svg::{Anchor, Key, Svg, figure as wrap};
use crate::number::{compact, standing};
use analyze::Point;
use probe::Answer;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 500.0;
const ACROSS: (f64, f64) = (72.0, 546.0);
const UPWARD: (f64, f64) = (454.0, 28.0);
/// A part that never reaches this share of N is left to the rest.
const SHARE_MIN: f64 = 0.01;
/// Less than this of N is the noise between counters, not a place where I/Os stand.
const REST_SHARE_MIN: f64 = 0.03;
/// Classes of host queues, lowest layer first.
const HOST_CLASSES: [&str; 3] = ["host0", "host1", "host2"];

/// One part of the stack, one value per point.
struct Part {
    name: String,
    class: &'static str,
    values: Vec<f64>,
}

/// The figure.
pub fn figure(answer: &Answer) -> String {
    let points = &answer.points;
    let caption = "Where the I/Os stand";
    let explained = "The part that grows with every added I/O is what stops the path.";
    let parts = parts(points);
    if points.is_empty() || !parts.iter().any(|p| p.class != "rest") {
        return wrap(caption, "No counter tells where the I/Os stood in this run.", &[], "");
    }
    let mut svg = Svg::new("st", WIDTH, HEIGHT);
    let n_max = points.iter().map(|p| f64::from(p.concurrency)).fold(1.0, f64::max);
    let tops = (0..points.len()).map(|i| parts.iter().map(|p| p.values[i]).sum::<f64>());
    let y_max = tops.fold(n_max, f64::max);
    let frame = Frame { x: Scale::linear(0.0, n_max, ACROSS), y: Scale::linear(0.0, y_max * 1.04, UPWARD) };
    frame.rows(&mut svg, &frame.y.ticks(6), compact, "I/Os standing");
    stack(&mut svg, &frame, points, &parts);
    frame.columns(&mut svg, &frame.x.ticks(7), compact, "concurrency (I/Os outstanding)");
    svg.line("diagonal", frame.at(0.0, 0.0), frame.at(n_max, n_max));
    let (x, y) = frame.at(n_max * 0.5, n_max * 0.5);
    svg.text("diagonal", (x - 8.0, y - 6.0), Anchor::End, "all N");
    readouts(&mut svg, &frame, points, &parts);
    let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
    let drawing = svg.finish(
        "Where the I/Os stand against concurrency",
        &format!("Stacked from below: {}; the table below has the numbers.", names.join(", ")),
    );
    // Keys in the order of the stack, top first.
    let keys: Vec<Key<'_>> = parts.iter().rev().map(|p| (p.class, p.name.clone())).collect();
    wrap(caption, explained, &keys, &drawing)
}

/// From below: device, host queues, what no counter tells apart, and above.
fn parts(points: &[Point]) -> Vec<Part> {
    let mut parts = vec![part("at the device", "device", points, |p| p.device_queue.mean)];
    parts.extend(host_parts(points));
    let above = part("above the block layer", "above", points, |p| p.above.mean);
    let known = |i: usize| above.values[i] + parts.iter().map(|part| part.values[i]).sum::<f64>();
    let rest = |(i, p): (usize, &Point)| (f64::from(p.concurrency) - known(i)).max(0.0);
    let rest: Vec<f64> = points.iter().enumerate().map(rest).collect();
    if rest.iter().zip(points).any(|(rest, p)| *rest > REST_SHARE_MIN * f64::from(p.concurrency)) {
        parts.push(Part { name: "not told apart".to_owned(), class: "rest", values: rest });
    }
    parts.push(above);
    parts.retain(|p| matters(&p.values, points));
    parts
}

fn part(name: &str, class: &'static str, points: &[Point], of: impl Fn(&Point) -> Option<f64>) -> Part {
    let value = |p| of(p).filter(|v: &f64| v.is_finite()).unwrap_or(0.0).max(0.0);
    Part { name: name.to_owned(), class, values: points.iter().map(value).collect() }
}

fn matters(values: &[f64], points: &[Point]) -> bool {
    values.iter().zip(points).any(|(v, p)| *v > SHARE_MIN * f64::from(p.concurrency))
}

/// Host queues layer by layer where they add up to the whole, else the whole.
fn host_parts(points: &[Point]) -> Vec<Part> {
    let whole = part("host queue", HOST_CLASSES[0], points, |p| p.host_queue.mean);
    let mut names: Vec<&str> = Vec::new();
    for layer in points.iter().flat_map(|p| p.layers.iter().rev()) {
        if !names.contains(&layer.name.as_str()) {
            names.push(&layer.name);
        }
    }
    let of_layer = |name: &str, class| {
        let mean = |p: &Point| p.layers.iter().find(|l| l.name == name)?.host_queue.mean;
        part(&format!("host queue of {name}"), class, points, mean)
    };
    let mut layers: Vec<Part> = names.iter().map(|name| of_layer(name, HOST_CLASSES[0])).collect();
    layers.retain(|p| matters(&p.values, points));
    let adds_up = |i: usize| {
        let sum: f64 = layers.iter().map(|p| p.values[i]).sum();
        (sum - whole.values[i]).abs() <= 0.02 * f64::from(points[i].concurrency)
    };
    if layers.is_empty() || layers.len() > HOST_CLASSES.len() || !(0..points.len()).all(adds_up) {
        return vec![whole];
    }
    for (part, class) in layers.iter_mut().zip(HOST_CLASSES) {
        part.class = class;
    }
    layers
}

fn stack(svg: &mut Svg, frame: &Frame, points: &[Point], parts: &[Part]) {
    let mut floor = vec![0.0; points.len()];
    for part in parts {
        let ceiling: Vec<f64> = floor.iter().zip(&part.values).map(|(f, v)| f + v).collect();
        let line = |values: &[f64]| -> Vec<(f64, f64)> {
            // With nothing outstanding nothing stands anywhere, so each part starts at the origin.
            let measured = points.iter().zip(values).map(|(p, v)| frame.at(f64::from(p.concurrency), *v));
            std::iter::once(frame.at(0.0, 0.0)).chain(measured).collect()
        };
        svg.area(&format!("{} area", part.class), &line(&ceiling), &line(&floor));
        floor = ceiling;
    }
}

fn readouts(svg: &mut Svg, frame: &Frame, points: &[Point], parts: &[Part]) {
    let places: Vec<f64> = points.iter().map(|p| frame.x.at(f64::from(p.concurrency))).collect();
    for (i, (from, to)) in frame.reaches(&places).into_iter().enumerate() {
        let each: Vec<String> =
            parts.iter().map(|p| format!("{} {}", standing(p.values[i]), p.name)).collect();
        let text = format!("{} outstanding: {}", points[i].concurrency, each.join(", "));
        svg.readout((from, frame.top()), (to - from, frame.bottom() - frame.top()), &text);
    }
}
