//! The curve of a device under a load that nobody chose: response time against throughput.
//!
//! A station of m = R_0 X_max servers under arrivals of any kind, by the approximation of Sakasegawa (1977) with the
//! factor of Allen & Cunneen: R(X) = R_0 (1 + c rho^(sqrt(2(m+1))-1) / (m (1-rho)^e)), rho = X / X_max. With c = e = 1 it
//! is near M/M/m. Loads that wait for their answers (closed ones) come to the wall more sharply: c near 0, or e below 1.
//! Both ends are exact whatever c and e are: R_0 alone, and a wall at X_max. Where the points do not tell which form is
//! theirs, the forms that describe them about equally well say between which values X_max lies.
//!
//! Points scatter in both directions: at the wall throughput is what varies, far from it response time is. So the
//! distance is measured at right angles, in logarithms of both, and points far off count less (Huber 1964).

use crate::closed::simplex;

/// Points of the polyline that stands for the curve.
const NODES: usize = 160;
/// Forms of the bend that are tried.
const SHARPNESS: [f64; 3] = [1.0, 0.5, 0.25];
/// A form whose distance is within this factor of the best one, or within [`SAME`] of it, may be the true one.
const RIVAL: f64 = 1.25;
const SAME: f64 = 0.003;
/// Distances beyond this (in logarithms) count linearly.
const HUBER: f64 = 0.15;

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Throughput that it never exceeds, 1/s.
    pub throughput_max: f64,
    /// Response time without waiting, s.
    pub response_unloaded_s: f64,
    /// How irregular arrivals and service are; 1 for exponential, 0 for even ones.
    pub variability: f64,
    /// Exponent e of the bend: 1 for open arrivals, less where the load waits for its answers.
    pub sharpness: f64,
}

/// What was seen for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Completions per second.
    pub throughput: f64,
    /// Mean response time, s.
    pub response_s: f64,
    /// How much it counts.
    pub weight: f64,
}

/// A curve with how well it describes what was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The curve.
    pub station: Station,
    /// Root mean square of the distance, in logarithms (0.1 is some 10 %).
    pub residual: f64,
    /// Largest throughput by the forms that describe the points about as well as the best one.
    pub throughput_max_range: [f64; 2],
}

impl Station {
    /// Servers that would do the same: the concurrency at which the two straight ends of the curve meet.
    pub fn servers(&self) -> f64 {
        (self.response_unloaded_s * self.throughput_max).max(1.0)
    }

    /// Response time at a share of the largest throughput, s; infinite from 1 on.
    pub fn response_s(&self, share: f64) -> f64 {
        if share >= 1.0 {
            return f64::INFINITY;
        }
        let m = self.servers();
        let waits =
            share.max(0.0).powf((2.0 * (m + 1.0)).sqrt() - 1.0) / (m * (1.0 - share).powf(self.sharpness));
        self.response_unloaded_s * (1.0 + self.variability * waits)
    }

    /// Throughput at which the response time reaches `response_s`; absent where even an unloaded one is longer.
    pub fn throughput_at(&self, response_s: f64) -> Option<f64> {
        if response_s.is_nan() || response_s <= self.response_unloaded_s {
            return None;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.response_s(middle) < response_s { low = middle } else { high = middle }
        }
        Some(low * self.throughput_max)
    }

    /// Logarithms of throughput and response time along the curve, both rising.
    fn nodes(&self) -> Vec<(f64, f64)> {
        // Half of the nodes stand where the curve is flat, half come ever nearer to the wall.
        let half = NODES / 2;
        let flat = (0..half).map(|i| 1e-4 * (0.5_f64 / 1e-4).powf(i as f64 / half as f64));
        let steep = (0..half).map(|i| 1.0 - 0.5 * (1e-6_f64 / 0.5).powf(i as f64 / (half - 1) as f64));
        flat.chain(steep)
            .map(|share| ((share * self.throughput_max).ln(), self.response_s(share).ln()))
            .collect()
    }
}

/// Distance of a point from the polyline, squared. Both coordinates rise along it, so the nearest part lies between
/// the place with the point's throughput and the place with its response time.
fn distance2(nodes: &[(f64, f64)], x: f64, y: f64) -> f64 {
    let by_x = nodes.partition_point(|n| n.0 < x);
    let by_y = nodes.partition_point(|n| n.1 < y);
    let first = by_x.min(by_y).saturating_sub(1);
    let last = (by_x.max(by_y) + 1).min(nodes.len());
    let to = |a: (f64, f64), b: (f64, f64)| {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length2 = (dx * dx + dy * dy).max(1e-300);
        let t = (((x - a.0) * dx + (y - a.1) * dy) / length2).clamp(0.0, 1.0);
        (a.0 + t * dx - x).powi(2) + (a.1 + t * dy - y).powi(2)
    };
    nodes[first..last].windows(2).map(|w| to(w[0], w[1])).fold(f64::INFINITY, f64::min)
}

fn huber(d2: f64) -> f64 {
    let d = d2.sqrt();
    if d <= HUBER { d2 } else { HUBER * (2.0 * d - HUBER) }
}

