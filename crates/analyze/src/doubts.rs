//! What weakens or spoils the answer, concluded over the whole run.

use crate::point::Point;
use record::{Doubt, DoubtId, Phase, Step, SubjectFacts, Weight};

/// Foreign work worth a word, as a share of the machine.
const FOREIGN_CPU_CAUTION: f64 = 0.15;
/// A load thread that waits this share of the time for a core measures the scheduler, not the device. A quiet machine
/// shows up to 0.07: the time between a wake-up and the run, at ten thousands of wake-ups a second.
const RUN_DELAY_CAUTION: f64 = 0.1;
/// Beyond this the response times are not the device's any more.
const RUN_DELAY_SPOILS: f64 = 0.35;
/// Time taken by the hypervisor.
const STEAL_CAUTION: f64 = 0.03;
/// Foreign bytes on the device, as a share of ours.
const FOREIGN_IO_CAUTION: f64 = 0.05;
/// Foreign bytes that make the number somebody else's.
const FOREIGN_IO_SPOILS: f64 = 0.5;
/// A device that moved less than this share of what direct reads returned did not serve them.
const CACHE_SPOILS: f64 = 0.5;
/// Little's law within one window: mean outstanding against rate times mean response.
const LITTLE_MAX: f64 = 0.05;

/// All doubts, heaviest first, each kind once with its strongest evidence.
pub fn doubts(steps: &[Step], points: &[Point], subject: &SubjectFacts) -> Vec<Doubt> {
    let mut all: Vec<Doubt> = steps.iter().flat_map(|s| s.doubts.iter().cloned()).collect();
    all.extend(host_disturbed(steps));
    all.extend(foreign_io(steps, subject));
    all.extend(page_cache(points, subject));
    all.extend(littles_law(steps));
    all.extend(starved(steps));
    all.extend(generator_short(steps));
    all.extend(drift(steps));
    all.extend(crate::trouble::doubts(steps, subject));
    record::doubt::heaviest_of_each(all)
}

fn doubt(id: DoubtId, weight: Weight, text: String) -> Doubt {
    Doubt { id, weight, text }
}

/// Mean over the run of a figure of the host, weighted by time.
fn over_run(steps: &[Step], read: impl Fn(&record::HostSeen) -> Option<f64>) -> Option<f64> {
    let pairs: Vec<(f64, f64)> =
        steps.iter().filter_map(|s| Some((s.measured_s, read(s.host.as_ref()?)?))).collect();
    let weight: f64 = pairs.iter().map(|p| p.0).sum();
    (weight > 0.0).then(|| pairs.iter().map(|(w, v)| w * v).sum::<f64>() / weight)
}

fn host_disturbed(steps: &[Step]) -> Option<Doubt> {
    let delay =
        over_run(steps, |h| Some(taken_by_others(h.worker_run_delay?, h.foreign_cores_busy))).unwrap_or(0.0);
    let steal = over_run(steps, |h| h.steal).unwrap_or(0.0);
    let foreign = over_run(steps, |h| h.foreign_cores_busy);
    let cpus = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    let foreign_share = foreign.map_or(0.0, |f| f / cpus);
    let mut reasons = Vec::new();
    if delay > RUN_DELAY_CAUTION {
        reasons.push(format!("load threads waited {:.0} % of the time for a core", 100.0 * delay));
    }
    if foreign_share > FOREIGN_CPU_CAUTION {
        reasons.push(format!("other processes used {:.1} cores", foreign.unwrap_or(0.0)));
    }
    if steal > STEAL_CAUTION {
        reasons.push(format!("the hypervisor took {:.0} % of the time", 100.0 * steal));
    }
    let weight = if delay > RUN_DELAY_SPOILS { Weight::Spoils } else { Weight::Caution };
    (!reasons.is_empty()).then(|| doubt(DoubtId::HostDisturbed, weight, reasons.join("; ")))
}

/// How much of a load thread's waiting for a core others can have caused: no more than they worked. The rest went to our
/// own threads (other workers, the follower, the kernel threads that carry our I/O), which on a machine with one core
/// take turns with it.
fn taken_by_others(delay: f64, foreign_cores: Option<f64>) -> f64 {
    foreign_cores.map_or(delay, |cores| delay.min(cores))
}

fn foreign_io(steps: &[Step], subject: &SubjectFacts) -> Option<Doubt> {
    if !subject.direct {
        return None;
    }
    let foreign = over_run(steps, |h| h.foreign_mib_per_s)?;
    let seconds: f64 = steps.iter().map(|s| s.measured_s).sum();
    let own = steps.iter().map(|s| s.mib_per_s() * s.measured_s).sum::<f64>() / seconds.max(1e-9);
    let share = foreign / own.max(1e-9);
    let weight = if share > FOREIGN_IO_SPOILS { Weight::Spoils } else { Weight::Caution };
    (share > FOREIGN_IO_CAUTION && foreign > 0.5).then(|| {
        doubt(
            DoubtId::ForeignIo,
            weight,
            format!(
                "foreign I/O: {foreign:.1} MiB/s on the device are not ours ({:.0} % of our {own:.1})",
                100.0 * share
            ),
        )
    })
}

