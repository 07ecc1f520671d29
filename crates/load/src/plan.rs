//! Fits options to the target and the machine: engine, workers, cores, and how far concurrency may go.

use crate::crew::{Duty, buffer_bytes};
use crate::engine::{ASYNC_CONCURRENCY_MAX, EngineKind, SYNC_CONCURRENCY_MAX, Setup, libaio, uring};
use crate::error::Error;
use crate::options::Options;
use crate::subject::{LoadSubject, Plan};
use crate::target::Target;
use crate::workload::{Region, SyncMode};
use host::Root;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Most memory for I/O buffers.
const BUFFER_BYTES_MAX: u64 = 1 << 30;
/// Buffers take at most this part of the memory available.
const BUFFER_PART_OF_MEMORY: u64 = 8;
/// Most workers of an asynchronous engine that are chosen without being asked for.
const WORKERS_DEFAULT_MAX: u32 = 4;
/// Most workers of an asynchronous engine.
const WORKERS_MAX: u32 = 256;
/// Each libaio context takes up to twice its events from fs.aio-max-nr; a part is left to others.
const AIO_PART: u64 = 4;

/// Puts a workload to an opened target. `interrupt` ends a step early when it is set.
pub fn open(target: Target, options: &Options, interrupt: Arc<AtomicBool>) -> Result<LoadSubject, Error> {
    let root = Root::system();
    let workload = options.workload.clone();
    if workload.writes() && !target.is_writable() {
        return Err(Error::Refused {
            target: options.target.clone(),
            refusal: crate::safety::Refusal::NotOurFile,
        });
    }
    let engine = options.engine.unwrap_or_else(|| workload.natural_engine());
    check_engine(engine)?;
    let allowed = cores(options)?;
    let (start_bytes, bytes) = target.span();
    let region = Region::whole(start_bytes, bytes, workload.block_bytes);
    let concurrency_max = concurrency_max(engine, &root, region, buffer_bytes(&workload));
    let workers = match engine {
        EngineKind::Sync => sync_workers(options, concurrency_max)?,
        _ => async_workers(options, &allowed)?.min(concurrency_max),
    };
    // Only those that get a worker: whoever looks at the cores of the load should not average over idle ones. Workers
    // that nobody asked to pin stay free: pinned beside a busy process they would wait for a core while others idle.
    let cores: Vec<u32> = options.cores.iter().copied().take(workers as usize).collect();
    let seed = options.seed.unwrap_or_else(crate::rng::fresh_seed);
    let setup = Setup {
        file: Arc::clone(target.file()),
        block_bytes: workload.block_bytes as usize,
        reads: workload.reads(),
        writes: workload.writes(),
        dsync: workload.sync == SyncMode::Dsync,
        seed,
    };
    let plan = Plan {
        duty: Duty { engine, setup, workload, cores },
        workers,
        concurrency_max,
        region,
        shared_regions: options.shared_regions,
        seed,
    };
    Ok(LoadSubject::new(target, plan, interrupt))
}

/// Whether the engine can be used by this process on this kernel.
fn check_engine(engine: EngineKind) -> Result<(), Error> {
    let probed = match engine {
        EngineKind::IoUring => uring::probe(),
        EngineKind::Libaio => libaio::probe(),
        EngineKind::Sync => Ok(()),
    };
    probed.map_err(|cause| {
        let remedy = match cause.raw_os_error() {
            _ if engine == EngineKind::Libaio => {
                "raise fs.aio-max-nr if it is used up (fs.aio-nr), or use --engine io_uring or sync"
            }
            Some(libc::ENOSYS) => "this kernel has none (5.1 is the first); use --engine libaio",
            Some(libc::EPERM | libc::EACCES) => {
                "it is forbidden here (sysctl kernel.io_uring_disabled, or a container's seccomp profile); use \
                 --engine libaio"
            }
            Some(libc::ENOMEM) => "the memory-lock limit (ulimit -l) is too small; raise it or use --engine libaio",
            _ => "use --engine libaio",
        };
        Error::Engine { engine, cause, remedy }
    })
}

/// Logical CPUs this process may run on.
pub fn allowed_cores() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU as u32).filter(|&cpu| set.is_set(cpu as usize)).collect())
}

