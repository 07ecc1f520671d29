//! Closed forms of queueing theory, as truth for tests and as models.

use crate::distribution::{erlang_tail, gamma_p};

/// Probability that an arrival at an open M/M/m station must wait (Erlang C); `offered` = arrival rate / service
/// rate. 1 at and above saturation.
pub fn erlang_c(servers: u32, offered: f64) -> f64 {
    let m = f64::from(servers);
    if offered >= m {
        return 1.0;
    }
    // Erlang B by its recursion, which neither overflows nor cancels.
    let blocked = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
    blocked / (1.0 - offered / m * (1.0 - blocked))
}

/// Mean wait of an open M/M/m station in units of the service time.
pub fn open_wait(servers: u32, offered: f64) -> f64 {
    erlang_c(servers, offered) / (f64::from(servers) - offered)
}

/// A closed system: `population` customers, think time, one station of `servers`, exponential service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedStation {
    /// Customers.
    pub population: u32,
    /// Mean time between a completion and the next request of the same customer.
    pub think_s: f64,
    /// Servers.
    pub servers: u32,
    /// Mean service time.
    pub service_s: f64,
}

/// What a closed station does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedResult {
    /// Completions per second.
    pub throughput: f64,
    /// Mean response time.
    pub response_s: f64,
    /// Mean number at the station.
    pub standing: f64,
}

impl ClosedStation {
    /// Exact by the birth-death balance of the number at the station (the machine repair model; equal to
    /// load-dependent MVA).
    pub fn solve(&self) -> ClosedResult {
        let n = self.population;
        let rate = |k: u32| f64::from(k.min(self.servers)) / self.service_s;
        if self.think_s <= 0.0 {
            let throughput = rate(n);
            return ClosedResult {
                throughput,
                response_s: f64::from(n) / throughput,
                standing: f64::from(n),
            };
        }
        // Weights relative to the largest, so that no population overflows.
        let mut logs = vec![0.0f64];
        for k in 1..=n {
            let arrival = f64::from(n - k + 1) / self.think_s;
            logs.push(logs[k as usize - 1] + (arrival / rate(k)).ln());
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|l| (l - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        let (mut throughput, mut standing) = (0.0, 0.0);
        for (k, w) in weights.iter().enumerate().skip(1) {
            throughput += w / total * rate(k as u32);
            standing += w / total * k as f64;
        }
        ClosedResult { throughput, response_s: standing / throughput, standing }
    }
}

/// P(response > `t_s`) in a closed M/M/m station without think time, first come first served, for `concurrency`
/// customers: one who comes back finds concurrency - 1 others, waits for concurrency - servers completions at rate
/// servers / service, and is then served.
pub fn closed_response_tail(concurrency: u32, servers: u32, service_s: f64, t_s: f64) -> f64 {
    let own = (-t_s / service_s).exp();
    let ahead = concurrency.saturating_sub(servers);
    if ahead == 0 {
        return own;
    }
    let (mu, all) = (1.0 / service_s, f64::from(servers) / service_s);
    if servers == 1 {
        return erlang_tail(ahead + 1, mu, t_s);
    }
    // P(W > t) + integral of the density of W times the tail of the service left.
    let k = f64::from(ahead);
    let ratio = (k * (all / (all - mu)).ln() - mu * t_s).exp();
    erlang_tail(ahead, all, t_s) + ratio * gamma_p(k, (all - mu) * t_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn erlang_c_matches_tabled_values() {
        assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
        assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
        // Ten agents at eight erlang, a value found in every call-centre table.
        assert!((erlang_c(10, 8.0) - 0.4092).abs() < 1e-4);
        assert_eq!(erlang_c(3, 3.0), 1.0);
        assert!((open_wait(1, 0.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_closed_server_agrees_with_mean_value_analysis() {
        let (think, service) = (4.0, 1.0);
        let (mut queue, mut x) = (0.0, 0.0);
        for n in 1..=20 {
            let r = service * (1.0 + queue);
            x = f64::from(n) / (think + r);
            queue = x * r;
        }
        let exact = ClosedStation { population: 20, think_s: think, servers: 1, service_s: service }.solve();
        assert!((exact.throughput / x - 1.0).abs() < 1e-12 && (exact.standing - queue).abs() < 1e-9);
    }

    #[test]
    fn littles_law_holds_in_every_closed_system() {
        for population in [1, 3, 24, 200, 5000] {
            for think_s in [0.0, 0.01, 1.0] {
                let s = ClosedStation { population, think_s, servers: 24, service_s: 0.007 }.solve();
                let n = s.throughput * (s.response_s + think_s);
                assert!((n / f64::from(population) - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_response_tail_agrees_with_a_simulation_of_it() {
        let (n, m, service, t) = (40u32, 24u32, 0.007, 0.03);
        let mut random = Random::new(21);
        let draws = 200_000;
        let over = (0..draws)
            .filter(|_| {
                let wait: f64 =
                    (0..n - m).map(|_| random.exponential()).sum::<f64>() * service / f64::from(m);
                wait + random.exponential() * service > t
            })
            .count();
        let simulated = over as f64 / f64::from(draws);
        assert!((closed_response_tail(n, m, service, t) - simulated).abs() < 0.002, "{simulated}");
    }

    #[test]
    fn below_the_servers_nobody_waits() {
        assert!((closed_response_tail(24, 24, 1.0, 1.0) - (-1.0f64).exp()).abs() < 1e-15);
        assert!((closed_response_tail(3, 1, 1.0, 2.0) - (-2.0f64).exp() * 5.0).abs() < 1e-12);
    }
}
