//! A closed network of stations between which customers go at random: throughput at a fixed population.

/// A station of `servers` that takes `demand_s` of service from each customer's round (visits times service time).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Visits per round times service time of a visit.
    pub demand_s: f64,
    /// Servers.
    pub servers: f64,
}

/// Populations beyond this are answered by the bound, which is close by then and costs nothing.
const POPULATION_MAX: u32 = 2048;
/// As many stations are convolved at most.
const STATIONS_MAX: usize = 16;

/// Rounds per second of `population` customers that spend `delay_s` of each round waiting for nobody.
///
/// Exact for exponential service (Buzen 1973, the convolution with load-dependent stations), within a few percent for
/// even service. Absent where nothing takes time.
pub fn throughput(population: u32, delay_s: f64, stations: &[Station]) -> Option<f64> {
    let sound = |s: &&Station| s.demand_s > 0.0 && s.servers >= 1.0;
    let stations: Vec<&Station> = stations.iter().filter(sound).collect();
    let whole_s: f64 = delay_s.max(0.0) + stations.iter().map(|s| s.demand_s).sum::<f64>();
    if population == 0 || whole_s <= 0.0 {
        return None;
    }
    let most = stations.iter().map(|s| s.servers / s.demand_s).fold(f64::INFINITY, f64::min);
    if population > POPULATION_MAX || stations.len() > STATIONS_MAX || stations.is_empty() {
        return Some(most.min(f64::from(population) / whole_s));
    }
    // Times in units of the slowest station's per server, so that its own factors stay near one.
    let unit = 1.0 / most;
    let n = population as usize;
    let mut whole = factors(n, |k| delay_s.max(0.0) / unit / k as f64);
    for station in stations {
        let own = factors(n, |k| station.demand_s / unit / (k as f64).min(station.servers));
        whole = convolved(&whole, &own);
    }
    let (before, last) = (whole[n - 1], whole[n]);
    (last > 0.0).then(|| (before / last / unit).min(most))
}

/// Running products of `ratio(1)`, `ratio(2)` ..., scaled so that the largest is one.
fn factors(n: usize, ratio: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut logs = vec![0.0_f64];
    for k in 1..=n {
        logs.push(logs[k - 1] + ratio(k).ln());
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.into_iter().map(|l| (l - top).exp()).collect()
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let whole: Vec<f64> = (0..a.len()).map(|n| (0..=n).map(|k| a[k] * b[n - k]).sum()).collect();
    let top = whole.iter().copied().fold(0.0, f64::max);
    if top > 0.0 { whole.into_iter().map(|g| g / top).collect() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::ClosedStation;

    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-6, "{a} against {b}");
    }

    #[test]
    fn one_station_agrees_with_the_birth_death_solution() {
        for (population, servers, think_s) in
            [(1, 1, 0.001), (8, 4, 0.002), (64, 16, 0.0), (300, 128, 0.0005)]
        {
            let exact = ClosedStation { population, think_s, servers, service_s: 0.001 }.solve().throughput;
            let station = Station { demand_s: 0.001, servers: f64::from(servers) };
            close(throughput(population, think_s, &[station]).unwrap(), exact);
        }
    }

    #[test]
    fn two_even_stations_lose_to_chance_what_the_balance_says() {
        // Two stations of one server: X = n / (n + 1) / demand of each.
        let station = Station { demand_s: 0.001, servers: 1.0 };
        for n in [1, 5, 50] {
            let expected = f64::from(n) / f64::from(n + 1) / 0.001;
            close(throughput(n, 0.0, &[station, station]).unwrap(), expected);
        }
    }

    #[test]
    fn a_thousand_servers_overflow_nothing() {
        let wide = Station { demand_s: 0.001, servers: 1024.0 };
        let x = throughput(1500, 0.0001, &[wide, Station { demand_s: 0.000_1, servers: 4.0 }]).unwrap();
        assert!((39_000.0..=40_000.0).contains(&x), "{x}");
    }

    #[test]
    fn nothing_that_takes_time_has_no_throughput() {
        assert_eq!(throughput(4, 0.0, &[]), None);
        assert_eq!(throughput(0, 1.0, &[]), None);
        close(throughput(4, 0.5, &[]).unwrap(), 8.0);
    }
}
