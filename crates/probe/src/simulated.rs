//! A test bench: simulated paths whose truth is known. The product does not load them.
//!
//! A path is a row of first-come-first-served stations, simulated I/O by I/O in nanoseconds from one seed: a core
//! that pays for each I/O, a token bucket, and a device of several servers whose speed may scatter in epochs, drift,
//! step or fall with the number outstanding. Since each station keeps the order of arrival, an I/O's whole way is
//! known when it is submitted, so a simulated second of 3,400 I/Os costs about half a millisecond.

use record::{
    Arrival, CpuSeen, Demand, Ended, Flow, Incidents, LatencyHistogram, Load, Slice, Step, Subject,
    SubjectError, SubjectFacts, Trouble, Watch, step::SLICE_S, subject::settled,
};
use stats::random::{Random, mix};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A path. Start from [`Model::station`] and change what is wanted.
#[derive(Clone, Debug)]
pub struct Model {
    /// Servers of the device.
    pub servers: u32,
    /// Mean service time of a read, s.
    pub service_s: f64,
    /// How service times scatter.
    pub spread: Spread,
    /// Standard deviation of the logarithm of the device's slowness, drawn anew each epoch.
    pub epoch_noise: f64,
    /// Length of an epoch, s.
    pub epoch_s: f64,
    /// Growth of the logarithm of the service time per second.
    pub drift_per_s: f64,
    /// From this second on service takes so many times longer.
    pub slower_from: Option<(f64, f64)>,
    /// Service time grows by this share for each further I/O outstanding.
    pub retrograde: f64,
    /// Time of one core per I/O, s; 0 for none.
    pub core_s: f64,
    /// A token bucket before the device.
    pub bucket: Option<Bucket>,
    /// Share of writes.
    pub write_share: f64,
    /// Service of a write in units of a read's.
    pub write_factor: f64,
    /// Time added to each I/O without anybody waiting for anybody, s.
    pub delay_s: f64,
    /// The target fails at this second.
    pub fails_at_s: Option<f64>,
    /// The device answers TASK SET FULL to commands beyond this many; each is sent again 3 ms later.
    pub refuses_above: Option<u32>,
    /// From this second on commands time out, one of so many.
    pub times_out: Option<(f64, u64)>,
    /// Largest concurrency.
    pub concurrency_max: u32,
}

/// Distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Exponential.
    Exponential,
    /// Normal with this coefficient of variation, cut at a tenth of the mean.
    Nearly(f64),
    /// Lognormal with this standard deviation of the logarithm; the mean is kept.
    Lognormal(f64),
}

/// A token bucket: I/Os pass at `rate_iops`, and faster while there is credit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Tokens per second.
    pub rate_iops: f64,
    /// Tokens it holds, all there at the start.
    pub credit: f64,
}

impl Model {
    /// A plain station of `servers`, exponential service.
    pub fn station(servers: u32, service_s: f64) -> Self {
        Self {
            servers,
            service_s,
            spread: Spread::Exponential,
            epoch_noise: 0.0,
            epoch_s: 0.2,
            drift_per_s: 0.0,
            slower_from: None,
            retrograde: 0.0,
            core_s: 0.0,
            bucket: None,
            write_share: 0.0,
            write_factor: 1.0,
            delay_s: 0.0,
            fails_at_s: None,
            refuses_above: None,
            times_out: None,
            concurrency_max: 4096,
        }
    }

    /// Whether the device refuses a command that makes so many.
    fn refuses(&self, outstanding: u32) -> bool {
        self.refuses_above.is_some_and(|most| outstanding > most)
    }

    /// Share of I/Os over `limit_ns` and throughput at a fixed concurrency over `seconds` of simulated time.
    pub fn long_run(&self, concurrency: u32, limit_ns: u64, seconds: f64, seed: u64) -> (f64, f64) {
        let mut path = Path::new(self.clone(), seed);
        let (mut ios, mut misses) = (0u64, 0u64);
        let warm_ns = 2_000_000_000;
        let end_ns = warm_ns + (seconds * 1e9) as u64;
        path.closed(concurrency, |done| {
            if done.at_ns >= end_ns {
                return false;
            }
            if done.at_ns >= warm_ns {
                ios += 1;
                misses += u64::from(done.latency_ns > limit_ns);
            }
            true
        });
        (misses as f64 / ios.max(1) as f64, ios as f64 / seconds)
    }
}

/// One completion.
#[derive(Clone, Copy, Debug)]
struct Done {
    at_ns: u64,
    latency_ns: u64,
    write: bool,
}

