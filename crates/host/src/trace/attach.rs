//! Loading the programs and attaching them, each to what this kernel has.

use super::btf::Btf;
use super::scsi;
use super::tracer::{Options, ScsiSource};
use super::unavailable::{Unavailable, Why};
use crate::Root;
use aya::programs::{BtfTracePoint, ProgramError, RawTracePoint, TracePoint};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};

static OBJECT: &[u8] = include_bytes_aligned!("../../bpf/trace.bpf.o");

const KERNEL_BTF: &str = "/sys/kernel/btf/vmlinux";

/// What was attached.
pub(super) struct Attached {
    pub ebpf: Ebpf,
    pub askers: bool,
    pub scsi: ScsiSource,
    pub missing: Vec<String>,
}

/// What the kernel's arrays have room for.
pub(super) struct Room {
    /// Processors, and copies of each sum.
    pub processors: u32,
    pub shards: u32,
    /// Devices, and their entries in the array of sums.
    pub slots: u32,
    pub entries: u32,
}

/// Loads and attaches.
pub(super) fn attach(root: &Root, options: &Options, room: &Room) -> Result<Attached, Unavailable> {
    let image = std::fs::read(root.place(KERNEL_BTF)).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            Unavailable::new(Why::NotPermitted, format!("{KERNEL_BTF}: {error}"))
        }
        _ => Unavailable::new(Why::NoBtf, format!("{KERNEL_BTF}: {error}")),
    })?;
    let not_understood = || Unavailable::new(Why::NoBtf, format!("{KERNEL_BTF} is not understood"));
    let types = Btf::parse(&image, None).ok_or_else(not_understood)?;
    let loader_types = aya::Btf::parse(&image, aya::Endianness::default()).map_err(|_| not_understood())?;

    // Until 5.10 a queue stood before the request, and a queue and a request before a merged bio.
    let position = |tracepoint: &str, plain: usize| match types.tracepoint_arguments(tracepoint) {
        Some(count) if count > plain => u32::try_from(count - plain).unwrap_or(0),
        _ => 0,
    };
    let numbers = [
        ("request_argument", position("block_rq_issue", 1)),
        ("bio_argument", position("block_bio_queue", 1)),
        ("merge_argument", position("block_bio_backmerge", 1)),
        ("split_argument", position("block_split", 2)),
        ("shard_mask", room.shards - 1),
        ("own_sums", u32::from(never_within_itself(options) && room.shards >= room.processors)),
        ("own_askers", u32::from(never_within_itself(options))),
        ("keep_in_flight", u32::from(options.in_flight)),
        ("ignore_stamps", u32::from(options.ignore_stamps)),
    ];
    let offsets = scsi::offsets(root, &types);

    // Kernels before 5.11 charge maps to this limit; where it cannot be raised, loading says so itself.
    let unlimited = rustix::process::Rlimit { current: None, maximum: None };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Memlock, unlimited);

    let mut loader = EbpfLoader::new();
    loader
        .btf(Some(&loader_types))
        .map_max_entries("sums", room.entries)
        .map_max_entries("counts", room.slots)
        .map_max_entries("cells", room.processors);
    for (name, number) in &numbers {
        loader.override_global(name, number, true);
    }
    for (name, number) in offsets.iter().flatten() {
        loader.override_global(name, number, true);
    }
    let mut ebpf = loader.load(OBJECT).map_err(|e| refused("loading the tracer", &e))?;

    let mut missing = Vec::new();
    let mut on = |program: &str, tracepoint: &str| -> Result<(), Unavailable> {
        let attached = btf_tracepoint(&mut ebpf, program, tracepoint, &loader_types);
        attached.map_err(|e| refused(&format!("tracing {tracepoint}"), &e))
    };
    // Those that keep the table of requests in flight stand before the one that clears it.
    if options.in_flight {
        on("rq_merge", "block_rq_merge").unwrap_or_else(|e| missing.push(e.detail));
        on("rq_insert", "block_rq_insert")?;
        on("rq_issue", "block_rq_issue")?;
    }
    on("rq_requeue", "block_rq_requeue").unwrap_or_else(|e| missing.push(e.detail));
    on("rq_complete", "block_rq_complete")?;
    if options.merges {
        for (program, tracepoint) in [
            ("bio_backmerge", "block_bio_backmerge"),
            ("bio_frontmerge", "block_bio_frontmerge"),
            ("bio_split", "block_split"),
        ] {
            on(program, tracepoint).unwrap_or_else(|e| missing.push(e.detail));
        }
    }
    let mut askers = options.askers;
    if askers && let Err(error) = on("bio_queue", "block_bio_queue") {
        missing.push(error.detail);
        askers = false;
    }
    let scsi = attach_scsi(root, options, &mut ebpf, offsets.is_some());
    Ok(Attached { ebpf, askers, scsi, missing })
}

