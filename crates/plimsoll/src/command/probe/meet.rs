//! Values meet the world: flags become a workload, an opened target with its path, and what the search is asked.

use super::cores::{self, CoreSweep};
use super::load_failed;
use super::progress::Shown;
use crate::args::cores::Cores;
use crate::args::probe::{EngineName, PatternName, ProbeArgs, SyncName, When, WorkloadName};
use crate::exit::{Exit, Failure};
use host::Root;
use host::sample::PathFollower;
use load::{EngineKind, Overrides, Pattern, SyncMode, Workload};
use probe::OpenLoop;
use record::SubjectFacts;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the user wants, checked as far as that goes without touching the target.
pub struct Wish {
    /// For the load generator.
    pub load: load::Options,
    /// For the search.
    pub search: probe::Options,
    /// Cores are swept, with this many I/Os outstanding per core.
    pub core_sweep: Option<u32>,
    /// All options as they are in force, for the report.
    pub options: Value,
}

/// Flags to options.
pub fn wish(args: &ProbeArgs) -> Result<Wish, Failure> {
    let workload = workload(args)?;
    let sweep = cores::plan(args)?;
    let cores = match (&args.cores, &sweep) {
        (_, Some(sweep)) => sweep.cores.clone(),
        (Some(Cores::Pin(list)), None) => list.clone(),
        _ => Vec::new(),
    };
    let mut load = load::Options::new(&args.target, workload);
    load.engine = args.engine.map(engine);
    load.workers = sweep.as_ref().map(|s| s.cores.len() as u32).or(args.workers);
    load.cores = cores;
    load.size_bytes = args.size;
    load.buffered = args.buffered;
    load.shared_regions = args.shared_blocks;
    load.destroy_data_on.clone_from(&args.destroy_data_on);
    load.seed = Some(args.seed);
    let search = search(args, sweep.as_ref());
    Ok(Wish {
        options: options(args, &load, &search, sweep.as_ref()),
        core_sweep: sweep.map(|s| s.per_core),
        load,
        search,
    })
}

fn workload(args: &ProbeArgs) -> Result<Workload, Failure> {
    let name = match args.workload {
        WorkloadName::Oltp => "oltp",
        WorkloadName::OltpMixed => "oltp-mixed",
        WorkloadName::Scan => "scan",
        WorkloadName::Log => "log",
        WorkloadName::Dss => "dss",
    };
    let overrides = Overrides {
        block_bytes: args.block,
        pattern: args.pattern.map(|p| match p {
            PatternName::Random => Pattern::Random,
            PatternName::Sequential => Pattern::Sequential,
        }),
        write_percent: args.write,
        sync: args.sync.map(|s| match s {
            SyncName::None => SyncMode::None,
            SyncName::Fdatasync => SyncMode::Fdatasync,
            SyncName::Dsync => SyncMode::Dsync,
        }),
    };
    Workload::named(name).and_then(|w| w.with(&overrides)).map_err(|e| load_failed(&e))
}

fn engine(name: EngineName) -> EngineKind {
    match name {
        EngineName::IoUring => EngineKind::IoUring,
        EngineName::Libaio => EngineKind::Libaio,
        EngineName::Sync => EngineKind::Sync,
    }
}

fn search(args: &ProbeArgs, sweep: Option<&cores::Plan>) -> probe::Options {
    let defaults = probe::Options::default();
    let mut depths = args.depths.as_ref().map(|d| d.0.clone()).unwrap_or_default();
    if let Some(sweep) = sweep {
        depths = (sweep.first..=sweep.cores.len() as u32).map(|cores| cores * sweep.per_core).collect();
    }
    if args.rate.is_some() {
        // One I/O at a time first, so that the answer knows the unloaded response time.
        depths = vec![1];
    }
    probe::Options {
        limit: args.limit,
        budget_s: args.budget,
        depths,
        sweep: args.sweep,
        concurrency_max: args.max_depth.unwrap_or(defaults.concurrency_max),
        open_loop: match args.open_loop {
            _ if args.rate.is_some() => OpenLoop::Off,
            When::Auto => OpenLoop::Auto,
            When::On => OpenLoop::On,
            When::Off => OpenLoop::Off,
        },
        rates_iops: args.rate.into_iter().collect(),
        arrival: match args.arrival {
            crate::args::probe::ArrivalName::Poisson => record::Arrival::Poisson,
            crate::args::probe::ArrivalName::Constant => record::Arrival::Constant,
        },
        seed: args.seed,
        ..defaults
    }
}

/// Listed depths that the opened target cannot carry are wrong usage: left out silently they would look measured.
pub fn check_depths(depths: &[u32], facts: &SubjectFacts) -> Result<(), Failure> {
    let most = facts.concurrency_max;
    match depths.iter().find(|d| **d > most) {
        None => Ok(()),
        Some(depth) => Err(Failure::new(
            Exit::Usage,
            format!(
                "--depths {depth}: expected at most {most} outstanding I/Os with engine {} here",
                facts.engine
            ),
        )
        .hint(
            "engine, memory for buffers and size of the target set the most; --size or --block may raise it",
        )),
    }
}

fn options(
    args: &ProbeArgs,
    load: &load::Options,
    search: &probe::Options,
    sweep: Option<&cores::Plan>,
) -> Value {
    json!({
        "workload": load.workload.name,
        "block_bytes": load.workload.block_bytes,
        "write_percent": load.workload.write_percent,
        "limit": search.limit,
        "budget_s": search.budget_s,
        "depths": search.depths,
        "sweep": search.sweep,
        "rates_iops": search.rates_iops,
        "buffered": load.buffered,
        "shared_blocks": load.shared_regions,
        "size_bytes": load.size_bytes,
        "workers": load.workers,
        "cores": load.cores,
        "core_sweep": sweep.map_or(0, |s| s.per_core),
        "seed": args.seed,
    })
}

/// Opens the target, finds its path, and puts the workload and a follower to it.
pub fn subject(
    args: &ProbeArgs,
    wish: &Wish,
    interrupt: &Arc<AtomicBool>,
    shown: &mut Shown,
) -> Result<CoreSweep, Failure> {
    let root = Root::system();
    let target = load::resolve(&wish.load, &root, interrupt, &mut |filling| shown.filling(filling))
        .map_err(|e| load_failed(&e))?;
    shown.filled();
    target.notes().iter().for_each(|note| shown.note(note));
    let place = target.data_path().canonicalize().unwrap_or_else(|_| target.data_path().to_owned());
    let place = place.to_string_lossy().into_owned();
    let path = target
        .file()
        .metadata()
        .and_then(|m| host::path::Target::of(&m, place))
        .map(|t| host::path::trace(&root, &t));
    let path = path.map_err(|cause| {
        Failure::new(Exit::Environment, format!("looking at {}: {cause}", args.target.display()))
    })?;
    let mut subject = load::open(target, &wish.load, Arc::clone(interrupt)).map_err(|e| load_failed(&e))?;
    let cores = record::Subject::facts(&subject).cores;
    let follower = PathFollower::new(&root, &path, &cores)
        .map_err(|cause| Failure::new(Exit::Environment, format!("starting the sampling thread: {cause}")))?;
    subject.set_path(path);
    subject.set_follower(Box::new(follower));
    Ok(CoreSweep::new(subject, wish.core_sweep))
}
