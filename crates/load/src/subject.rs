//! The load generator as a [`Subject`]: a target, a workload and an engine that answer with measured steps.

use crate::clock::{now_ns, seconds_to_ns};
use crate::crew::{Crew, Duty, Job};
use crate::drive::lane::LaneDemand;
use crate::drive::meter::{Control, Report};
use crate::engine::EngineKind;
use crate::measure::{self, Stage, assemble};
use crate::target::Target;
use crate::workload::region::{Region, share, split};
use record::{Demand, Doubt, Follow, IoPath, Load, Step, Subject, SubjectError, SubjectFacts, Watch};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long I/Os in flight may take after their time before a step ends without them: a command that times out (30 s for
/// SCSI) once, and again after the kernel aborted it and sent it anew.
pub const HANG_BOUND: Duration = Duration::from_secs(75);

/// What [`crate::open`] settled on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What all workers have in common.
    pub duty: Duty,
    /// Workers at full concurrency.
    pub workers: u32,
    /// The largest concurrency.
    pub concurrency_max: u32,
    /// What the workload touches.
    pub region: Region,
    /// Workers share the region instead of having a part each.
    pub shared_regions: bool,
    /// Seed of addresses, arrivals and content.
    pub seed: u64,
}

/// A target under load.
///
/// Dropping it ends the workers and removes the target's own file, if it made one.
pub struct LoadSubject {
    // Dropped first: no I/O may be in flight when the target's own file goes.
    crew: Crew,
    target: Target,
    plan: Plan,
    path: Option<IoPath>,
    follower: Option<Box<dyn Follow>>,
    interrupt: Arc<AtomicBool>,
    hang_bound: Duration,
    run_start_ns: u64,
    steps: u64,
    lost: bool,
}

impl LoadSubject {
    /// A subject that has not been loaded yet.
    pub(crate) fn new(target: Target, plan: Plan, interrupt: Arc<AtomicBool>) -> Self {
        let crew = Crew::new(plan.duty.clone());
        Self::with_crew(target, plan, interrupt, crew)
    }

    pub(crate) fn with_crew(target: Target, plan: Plan, interrupt: Arc<AtomicBool>, crew: Crew) -> Self {
        Self {
            crew,
            target,
            plan,
            path: None,
            follower: None,
            interrupt,
            hang_bound: HANG_BOUND,
            run_start_ns: now_ns(),
            steps: 0,
            lost: false,
        }
    }

    /// The path the I/Os take, for the facts.
    pub fn set_path(&mut self, path: IoPath) {
        self.path = Some(path);
    }

    /// How many workers share the concurrency from the next step on. At least one; a sweep over cores changes it.
    pub fn set_workers(&mut self, workers: u32) {
        self.plan.workers = workers.max(1);
    }

    /// Who follows the queue around each measured window.
    pub fn set_follower(&mut self, follower: Box<dyn Follow>) {
        self.follower = Some(follower);
    }

    /// How long to wait for I/Os in flight before giving a step up (75 s unless set).
    pub fn set_hang_bound(&mut self, bound: Duration) {
        self.hang_bound = bound;
    }

    /// The target under load.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What was noticed about the target before any load: caches, unwritten extents, a shortened file.
    pub fn doubts(&self) -> &[Doubt] {
        self.target.doubts()
    }

    /// Ends the workers and removes the target's own file, as dropping does, but says what failed.
    pub fn close(self) -> Result<(), crate::error::Error> {
        let Self { crew, target, .. } = self;
        drop(crew);
        target.close()
    }

    fn check(&self, load: &Load) -> Result<(), SubjectError> {
        let beyond =
            |asked: String, can: String| Err(SubjectError::Beyond { target: self.target.name(), asked, can });
        if let Demand::Open { rate_iops, .. } = load.demand {
            if self.plan.duty.engine == EngineKind::Sync {
                return beyond(
                    "a rate with the sync engine".to_owned(),
                    "a rate with --engine io_uring or libaio".to_owned(),
                );
            }
            if !(rate_iops.is_finite() && rate_iops > 0.0) {
                return beyond(format!("{rate_iops} I/Os per second"), "a rate above zero".to_owned());
            }
        }
        let limit = load.demand.outstanding_limit();
        if limit == 0 || limit > self.plan.concurrency_max {
            return beyond(
                format!("{limit} I/Os outstanding"),
                format!("1 to {}", self.plan.concurrency_max),
            );
        }
        if !(load.measure_s.is_finite() && load.measure_s >= 0.001) {
            return beyond(format!("a window of {} s", load.measure_s), "1 ms or more".to_owned());
        }
        if self.lost {
            return beyond(
                "another step".to_owned(),
                "none: I/Os of an earlier step never completed".to_owned(),
            );
        }
        Ok(())
    }

