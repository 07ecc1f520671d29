//! Scales, ticks and frames.

use super::svg::{Anchor, Svg};

/// From values to places along one direction.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    kind: Spacing,
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
}

/// How values are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Linear,
    /// By ratio.
    Log,
}

impl Scale {
    /// Evenly from `low` to `high`; an empty range is widened.
    pub fn linear(low: f64, high: f64, (from_px, to_px): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { kind: Spacing::Linear, low, high, from_px, to_px }
    }

    /// By ratio from `low` to `high`, both raised above zero; an empty range is widened on both sides.
    pub fn log(low: f64, high: f64, (from_px, to_px): (f64, f64)) -> Self {
        let low = low.max(1e-3);
        let (low, high) = if high > low * 1.5 { (low, high) } else { (low / 2.0, low.max(high) * 2.0) };
        Self { kind: Spacing::Log, low, high, from_px, to_px }
    }

    /// The place of a value; what lies beyond the range is drawn at its end.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => (value.max(1e-9) / self.low).ln() / (self.high / self.low).ln(),
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.from_px + share * (self.to_px - self.from_px)
    }

    /// Whether a value lies in the range.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// About `wanted` round values.
    pub fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.kind {
            Spacing::Linear => self.linear_ticks(wanted),
            Spacing::Log => self.log_ticks(wanted),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
        let step = factor * power;
        let first = (self.low / step).ceil();
        let last = (self.high / step + 1e-9).floor();
        (0..=(last - first).clamp(0.0, 50.0) as u32).map(|i| (first + f64::from(i)) * step).collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let factors: &[f64] = if decades * 3.0 <= wanted as f64 + 1.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let all = (first..=last).flat_map(|p| factors.iter().map(move |f| f * 10f64.powi(p)));
        all.filter(|v| self.holds(*v)).collect()
    }

    /// Powers of two, thinned to about `wanted`.
    pub fn doublings(&self, wanted: usize) -> Vec<f64> {
        let first = self.low.log2().ceil().max(0.0) as i32;
        let last = self.high.log2().floor() as i32;
        let every = ((last - first).max(0) as usize / wanted.max(1) + 1) as i32;
        (first..=last).filter(|p| (p - first) % every == 0).map(|p| 2f64.powi(p)).collect()
    }
}

/// The inside of a chart.
pub struct Frame {
    /// Concurrency or time.
    pub x: Scale,
    /// Values.
    pub y: Scale,
}

impl Frame {
    /// Left edge.
    pub fn left(&self) -> f64 {
        self.x.from_px
    }

    /// Right edge.
    pub fn right(&self) -> f64 {
        self.x.to_px
    }

    /// Upper edge.
    pub fn top(&self) -> f64 {
        self.y.to_px
    }

    /// Lower edge.
    pub fn bottom(&self) -> f64 {
        self.y.from_px
    }

    /// The place of a pair of values.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Lines across at `ticks`, named by `show`, and what the axis holds above them.
    pub fn rows(&self, svg: &mut Svg, ticks: &[f64], show: impl Fn(f64) -> String, name: &str) {
        for &tick in ticks {
            let y = self.y.at(tick);
            svg.line("grid", (self.left(), y), (self.right(), y));
            svg.text("tick", (self.left() - 6.0, y + 4.0), Anchor::End, &show(tick));
        }
        svg.text("axis", (self.left() - 6.0, self.top() - 9.0), Anchor::Start, name);
    }

    /// Short lines and names at the foot, and what the axis holds below them.
    pub fn columns(&self, svg: &mut Svg, ticks: &[f64], show: impl Fn(f64) -> String, name: &str) {
        svg.line("base", (self.left(), self.bottom()), (self.right(), self.bottom()));
        for &tick in ticks {
            let x = self.x.at(tick);
            svg.line("base", (x, self.bottom()), (x, self.bottom() + 4.0));
            svg.text("tick", (x, self.bottom() + 18.0), Anchor::Middle, &show(tick));
        }
        if !name.is_empty() {
            svg.text("axis", (self.right(), self.bottom() + 36.0), Anchor::End, name);
        }
    }

    /// An upright line over the whole height with its name at the top, kept within the frame.
    pub fn upright(&self, svg: &mut Svg, class: &str, x: f64, name: &str) {
        let place = self.x.at(x);
        svg.line(class, (place, self.top()), (place, self.bottom()));
        let (anchor, shift) = self.beside(place);
        svg.text(class, (place + shift, self.top() + 12.0), anchor, name);
    }

    /// On which side of an upright line its name has room.
    fn beside(&self, place: f64) -> (Anchor, f64) {
        let middle = 0.55 * self.right() + 0.45 * self.left();
        if place > middle { (Anchor::End, -5.0) } else { (Anchor::Start, 5.0) }
    }

    /// For each place, how far it reaches: halfway to its neighbours.
    pub fn reaches(&self, places: &[f64]) -> Vec<(f64, f64)> {
        let middle = |a: usize, b: usize| (places[a] + places[b]) / 2.0;
        (0..places.len())
            .map(|i| {
                let from = if i == 0 { self.left() } else { middle(i - 1, i) };
                let to = if i + 1 == places.len() { self.right() } else { middle(i, i + 1) };
                (from, to)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let across = (0.0, 100.0);
        assert_eq!(Scale::linear(0.0, 3400.0, across).ticks(4), [0.0, 1000.0, 2000.0, 3000.0]);
        assert_eq!(Scale::log(80.0, 1200.0, across).ticks(5), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(Scale::log(0.9, 40.0, across).doublings(8), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    }

    #[test]
    fn empty_and_absurd_ranges_still_draw() {
        for scale in [
            Scale::linear(0.0, 0.0, (0.0, 100.0)),
            Scale::log(0.0, 0.0, (0.0, 100.0)),
            Scale::log(5.0, 5.0, (0.0, 100.0)),
            Scale::linear(0.0, 1e300, (0.0, 100.0)),
        ] {
            for value in [0.0, 5.0, -1.0, 1e300, f64::NAN, f64::INFINITY] {
                assert!((0.0..=100.0).contains(&scale.at(value)), "{value} on {scale:?}");
            }
            assert!(scale.ticks(5).len() <= 60);
        }
    }
}