/// The cores that workers are pinned to: the asked ones, which must be allowed, or all that are.
fn cores(options: &Options) -> Result<Vec<u32>, Error> {
    let allowed = allowed_cores().map_err(Error::system("reading the allowed cores of", "this process"))?;
    if options.cores.is_empty() {
        return Ok(allowed);
    }
    match options.cores.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(options.cores.clone()),
        Some(cpu) => Err(Error::Usage {
            flag: "--cores",
            given: cpu.to_string(),
            expected: format!("cores that this process may use: {allowed:?}"),
        }),
    }
}

fn async_workers(options: &Options, cores: &[u32]) -> Result<u32, Error> {
    match options.workers {
        // Asked cores are meant to be used; else half the machine is left to what is being measured.
        None if !options.cores.is_empty() => Ok((cores.len() as u32).min(WORKERS_MAX)),
        None => Ok((cores.len() as u32 / 2).clamp(1, WORKERS_DEFAULT_MAX)),
        Some(n) if (1..=WORKERS_MAX).contains(&n) => Ok(n),
        Some(n) => Err(workers_usage(n)),
    }
}

/// The synchronous engine has a thread per I/O; a number of workers has no effect there, so it is refused.
fn sync_workers(options: &Options, concurrency_max: u32) -> Result<u32, Error> {
    match options.workers {
        None => Ok(concurrency_max),
        Some(n) => Err(Error::Usage {
            flag: "--workers",
            given: n.to_string(),
            expected: "no such flag with --engine sync, which has one thread per outstanding I/O".to_owned(),
        }),
    }
}

fn workers_usage(given: u32) -> Error {
    Error::Usage {
        flag: "--workers",
        given: given.to_string(),
        expected: format!("a number between 1 and {WORKERS_MAX}"),
    }
}

/// How far concurrency may go: engine, kernel limits, memory for buffers, and blocks of the region.
fn concurrency_max(engine: EngineKind, root: &Root, region: Region, bytes_per_io: u64) -> u32 {
    let by_engine = match engine {
        EngineKind::IoUring => u64::from(ASYNC_CONCURRENCY_MAX),
        EngineKind::Libaio => u64::from(ASYNC_CONCURRENCY_MAX).min(free_aio(root) / AIO_PART),
        EngineKind::Sync => u64::from(SYNC_CONCURRENCY_MAX),
    };
    let memory =
        available_bytes(root).map_or(BUFFER_BYTES_MAX, |b| (b / BUFFER_PART_OF_MEMORY).min(BUFFER_BYTES_MAX));
    let by_memory = memory / bytes_per_io.max(1);
    let by_region = region.blocks / crate::BLOCKS_PER_IO;
    by_engine.min(by_memory).min(by_region).max(1) as u32
}

/// Events that libaio contexts may still take, system-wide.
fn free_aio(root: &Root) -> u64 {
    let max: u64 = root.number("/proc/sys/fs/aio-max-nr").unwrap_or(65_536);
    let used: u64 = root.number("/proc/sys/fs/aio-nr").unwrap_or(0);
    max.saturating_sub(used)
}

fn available_bytes(root: &Root) -> Option<u64> {
    let text = root.text("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::at(folder.path());
        (folder, root)
    }

    const BIG: Region = Region { start_bytes: 0, blocks: 1 << 20 };

    #[test]
    fn large_blocks_are_bounded_by_memory() {
        let (_folder, root) = root(&[("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:  4194304 kB\n")]);
        // 4 GiB available, an eighth of that for buffers.
        assert_eq!(concurrency_max(EngineKind::IoUring, &root, BIG, 1 << 20), 512);
        assert_eq!(concurrency_max(EngineKind::IoUring, &root, BIG, 8 << 10), ASYNC_CONCURRENCY_MAX);
    }

    #[test]
    fn libaio_is_bounded_by_what_others_left() {
        let (_folder, root) =
            root(&[("proc/sys/fs/aio-max-nr", "65536\n"), ("proc/sys/fs/aio-nr", "65136\n")]);
        assert_eq!(concurrency_max(EngineKind::Libaio, &root, BIG, 4096), 100);
    }

    #[test]
    fn a_small_region_bounds_the_concurrency() {
        let (_folder, root) = root(&[]);
        let region = Region { start_bytes: 0, blocks: 40 };
        assert_eq!(concurrency_max(EngineKind::Sync, &root, region, 4096), 10);
    }
}