/// The stations' state.
struct Path {
    model: Model,
    seed: u64,
    random: Random,
    now_ns: u64,
    core_free_ns: u64,
    tokens: f64,
    tokens_at_ns: u64,
    servers_free_ns: BinaryHeap<Reverse<u64>>,
    epoch: (u64, f64),
    submitted: u64,
    timed_out: u64,
}

/// Until a refused command is sent again.
const AGAIN_S: f64 = 0.003;
/// A command that times out comes back after this long, aborted and sent again.
const TIMEOUT_S: f64 = 2.0;

impl Path {
    fn new(model: Model, seed: u64) -> Self {
        let tokens = model.bucket.map_or(0.0, |b| b.credit);
        Self {
            model,
            seed,
            random: Random::new(seed),
            now_ns: 0,
            core_free_ns: 0,
            tokens,
            tokens_at_ns: 0,
            servers_free_ns: BinaryHeap::new(),
            epoch: (u64::MAX, 1.0),
            submitted: 0,
            timed_out: 0,
        }
    }

    /// Everything has drained; credit goes on filling.
    fn rest(&mut self) {
        self.core_free_ns = self.now_ns;
        self.servers_free_ns.clear();
        self.servers_free_ns.extend((0..self.model.servers).map(|_| Reverse(self.now_ns)));
    }

    /// The completion time of an I/O submitted at `at_ns` with `outstanding` of them.
    fn submit(&mut self, at_ns: u64, outstanding: u32) -> Done {
        let mut ready_ns = at_ns;
        if self.model.core_s > 0.0 {
            self.core_free_ns = self.core_free_ns.max(at_ns) + (self.model.core_s * 1e9) as u64;
            ready_ns = self.core_free_ns;
        }
        ready_ns = self.pass_bucket(ready_ns);
        let Reverse(free_ns) = self.servers_free_ns.pop().unwrap_or(Reverse(ready_ns));
        let start_ns = ready_ns.max(free_ns);
        let write = self.model.write_share > 0.0 && self.random.uniform() < self.model.write_share;
        let service_s = self.service_s(start_ns, outstanding, write);
        let end_ns = start_ns + (service_s * 1e9) as u64;
        self.servers_free_ns.push(Reverse(end_ns));
        self.submitted += 1;
        let mut late_s = self.model.delay_s;
        late_s += if self.model.refuses(outstanding) { AGAIN_S } else { 0.0 };
        if self.times_out(at_ns) {
            self.timed_out += 1;
            late_s += TIMEOUT_S;
        }
        let at_done = end_ns + (late_s * 1e9) as u64;
        Done { at_ns: at_done, latency_ns: at_done - at_ns, write }
    }

    fn times_out(&self, at_ns: u64) -> bool {
        let due = |(from_s, every): (f64, u64)| {
            at_ns as f64 * 1e-9 >= from_s && self.submitted.is_multiple_of(every)
        };
        self.model.times_out.is_some_and(due)
    }

    fn pass_bucket(&mut self, ready_ns: u64) -> u64 {
        let Some(bucket) = self.model.bucket else { return ready_ns };
        let at_ns = ready_ns.max(self.tokens_at_ns);
        let filled = (at_ns - self.tokens_at_ns) as f64 * 1e-9 * bucket.rate_iops;
        let tokens = (self.tokens + filled).min(bucket.credit.max(1.0));
        let wait_ns = if tokens >= 1.0 { 0.0 } else { (1.0 - tokens) / bucket.rate_iops * 1e9 };
        self.tokens = (tokens - 1.0).max(0.0);
        self.tokens_at_ns = at_ns + wait_ns as u64;
        self.tokens_at_ns
    }

    fn service_s(&mut self, start_ns: u64, outstanding: u32, write: bool) -> f64 {
        let m = &self.model;
        let mut mean_s = m.service_s * if write { m.write_factor } else { 1.0 };
        mean_s *= 1.0 + m.retrograde * f64::from(outstanding.saturating_sub(1));
        let start_s = start_ns as f64 * 1e-9;
        if m.drift_per_s != 0.0 {
            mean_s *= (m.drift_per_s * start_s).exp();
        }
        if let Some((from_s, factor)) = m.slower_from {
            mean_s *= if start_s >= from_s { factor } else { 1.0 };
        }
        if m.epoch_noise > 0.0 {
            let epoch = (start_s / m.epoch_s) as u64;
            if self.epoch.0 != epoch {
                let draw = Random::new(mix(self.seed) ^ epoch).normal();
                self.epoch = (epoch, (m.epoch_noise * draw).exp());
            }
            mean_s *= self.epoch.1;
        }
        mean_s
            * match m.spread {
                Spread::Exponential => self.random.exponential(),
                Spread::Nearly(cv) => (1.0 + cv * self.random.normal()).max(0.1),
                Spread::Lognormal(sd) => (sd * self.random.normal() - 0.5 * sd * sd).exp(),
            }
    }

