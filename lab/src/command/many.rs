//! Several boots, some at a time.

use crate::boot::{self, Boot, Booted};
use crate::error::{Error, Result};
use crate::kernel;
use crate::place::Place;
use crate::plan::Then;
use crate::rig::{Kernel, Rig};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// One boot to make.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The rig's name.
    pub name: &'a str,
    /// The rig.
    pub rig: &'a Rig,
    /// The kernel series.
    pub kernel: Kernel,
}

/// Boots each rig on each of its kernels, or on one.
pub fn tasks<'a>(rigs: impl Iterator<Item = (&'a str, &'a Rig)>, only: Option<Kernel>) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for (name, rig) in rigs {
        let kernels = only.map_or_else(|| rig.kernels.clone(), |kernel| vec![kernel]);
        tasks.extend(kernels.into_iter().map(|kernel| Task { name, rig, kernel }));
    }
    tasks
}

/// Boots all, `jobs` at a time, and calls `ended` after each, one call at a time. The first error of the host ends it.
pub fn boot_all(
    place: &Place,
    tasks: &[Task<'_>],
    jobs: u32,
    then: &Then,
    payload: Option<&Path>,
    interrupted: &AtomicBool,
    ended: &(dyn Fn(&Task<'_>, Booted) + Sync),
) -> Result<()> {
    // Fetched before the boots, so that no two of them fetch the same.
    let series: BTreeSet<Kernel> = tasks.iter().map(|task| task.kernel).collect();
    for kernel in series {
        kernel::get(&place.kernels(), kernel, false, &|line| eprintln!("lab: {line}"))?;
    }
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let speaking = Mutex::new(());
    let worker = || {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stopped.load(Ordering::Relaxed) || interrupted.load(Ordering::Relaxed) {
                return;
            }
            let Task { name, rig, kernel } = *task;
            match boot::boot(Boot { place, name, rig, kernel, then, payload, interrupted }) {
                Ok(booted) => {
                    let _one_at_a_time = speaking.lock();
                    ended(task, booted);
                }
                Err(error) => {
                    stopped.store(true, Ordering::Relaxed);
                    if let Ok(mut failed) = failed.lock() {
                        failed.get_or_insert(error);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(worker);
        }
    });
    match failed.into_inner() {
        Ok(Some(error)) => Err(error),
        _ if interrupted.load(Ordering::Relaxed) => Err(Error::Interrupted),
        _ => Ok(()),
    }
}