/// Whether this kernel never runs a program that it interrupted just then (since 6.1, 05b24ff9b2cf). What one processor
/// alone writes needs no atomic adds then.
fn never_within_itself(options: &Options) -> bool {
    let known = aya::util::KernelVersion::current();
    !options.before_6_1 && known.is_ok_and(|version| version >= aya::util::KernelVersion::new(6, 1, 0))
}

fn btf_tracepoint(
    ebpf: &mut Ebpf,
    program: &str,
    tracepoint: &str,
    types: &aya::Btf,
) -> Result<(), ProgramError> {
    let program: &mut BtfTracePoint = named(ebpf, program)?.try_into()?;
    program.load(tracepoint, types)?;
    program.attach().map(|_| ())
}

fn named<'a>(ebpf: &'a mut Ebpf, program: &str) -> Result<&'a mut aya::programs::Program, ProgramError> {
    ebpf.program_mut(program).ok_or(ProgramError::NotLoaded)
}

fn attach_scsi(root: &Root, options: &Options, ebpf: &mut Ebpf, offsets_known: bool) -> ScsiSource {
    if !options.scsi {
        return ScsiSource::None("not asked for".to_owned());
    }
    if !scsi::is_loaded(root) {
        return ScsiSource::None("no SCSI layer is loaded".to_owned());
    }
    let mut why = "the kernel does not describe the types of its SCSI layer".to_owned();
    if offsets_known && !options.scsi_by_events {
        match all_of(ebpf, |ebpf, (tracepoint, raw, _)| {
            let program: &mut RawTracePoint = named(ebpf, raw)?.try_into()?;
            program.load()?;
            program.attach(tracepoint).map(|_| ())
        }) {
            Ok(()) => return ScsiSource::RawTracepoints,
            Err(error) => why = error,
        }
        // A part that did attach must not count beside the classic ones.
        for (_, raw, _) in scsi::TRACEPOINTS {
            if let Ok(Ok(program)) = named(ebpf, raw).map(<&mut RawTracePoint>::try_from) {
                let _ = program.unload();
            }
        }
    }
    if let Err(error) = scsi::events_fit(root) {
        return ScsiSource::None(format!("{why}; {error}"));
    }
    match all_of(ebpf, |ebpf, (tracepoint, _, event)| {
        let program: &mut TracePoint = named(ebpf, event)?.try_into()?;
        program.load()?;
        program.attach("scsi", tracepoint).map(|_| ())
    }) {
        Ok(()) => ScsiSource::Tracepoints,
        Err(error) => ScsiSource::None(format!("{why}; {error}")),
    }
}

type Trio = (&'static str, &'static str, &'static str);

fn all_of(ebpf: &mut Ebpf, one: impl Fn(&mut Ebpf, Trio) -> Result<(), ProgramError>) -> Result<(), String> {
    scsi::TRACEPOINTS
        .into_iter()
        .try_for_each(|trio| one(ebpf, trio).map_err(|e| refused(&format!("tracing {}", trio.0), &e).detail))
}

/// An error of the loader as a typed reason.
pub(super) fn refused(doing: &str, error: &(dyn std::error::Error + 'static)) -> Unavailable {
    let mut errno = None;
    let mut texts = vec![brief(&error.to_string())];
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            errno = errno.or(io.raw_os_error());
        }
        let text = brief(&error.to_string());
        if !texts.iter().any(|t| t.contains(&text)) {
            texts.push(text);
        }
        next = error.source();
    }
    Unavailable::from_errno(errno, format!("{doing}: {}", texts.join(": ")))
}

/// One line, not too long: the verifier may have written thousands, of which the last ones say why.
fn brief(text: &str) -> String {
    const KEPT: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = line.chars().count();
    if length <= 2 * KEPT {
        return line;
    }
    let head: String = line.chars().take(KEPT / 2).collect();
    let tail: String = line.chars().skip(length - KEPT).collect();
    format!("{head} ... {tail}")
}