/// Direct reads that no device served came from a cache of this host.
fn page_cache(points: &[Point], subject: &SubjectFacts) -> Option<Doubt> {
    let path = subject.path.as_ref()?;
    let first = path.counted().next()?;
    let (mut asked, mut served) = (0.0, 0.0);
    for point in points {
        if let Some(seen) = point.layers.iter().find(|l| l.name == first.name) {
            asked += point.mib_per_s * point.seconds;
            served += seen.mib_per_s * point.seconds;
        }
    }
    if asked <= 0.0 || served / asked >= 0.95 {
        return None;
    }
    let share = 100.0 * (1.0 - served / asked);
    if !subject.direct {
        return Some(doubt(
            DoubtId::PageCacheHits,
            Weight::Note,
            format!("buffered, as asked: the page cache answered {share:.0} % of the bytes"),
        ));
    }
    let weight = if served / asked < CACHE_SPOILS { Weight::Spoils } else { Weight::Caution };
    Some(doubt(
        DoubtId::PageCacheHits,
        weight,
        format!(
            "{share:.0} % of the bytes read directly never reached {}: something above it answered",
            first.name
        ),
    ))
}

/// N = X R between the generator's own counts, over every closed window long enough to mean something.
fn littles_law(steps: &[Step]) -> Option<Doubt> {
    let worst = steps
        .iter()
        .filter(|s| s.measured_s >= 0.3 && s.ios() >= 100 && s.concurrency().is_some())
        .filter_map(|s| {
            let outstanding = s.outstanding_mean()?;
            let predicted = s.iops() * s.response().mean_ns()? / 1e9;
            Some((s.concurrency()?, outstanding, predicted, (predicted / outstanding.max(1e-9) - 1.0).abs()))
        })
        .max_by(|a, b| a.3.total_cmp(&b.3))?;
    let (concurrency, outstanding, predicted, error) = worst;
    (error > LITTLE_MAX).then(|| {
        doubt(
            DoubtId::CountersDisagree,
            Weight::Caution,
            format!("Little's law is off by {:.0} % at concurrency {concurrency}: {outstanding:.2} outstanding, but rate times response is {predicted:.2}", 100.0 * error),
        )
    })
}

/// I/Os that were never served while their fellows were.
fn starved(steps: &[Step]) -> Option<Doubt> {
    let worst = steps
        .iter()
        .filter_map(|s| Some((s.unserved(), s.concurrency()?, s)))
        .filter(|(unserved, ..)| *unserved > 0)
        .max_by_key(|(unserved, ..)| *unserved)?;
    let (unserved, concurrency, step) = worst;
    Some(doubt(
        DoubtId::Starved,
        Weight::Caution,
        format!(
            "{unserved} of {concurrency} I/Os outstanding were passed over for {:.1} s while {} others completed: \
             the queue is not served in order; they count with the time they had waited",
            step.starved.mean_s(),
            step.ios()
        ),
    ))
}

/// The generator kept fewer I/Os outstanding than asked.
fn generator_short(steps: &[Step]) -> Option<Doubt> {
    let worst = steps
        .iter()
        .filter_map(|s| Some((s.concurrency()?, s.outstanding_mean()?)))
        .filter(|(asked, _)| *asked > 1)
        .min_by(|a, b| (a.1 / f64::from(a.0)).total_cmp(&(b.1 / f64::from(b.0))))?;
    let (asked, kept) = worst;
    (kept < 0.9 * f64::from(asked)).then(|| {
        doubt(DoubtId::GeneratorLag, Weight::Caution, format!("asked to keep {asked} I/Os outstanding, the generator kept {kept:.1}: its own processor time, or I/Os that complete at once"))
    })
}

/// Depth 1 at the beginning and at the end should agree.
fn drift(steps: &[Step]) -> Option<Doubt> {
    let mean_us = |phase| {
        let step = steps.iter().find(|s| s.load.phase == phase && s.ios() >= 20)?;
        Some(step.response().mean_ns()? / 1e3)
    };
    let (first, last) = (mean_us(Phase::Reference)?, mean_us(Phase::Sentinel)?);
    let ratio = last / first;
    (!(0.77..=1.3).contains(&ratio)).then(|| {
        let (id, what) =
            if ratio < 1.0 { (DoubtId::ColdStart, "cold start") } else { (DoubtId::NotSteady, "drift") };
        doubt(
            id,
            Weight::Caution,
            format!(
                "{what}: one I/O alone took {} at first and {} at the end",
                crate::rule::time(first),
                crate::rule::time(last)
            ),
        )
    })
}
