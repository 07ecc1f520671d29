//! The passive load line on devices whose truth is known: found where the load shows it, refused where it does not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use analyze::passive::{DeviceLine, Interval, Passive, ProbeLine, compare};
use stats::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const START_S: f64 = 1.7e9;

/// A device of some servers, first come first served; what does not fit waits in the host. Intervals of a second.
struct Device {
    free: BinaryHeap<Reverse<u64>>,
    seconds: Vec<[f64; 4]>,
    random: Random,
}

impl Device {
    fn new(servers: usize, seconds: usize, seed: u64) -> Self {
        let free = (0..servers).map(|_| Reverse(0)).collect();
        Self { free, seconds: vec![[0.0; 4]; seconds], random: Random::new(seed) }
    }

    /// Serves a request; answers when it is done.
    fn serve(&mut self, arrival_s: f64, service_s: f64) -> f64 {
        let Reverse(free) = self.free.pop().unwrap();
        let start = arrival_s.max(free as f64 / 1e9);
        let end = start + service_s * self.random.exponential();
        self.free.push(Reverse((end * 1e9) as u64));
        self.spread(0, arrival_s, end);
        self.spread(1, arrival_s, start);
        if let Some(second) = self.seconds.get_mut(end as usize) {
            second[2] += 1.0;
        }
        end
    }

    fn spread(&mut self, place: usize, from: f64, to: f64) {
        let mut at = from;
        while at < to {
            let next = (at.floor() + 1.0).min(to);
            let Some(second) = self.seconds.get_mut(at as usize) else { return };
            second[place] += next - at;
            at = next;
        }
    }

    fn conclude(&self, bytes: impl Fn(usize) -> f64) -> DeviceLine {
        let mut passive = Passive::default();
        for (second, [inside, host, requests, _]) in self.seconds.iter().enumerate() {
            let interval = Interval {
                at_s: START_S + second as f64,
                length_s: 1.0,
                requests: *requests,
                reads: *requests,
                bytes: requests * bytes(second),
                inside: Some(*inside),
                host_queue: Some(*host),
                device_queue: Some(inside - host),
                device_queue_peak: None,
            };
            passive.interval("sda", &interval);
        }
        passive.conclude(|_, _| true).remove(0)
    }
}

/// Arrivals at a rate that changes with time.
fn open(
    servers: usize,
    seconds: usize,
    seed: u64,
    service_s: impl Fn(f64) -> f64,
    rate: impl Fn(f64) -> f64,
) -> Device {
    let mut device = Device::new(servers, seconds, seed);
    let mut random = Random::new(seed + 1000);
    let mut at = 0.0;
    while at < seconds as f64 {
        at += random.exponential() / rate(at).max(0.1);
        let service = service_s(at);
        device.serve(at, service);
    }
    device
}

/// Sessions that wait for their answer and then think; how many there are changes from minute to minute.
fn closed(servers: usize, seconds: usize, seed: u64, service_s: f64, think_s: f64, most: usize) -> Device {
    let mut device = Device::new(servers, seconds, seed);
    let mut random = Random::new(seed + 2000);
    let sessions: Vec<usize> = (0..=seconds / 60).map(|_| 1 + random.below(most)).collect();
    let mut next: BinaryHeap<Reverse<(u64, usize)>> = (0..most).map(|s| Reverse((s as u64, s))).collect();
    let ns = |s: f64| (s * 1e9) as u64;
    while let Some(Reverse((at, session))) = next.pop() {
        let at = at as f64 / 1e9;
        if at >= seconds as f64 {
            break;
        }
        let minute = (at / 60.0) as usize;
        let again = if session < sessions[minute] {
            device.serve(at, service_s) + think_s * random.exponential()
        } else {
            60.0 * (minute as f64 + 1.0) + random.uniform()
        };
        next.push(Reverse((ns(again), session)));
    }
    device
}

/// A day in an hour: low at both ends, highest in the middle.
fn day(seconds: f64, low: f64, high: f64) -> impl Fn(f64) -> f64 {
    move |at| {
        let share = 0.5 - 0.5 * (std::f64::consts::TAU * at / seconds).cos();
        low + (high - low) * share
    }
}