/// Fits a curve; absent without two points. `start` saves time where a near one is known.
pub fn fit(seen: &[Seen], start: Option<Station>) -> Option<Fit> {
    let sound = |s: &&Seen| [s.throughput, s.response_s, s.weight].iter().all(|v| v.is_finite() && *v > 0.0);
    let points: Vec<(f64, f64, f64)> =
        seen.iter().filter(sound).map(|s| (s.throughput.ln(), s.response_s.ln(), s.weight)).collect();
    if points.len() < 2 {
        return None;
    }
    let forms: Vec<Fit> = match start {
        Some(start) => fit_form(&points, start.sharpness, Some(start)).into_iter().collect(),
        None => SHARPNESS.iter().filter_map(|e| fit_form(&points, *e, None)).collect(),
    };
    let best = *forms.iter().min_by(|a, b| a.residual.total_cmp(&b.residual))?;
    let near = forms.iter().filter(|f| f.residual <= (RIVAL * best.residual).max(best.residual + SAME));
    let mut range = best.throughput_max_range;
    for form in near {
        let most = form.station.throughput_max;
        range = [range[0].min(most), range[1].max(most)];
    }
    Some(Fit { throughput_max_range: range, ..best })
}

fn fit_form(points: &[(f64, f64, f64)], sharpness: f64, start: Option<Station>) -> Option<Fit> {
    let weight: f64 = points.iter().map(|p| p.2).sum();
    let station = |v: &[f64; 3]| Station {
        throughput_max: v[0].exp(),
        response_unloaded_s: v[1].exp(),
        variability: v[2].exp(),
        sharpness,
    };
    let loss = |v: &[f64; 3]| {
        // Beyond these no device has ever been.
        if v.iter().any(|v| v.abs() > 40.0) || v[2] > 3.0 || v[2] < -7.0 {
            return f64::MAX;
        }
        let nodes = station(v).nodes();
        points.iter().map(|p| p.2 * huber(distance2(&nodes, p.0, p.1))).sum::<f64>() / weight
    };
    let top = points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let low = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    // The valley is bent: starts on both sides of it, and one more descent from the best.
    let starts: Vec<[f64; 3]> = match start {
        Some(s) => vec![[s.throughput_max.ln(), s.response_unloaded_s.ln(), s.variability.ln()]],
        None => vec![[top + 0.05, low + 0.1, 0.0], [top + 0.5, low + 0.1, 0.0], [top, low + 0.2, -3.0]],
    };
    let once = |start: [f64; 3]| {
        let end = simplex(start, 3, loss);
        (loss(&end), end)
    };
    let best = starts.into_iter().map(once).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (_, best) = once(best.1);
    let station = station(&best);
    let nodes = station.nodes();
    let squares: f64 = points.iter().map(|p| p.2 * distance2(&nodes, p.0, p.1)).sum();
    let most = station.throughput_max;
    Some(Fit { station, residual: (squares / weight).sqrt(), throughput_max_range: [most, most] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{ClosedStation, open_wait};
    use crate::random::Random;

    const SERVICE_S: f64 = 0.002;

    fn seen(throughput: f64, response_s: f64) -> Seen {
        Seen { throughput, response_s, weight: 1.0 }
    }

    #[test]
    fn open_stations_are_found_from_half_their_load_to_nine_tenths() {
        for servers in [1, 4, 16] {
            let truth = f64::from(servers) / SERVICE_S;
            let mut random = Random::new(3);
            let points: Vec<Seen> = (2..=46)
                .map(|i| {
                    let share = f64::from(i) / 50.0;
                    let response = SERVICE_S * (1.0 + open_wait(servers, share * f64::from(servers)));
                    seen(
                        share * truth * (1.0 + 0.02 * random.normal()),
                        response * (1.0 + 0.03 * random.normal()),
                    )
                })
                .collect();
            let fit = fit(&points, None).unwrap();
            let error = fit.station.throughput_max / truth - 1.0;
            assert!(error.abs() < 0.06, "{servers} servers: {error:+.3}, {fit:?}");
            assert!((fit.station.response_unloaded_s / SERVICE_S - 1.0).abs() < 0.08, "{fit:?}");
        }
    }

    #[test]
    fn closed_loads_that_reach_the_wall_are_found() {
        for servers in [1, 8, 32] {
            let truth = f64::from(servers) / SERVICE_S;
            let points: Vec<Seen> = (1..=40)
                .map(|i| {
                    let station = ClosedStation {
                        population: i * servers / 8 + 1,
                        think_s: 0.004,
                        servers,
                        service_s: SERVICE_S,
                    };
                    let solved = station.solve();
                    seen(solved.throughput, solved.response_s)
                })
                .collect();
            let fit = fit(&points, None).unwrap();
            let error = fit.station.throughput_max / truth - 1.0;
            assert!(error.abs() < 0.05, "{servers} servers: {error:+.3}, {fit:?}");
        }
    }

    #[test]
    fn throughput_and_response_are_inverse() {
        let station =
            Station { throughput_max: 8000.0, response_unloaded_s: 0.001, variability: 1.0, sharpness: 1.0 };
        for share in [0.5, 0.8, 0.99] {
            let back = station.throughput_at(station.response_s(share)).unwrap();
            assert!((back / 8000.0 - share).abs() < 1e-6);
        }
        assert_eq!(station.throughput_at(0.0005), None);
        assert_eq!(station.response_s(1.0), f64::INFINITY);
    }

    #[test]
    fn nothing_or_nonsense_fits_nothing() {
        assert_eq!(fit(&[], None), None);
        assert_eq!(fit(&[seen(f64::NAN, 1.0), seen(0.0, 1.0), seen(1.0, 1.0)], None), None);
    }
}