    /// Closed loop from now on: calls `seen` for each completion in order until it answers false.
    fn closed(&mut self, concurrency: u32, mut seen: impl FnMut(Done) -> bool) {
        self.rest();
        let mut out: BinaryHeap<Reverse<(u64, u64, bool)>> =
            BinaryHeap::with_capacity(concurrency as usize + 1);
        for _ in 0..concurrency {
            let done = self.submit(self.now_ns, concurrency);
            out.push(Reverse((done.at_ns, done.latency_ns, done.write)));
        }
        while let Some(Reverse((at_ns, latency_ns, write))) = out.pop() {
            self.now_ns = at_ns;
            if !seen(Done { at_ns, latency_ns, write }) {
                return;
            }
            let done = self.submit(at_ns, concurrency);
            out.push(Reverse((done.at_ns, done.latency_ns, done.write)));
        }
    }

    /// Open loop; latency counts from the intended start.
    fn open(&mut self, rate_iops: f64, arrival: Arrival, cap: u32, mut seen: impl FnMut(Done, u32) -> bool) {
        self.rest();
        let gap_ns = 1e9 / rate_iops.max(1e-3);
        let mut due_ns = self.now_ns as f64;
        let mut last_ns = self.now_ns;
        let mut out: BinaryHeap<Reverse<(u64, u64, bool)>> = BinaryHeap::new();
        loop {
            due_ns += gap_ns * if arrival == Arrival::Poisson { self.random.exponential() } else { 1.0 };
            let mut start_ns = (due_ns as u64).max(last_ns);
            while let Some(&Reverse((at_ns, due, write))) = out.peek() {
                if at_ns > start_ns && out.len() < cap as usize {
                    break;
                }
                out.pop();
                start_ns = start_ns.max(at_ns);
                self.now_ns = at_ns;
                if !seen(Done { at_ns, latency_ns: at_ns - due, write }, out.len() as u32 + 1) {
                    return;
                }
            }
            last_ns = start_ns;
            let done = self.submit(start_ns, out.len() as u32 + 1);
            out.push(Reverse((done.at_ns, due_ns as u64, done.write)));
        }
    }
}

/// A simulated path as a [`Subject`].
pub struct Simulated {
    path: Path,
}

impl Simulated {
    /// The same model and seed give the same run.
    pub fn new(model: Model, seed: u64) -> Self {
        Self { path: Path::new(model, seed) }
    }
}

/// Collects completions into slices.
struct Collector<'a> {
    watch: &'a mut dyn Watch,
    slices: Vec<Slice>,
    begin_ns: u64,
    length_ns: u64,
    outstanding: f64,
    stopped: bool,
}

const SLICE_NS: u64 = (SLICE_S * 1e9) as u64;
/// A settling that never ends is cut here.
const SETTLE_MAX_S: f64 = 20.0;

impl Collector<'_> {
    /// Takes one completion; false when the window is over.
    fn take(&mut self, done: Done) -> bool {
        let since_ns = done.at_ns - self.begin_ns;
        let index = (since_ns.min(self.length_ns) / SLICE_NS) as usize;
        while self.slices.len() <= index && (self.slices.len() as u64) * SLICE_NS < self.length_ns {
            if let Some(last) = self.slices.last()
                && self.watch.slice(last) == Flow::Stop
            {
                self.stopped = true;
                return false;
            }
            let start_ns = self.slices.len() as u64 * SLICE_NS;
            self.slices.push(Slice {
                start_s: start_ns as f64 * 1e-9,
                length_s: (self.length_ns - start_ns).min(SLICE_NS) as f64 * 1e-9,
                outstanding_mean: self.outstanding,
                ..Slice::default()
            });
        }
        if since_ns >= self.length_ns {
            if let Some(last) = self.slices.last() {
                self.stopped = self.watch.slice(last) == Flow::Stop;
            }
            return false;
        }
        let slice = &mut self.slices[index];
        let class = if done.write { &mut slice.write } else { &mut slice.read };
        class.bytes += 8192;
        class.latency.get_or_insert_with(LatencyHistogram::new).record_ns(done.latency_ns);
        true
    }
}