fn why(line: &DeviceLine) -> &'static str {
    line.cannot_tell.as_ref().unwrap_or_else(|| panic!("it claims {:?}", line.curve)).why
}

#[test]
fn open_load_that_comes_near_the_limit_tells_it() {
    // Many servers show their limit only close to it.
    for (servers, service_s, busiest, seed) in [(1, 0.001, 0.94, 1), (8, 0.004, 0.94, 2), (32, 0.02, 0.99, 3)]
    {
        let truth = servers as f64 / service_s;
        let device = open(servers, 3600, seed, |_| service_s, day(3600.0, 0.1 * truth, busiest * truth));
        let line = device.conclude(|_| 8192.0);
        let curve = line.curve.unwrap_or_else(|| panic!("{servers} servers: {:?}", line.cannot_tell));
        let error = curve.iops_max / truth - 1.0;
        eprintln!("open, {servers} servers: {error:+.3} of truth, interval {:?}", curve.iops_max_ci95);
        assert!(error.abs() < 0.1, "{servers} servers: {curve:?}");
        let [low, high] = curve.iops_max_ci95;
        assert!(low < 1.03 * truth && 0.97 * truth < high, "{servers} servers: {curve:?}");
        assert!((curve.response_unloaded_us / service_s / 1e6 - 1.0).abs() < 0.1, "{curve:?}");
        let share = line.peak_share.unwrap();
        assert!((share - busiest).abs() < 0.1, "{share}");
        // Twice the unloaded time is where the known formula says.
        let expected = (0..1000)
            .map(|i| f64::from(i) / 1000.0)
            .find(|rho| stats::queueing::open_wait(servers as u32, rho * servers as f64) >= 1.0);
        if let Some(expected) = expected.filter(|rho| *rho < 0.93) {
            let found = curve.iops_at(2e6 * service_s).unwrap() / truth;
            assert!((found - expected).abs() < 0.06, "{servers} servers: {found} for {expected}");
        }
    }
}

#[test]
fn closed_load_that_reaches_the_limit_tells_it() {
    for (servers, service_s, most, seed) in [(1, 0.002, 20, 4), (8, 0.002, 100, 5), (32, 0.004, 200, 6)] {
        let truth = servers as f64 / service_s;
        let device = closed(servers, 2400, seed, service_s, 4.0 * service_s, most);
        let line = device.conclude(|_| 8192.0);
        let curve = line.curve.unwrap_or_else(|| panic!("{servers} servers: {:?}", line.cannot_tell));
        let error = curve.iops_max / truth - 1.0;
        eprintln!("closed, {servers} servers: {error:+.3} of truth, interval {:?}", curve.iops_max_ci95);
        assert!(error.abs() < 0.08, "{servers} servers: {curve:?}");
        // What is added past the servers waits in the host.
        let added = line.added.unwrap();
        assert!(added.host_share > 0.8, "{servers} servers: {added:?}");
        assert!(line.peak_share.unwrap() > 0.9);
    }
}

#[test]
fn a_load_far_from_the_limit_gets_no_limit() {
    for (servers, service_s, seed) in [(8, 0.004, 7), (32, 0.02, 8), (128, 0.01, 9)] {
        let truth = servers as f64 / service_s;
        let device = open(servers, 1800, seed, |_| service_s, day(1800.0, 0.05 * truth, 0.5 * truth));
        let line = device.conclude(|_| 8192.0);
        assert_eq!(why(&line), "flat", "{line:?}");
        let told = line.cannot_tell.unwrap();
        assert!((told.iops_at_least / truth - 0.5).abs() < 0.08, "{told:?}");
        assert!(line.peak.is_some() && line.peak_share.is_none());
    }
    // One server bends early, but the wall is still far.
    let line = open(1, 1800, 10, |_| 0.001, day(1800.0, 50.0, 550.0)).conclude(|_| 8192.0);
    assert!(["far-from-limit", "wide", "flat"].contains(&why(&line)), "{line:?}");
}