    /// Workers that this demand needs: never more than I/Os.
    fn workers_for(&self, demand: &Demand) -> u32 {
        let limit = demand.outstanding_limit();
        if self.plan.duty.engine.is_async() { self.plan.workers.min(limit) } else { limit }
    }

    fn lane(demand: &Demand, workers: u32, worker: u32) -> LaneDemand {
        match *demand {
            Demand::Closed { concurrency } => {
                LaneDemand::Closed { slots: share(concurrency, workers, worker) }
            }
            Demand::Open { rate_iops, arrival, outstanding_cap } => LaneDemand::Open {
                rate_iops: rate_iops / f64::from(workers),
                arrival,
                slots: share(outstanding_cap, workers, worker),
                phase: f64::from(worker) / f64::from(workers),
            },
        }
    }

    fn region(&self, workers: u32, worker: u32) -> Region {
        if self.plan.shared_regions {
            return self.plan.region;
        }
        let block_bytes = self.plan.duty.workload.block_bytes;
        split(self.plan.region, block_bytes, u64::from(workers), u64::from(worker))
    }

    fn put_load_on(
        &mut self,
        load: &Load,
        workers: u32,
        control: &Arc<Control>,
    ) -> std::io::Result<Receiver<Report>> {
        let (reports, receiver) = channel();
        self.crew.grow(workers as usize)?;
        for worker in 0..workers {
            let seed = crate::rng::Rng::part(self.plan.seed, self.steps << 16 | u64::from(worker)).next_u64();
            let job = Job {
                control: Arc::clone(control),
                reports: reports.clone(),
                demand: Self::lane(&load.demand, workers, worker),
                region: self.region(workers, worker),
                seed,
            };
            self.crew.assign(worker as usize, job)?;
        }
        Ok(receiver)
    }
}

impl Subject for LoadSubject {
    fn facts(&self) -> SubjectFacts {
        let duty = &self.plan.duty;
        let workload = &duty.workload;
        SubjectFacts {
            target: self.target.name(),
            kind: self.target.kind().name().to_owned(),
            workload: match workload.name.as_str() {
                "custom" => workload.to_string(),
                name => format!("{name}: {workload}"),
            },
            block_bytes: workload.block_bytes,
            write_percent: workload.write_percent,
            engine: duty.engine.name().to_owned(),
            workers: self.plan.workers,
            cores: duty.cores.clone(),
            region_bytes: self.plan.region.blocks * workload.block_bytes,
            direct: self.target.is_direct(),
            concurrency_max: self.plan.concurrency_max,
            open_loop: duty.engine.is_async(),
            path: self.path.clone(),
        }
    }

    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError> {
        self.check(load)?;
        self.steps += 1;
        let workers = self.workers_for(&load.demand);
        let control = Arc::new(Control::default());
        if let Some(follower) = &mut self.follower {
            follower.load_on();
        }
        let reports = self.put_load_on(load, workers, &control).map_err(|cause| {
            // Workers that did get a job drain; without their reports they count as lost.
            control.release();
            self.lost = self.crew.busy().0 > 0;
            SubjectError::System { doing: format!("starting {workers} load workers"), cause }
        })?;
        let target = &self.target;
        let stage = Stage {
            crew: &mut self.crew,
            control,
            reports,
            workers: workers as usize,
            block_bytes: self.plan.duty.workload.block_bytes,
            concurrency: load.demand.concurrency(),
            measure_ns: seconds_to_ns(load.measure_s),
            follower: self.follower.as_mut(),
            interrupt: &self.interrupt,
            intact: &|| target.intact(),
            hang_bound: self.hang_bound,
        };
        let seen = measure::run(stage, watch);
        self.lost = self.crew.busy().0 > 0;
        Ok(assemble::step(load, seen?, self.run_start_ns, self.plan.duty.workload.sync))
    }
}

#[cfg(test)]
mod tests;