impl Subject for Simulated {
    fn facts(&self) -> SubjectFacts {
        SubjectFacts {
            target: "simulated path".into(),
            kind: "simulated".into(),
            workload: "8 KiB random".into(),
            block_bytes: 8192,
            write_percent: 100.0 * self.path.model.write_share,
            engine: "simulated".into(),
            workers: 1,
            cores: Vec::new(),
            region_bytes: 1 << 40,
            direct: true,
            concurrency_max: self.path.model.concurrency_max,
            open_loop: true,
            path: None,
        }
    }

    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError> {
        let asked_ns = self.path.now_ns;
        let mut settled_ns = None;
        let (mut completions, mut latency_sum) = (0u64, 0u64);
        let cap = load.demand.outstanding_limit();
        let mut collector = Collector {
            watch,
            slices: Vec::new(),
            begin_ns: 0,
            length_ns: (load.measure_s * 1e9) as u64,
            outstanding: 0.0,
            stopped: false,
        };
        let fails_ns = self.path.model.fails_at_s.map(|s| (s * 1e9) as u64);
        let mut failed = false;
        let model = self.path.model.clone();
        let timed_out = self.path.timed_out;
        let mut trouble = Trouble { device: "sim0".to_owned(), ..Trouble::default() };
        let (mut look_ns, mut slowest_ns, mut refused_load) = (asked_ns + SLICE_NS, 0, false);
        let mut seen = |done: Done, outstanding: u32| {
            let refused = u64::from(model.refuses(outstanding));
            trouble.done += 1 + refused;
            trouble.unsuccessful += refused;
            trouble.sent_again += refused;
            slowest_ns = slowest_ns.max(done.latency_ns);
            if done.at_ns >= look_ns && !trouble.is_quiet() {
                look_ns = done.at_ns + SLICE_NS;
                if collector.watch.troubles(std::slice::from_ref(&trouble)) == Flow::Stop {
                    refused_load = true;
                    return false;
                }
            }
            if fails_ns.is_some_and(|f| done.at_ns >= f) {
                failed = true;
                return false;
            }
            collector.outstanding = f64::from(outstanding);
            if settled_ns.is_some() {
                return collector.take(done);
            }
            completions += 1;
            latency_sum += done.latency_ns;
            let elapsed_s = (done.at_ns - asked_ns) as f64 * 1e-9;
            let mean_s = latency_sum as f64 / completions as f64 * 1e-9;
            let over = match load.demand {
                Demand::Closed { concurrency } => settled(completions, concurrency, mean_s, elapsed_s),
                Demand::Open { .. } => elapsed_s >= 0.2,
            };
            if over || elapsed_s > SETTLE_MAX_S {
                settled_ns = Some(done.at_ns);
                collector.begin_ns = done.at_ns;
            }
            true
        };
        match load.demand {
            Demand::Closed { concurrency } => self.path.closed(concurrency, |d| seen(d, concurrency)),
            Demand::Open { rate_iops, arrival, .. } => self.path.open(rate_iops, arrival, cap, seen),
        }
        // What is in flight at the end is waited for: that is when a hung command is found out.
        trouble.timed_out = self.path.timed_out - timed_out;
        if trouble.timed_out > 0 {
            slowest_ns = slowest_ns.max((TIMEOUT_S * 1e9) as u64);
        }
        let stopped = collector.stopped || refused_load;
        let mut slices = collector.slices;
        let settle_end = settled_ns.unwrap_or(self.path.now_ns);
        if failed {
            slices.pop();
        } else if !stopped {
            self.path.now_ns = settle_end + (load.measure_s * 1e9) as u64;
        }
        let measured_s: f64 = slices.iter().map(|s| s.length_s).sum();
        let ios: u64 = slices.iter().map(Slice::ios).sum();
        Ok(Step {
            load: load.clone(),
            start_s: settle_end as f64 * 1e-9,
            settle_s: (settle_end - asked_ns) as f64 * 1e-9,
            measured_s,
            slices,
            layers: Vec::new(),
            cpu: self.core(ios, measured_s),
            host: None,
            doubts: Vec::new(),
            starved: record::Starved::default(),
            incidents: Incidents {
                slowest_us: (slowest_ns > 0).then_some(slowest_ns as f64 / 1e3),
                troubles: if trouble.is_quiet() { Vec::new() } else { vec![trouble] },
                failed: None,
            },
            ended: if failed {
                Ended::Failed("the simulated target failed".into())
            } else if stopped {
                Ended::Stopped
            } else {
                Ended::Complete
            },
        })
    }
}