#[test]
fn one_steady_load_is_no_curve() {
    let line = open(8, 1800, 11, |_| 0.004, |_| 1700.0).conclude(|_| 8192.0);
    assert_eq!(why(&line), "one-load", "{line:?}");
    let line = open(8, 1800, 12, |_| 0.004, day(1800.0, 1700.0, 1950.0)).conclude(|_| 8192.0);
    assert!(["one-load", "never-idle"].contains(&why(&line)), "{line:?}");
}

#[test]
fn a_device_that_changed_is_two_devices() {
    let slower = |at: f64| if at < 1800.0 { 0.002 } else { 0.004 };
    let line = open(8, 3600, 13, slower, day(1800.0, 200.0, 1850.0)).conclude(|_| 8192.0);
    assert!(["changed", "not-one-curve"].contains(&why(&line)), "{line:?}");
}

#[test]
fn two_kinds_of_io_in_turn_are_not_one_curve() {
    // Minutes of small fast reads and minutes of long scans, at the same rates.
    let kind = |at: f64| if ((at / 60.0) as u64).is_multiple_of(2) { 0.0005 } else { 0.004 };
    let line = open(8, 3600, 14, kind, day(3600.0, 200.0, 1850.0)).conclude(|_| 8192.0);
    assert_eq!(why(&line), "not-one-curve", "{line:?}");
}

#[test]
fn seconds_of_load_are_too_short() {
    let line = open(8, 40, 15, |_| 0.004, day(40.0, 200.0, 1900.0)).conclude(|_| 8192.0);
    assert_eq!(why(&line), "too-short");
    let idle = Device::new(1, 100, 1).conclude(|_| 8192.0);
    assert!(idle.peak.is_none() && idle.visited.is_none() && why(&idle) == "too-short");
}

#[test]
fn ranges_that_were_never_visited_are_named() {
    // Nights at 100 to 200, days at 1200 to 1900, nothing between.
    let rate =
        |at: f64| if ((at / 300.0) as u64).is_multiple_of(2) { 150.0 } else { 1200.0 + (at % 300.0) * 2.0 };
    let line = open(8, 3600, 16, |_| 0.004, rate).conclude(|_| 8192.0);
    let visited = line.visited.unwrap();
    assert!(visited.iops[0] < 140.0 && visited.iops[1] > 1650.0, "{visited:?}");
    let [gap] = visited.gaps_iops[..] else { panic!("{visited:?}") };
    assert!((150.0..260.0).contains(&gap[0]) && (900.0..1300.0).contains(&gap[1]), "{gap:?}");
}

#[test]
fn the_scatter_keeps_littles_law_and_all_of_the_time() {
    let line = closed(8, 600, 17, 0.002, 0.008, 60).conclude(|_| 8192.0);
    let seconds: f64 = line.scatter.iter().map(|c| c.seconds).sum();
    assert!((seconds - line.loaded_s).abs() < 1.0, "{seconds} of {}", line.loaded_s);
    for cell in &line.scatter {
        assert!((cell.iops * cell.response_us / 1e6 / cell.standing - 1.0).abs() < 1e-9);
        let queues = cell.host_queue.unwrap() + cell.device_queue.unwrap();
        assert!((queues / cell.standing - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_probe_of_the_same_device_gives_a_share_of_its_load_line() {
    let line = open(8, 600, 18, |_| 0.002, |_| 1240.0).conclude(|_| 8192.0);
    let peak = line.peak.unwrap();
    let mut probe = ProbeLine {
        iops: 2000.0,
        ci95: [1900.0, 2100.0],
        request_bytes: Some(8192.0),
        read_share: 1.0,
        limit: "p99<10ms".to_owned(),
    };
    let share = compare(&peak, &probe).unwrap();
    assert!((share.share - 0.62).abs() < 0.05 && share.caution.is_none(), "{share:?}");
    assert!(share.ci95[0] < share.share && share.share < share.ci95[1]);
    probe.read_share = 0.5;
    assert!(compare(&peak, &probe).unwrap().caution.unwrap().contains("reads"));
    probe.request_bytes = Some(1_048_576.0);
    let refused = compare(&peak, &probe).unwrap_err();
    assert!(refused.contains("8.0 KiB") && refused.contains("--block 8k"), "{refused}");
}