impl Simulated {
    fn core(&self, ios: u64, measured_s: f64) -> Option<CpuSeen> {
        let core_s = self.path.model.core_s;
        (core_s > 0.0 && measured_s > 0.0).then(|| CpuSeen {
            sys_us_per_io: core_s * 1e6,
            busiest_worker: (ios as f64 * core_s / measured_s).min(1.0),
            iops_per_core: Some(1.0 / core_s),
            ..CpuSeen::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Phase;
    use stats::queueing::closed_response_tail;

    fn closed(concurrency: u32, measure_s: f64) -> Load {
        Load { demand: Demand::Closed { concurrency }, measure_s, phase: Phase::Sweep }
    }

    #[test]
    fn a_closed_station_has_the_throughput_and_tail_of_theory() {
        let model = Model::station(24, 0.007);
        for n in [1, 16, 24, 60, 90] {
            let (share, iops) = model.long_run(n, 50_000_000, 800.0, 1);
            let truth = closed_response_tail(n, 24, 0.007, 0.05);
            let x = f64::from(n.min(24)) / 0.007;
            assert!((iops / x - 1.0).abs() < 0.01, "{n}: {iops} {x}");
            let error = 4.0 * (truth / (iops * 800.0)).sqrt() * 3.0 + 1e-5;
            assert!((share - truth).abs() < error.max(0.04 * truth), "{n}: {share} {truth}");
        }
    }

    #[test]
    fn a_step_obeys_littles_law_and_settles_as_promised() {
        let mut subject = Simulated::new(Model::station(24, 0.007), 3);
        let step = subject.measure(&closed(48, 2.0), &mut ()).unwrap();
        let n = step.iops() * step.response().mean_ns().unwrap() * 1e-9;
        assert!((n / 48.0 - 1.0).abs() < 0.02, "{n}");
        assert!(step.settle_s >= 0.2 && step.slices.len() == 20 && step.ended == Ended::Complete);
    }

    #[test]
    fn a_token_bucket_passes_its_rate_after_its_credit() {
        let model =
            Model { bucket: Some(Bucket { rate_iops: 300.0, credit: 3000.0 }), ..Model::station(24, 0.007) };
        let mut subject = Simulated::new(model, 3);
        let before = subject.measure(&closed(32, 0.3), &mut ()).unwrap().iops();
        subject.measure(&closed(32, 1.0), &mut ()).unwrap();
        let after = subject.measure(&closed(32, 2.0), &mut ()).unwrap().iops();
        assert!(before > 3000.0 && (after / 300.0 - 1.0).abs() < 0.02, "{before} {after}");
    }

    #[test]
    fn an_open_loop_counts_from_the_intended_start() {
        let mut subject = Simulated::new(Model::station(1, 0.001), 5);
        let load = |rate_iops| Load {
            demand: Demand::Open { rate_iops, arrival: Arrival::Poisson, outstanding_cap: 10_000 },
            measure_s: 60.0,
            phase: Phase::OpenLoop,
        };
        let step = subject.measure(&load(500.0), &mut ()).unwrap();
        // M/M/1 at half load: mean response 2 ms.
        assert!((step.response().mean_ns().unwrap() / 2e6 - 1.0).abs() < 0.08);
        let Demand::Open { rate_iops, arrival, .. } = load(2000.0).demand else { unreachable!() };
        let capped = Load {
            demand: Demand::Open { rate_iops, arrival, outstanding_cap: 4 },
            measure_s: 5.0,
            ..load(1.0)
        };
        let step = subject.measure(&capped, &mut ()).unwrap();
        assert!(step.response().quantile_ns(0.5).unwrap() > 500_000_000, "overload must show in the latency");
    }

    #[test]
    fn a_seed_repeats_a_run() {
        let run = |seed| {
            let model = Model { epoch_noise: 0.3, write_share: 0.3, ..Model::station(4, 0.001) };
            let mut subject = Simulated::new(model, seed);
            let step = subject.measure(&closed(8, 0.5), &mut ()).unwrap();
            (step.ios(), step.response().sum_ns())
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn a_target_that_fails_keeps_the_slices_before() {
        let model = Model { fails_at_s: Some(0.75), ..Model::station(4, 0.001) };
        let step = Simulated::new(model, 1).measure(&closed(4, 2.0), &mut ()).unwrap();
        assert!(matches!(step.ended, Ended::Failed(_)) && (4..=6).contains(&step.slices.len()));
    }
}
