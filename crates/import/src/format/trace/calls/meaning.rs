//! What a call does: bytes, offset, direction, page size.

use super::line::{Call, integer};

/// What a call means for storage and memory; NaN where it says nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Meaning {
    /// Its name, with what decides in parentheses.
    pub name: String,
    pub bytes: f64,
    pub offset: f64,
    /// 1 for writes, 0 for reads.
    pub is_write: f64,
    /// Page size that is asked for.
    pub page_bytes: f64,
    /// I/Os submitted or completed by it.
    pub ios: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Returns bytes; an offset is its fourth argument, if any.
    Transfer {
        write: bool,
    },
    Submit,
    Events,
    KernelAio,
    Sync,
    Map,
    /// Length in this argument, advice in that.
    Advise {
        length: usize,
        advice: usize,
    },
    SharedMemory,
}

fn kind(name: &str) -> Option<Kind> {
    let name = name.trim_start_matches('_');
    Some(match name {
        "read" | "pread" | "pread64" | "readv" | "preadv" | "preadv2" | "kread" | "kpread" | "kreadv"
        | "kpreadv" | "readx" | "kreadx" | "aio_read" | "aio_read64" | "aioread" | "aioread64" => {
            Kind::Transfer { write: false }
        }
        "write" | "pwrite" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "kwrite" | "kpwrite"
        | "kwritev" | "kpwritev" | "aio_write" | "aio_write64" | "aiowrite" | "aiowrite64" => {
            Kind::Transfer { write: true }
        }
        "io_submit" | "lio_listio" | "lio_listio64" | "listio64" | "listio" | "io_uring_enter" => {
            Kind::Submit
        }
        "io_getevents" | "io_pgetevents" | "aio_nwait" | "aio_nwait64" | "aio_nwait_timeout" | "aiowait"
        | "aio_suspend" | "aio_waitcomplete" => Kind::Events,
        "kaio" => Kind::KernelAio,
        "fsync" | "fdatasync" | "fdsync" | "kfsync" | "sync" | "syncfs" | "sync_file_range"
        | "fsync_range" => Kind::Sync,
        "mmap" | "mmap64" | "mmap2" | "old_mmap" => Kind::Map,
        "munmap" | "msync" | "mlock" => Kind::Advise { length: 1, advice: 9 },
        "memcntl" | "madvise" | "posix_madvise" => Kind::Advise { length: 1, advice: 2 },
        "shmget" => Kind::SharedMemory,
        _ => return None,
    })
}

/// Whether a call gives a row of its own.
pub(super) fn is_kept(name: &str) -> bool {
    kind(name).is_some()
}

/// What a call means; absent when its arguments are not those of its name.
pub(super) fn of(call: &Call<'_>) -> Option<Meaning> {
    let argument = |n: usize| call.arguments.get(n).copied().unwrap_or("");
    let number = |n: usize| integer(argument(n)).unwrap_or(f64::NAN);
    let mut meant = Meaning {
        name: call.name.to_owned(),
        bytes: f64::NAN,
        offset: f64::NAN,
        is_write: f64::NAN,
        page_bytes: f64::NAN,
        ios: f64::NAN,
    };
    let done = if call.failed { f64::NAN } else { call.result };
    match kind(call.name)? {
        Kind::Transfer { write } => {
            meant.bytes = done;
            meant.is_write = f64::from(u8::from(write));
            meant.offset = number(3);
            // `aioread(fd, buffer, bytes, offset, whence, result)` returns 0.
            if call.name.starts_with("aio") {
                meant.bytes = number(2);
            }
        }
        Kind::Submit => {
            meant.ios = done;
            let all = call.arguments.join(",");
            (meant.bytes, meant.offset, meant.is_write) = submitted(&all);
        }
        Kind::Events => meant.ios = done,
        Kind::KernelAio => {
            let what = argument(0);
            meant.name = format!("kaio({what})");
            let direction = [("READ", 0.0), ("WRITE", 1.0)].into_iter().find(|(d, _)| what.contains(d));
            if let Some((_, is_write)) = direction {
                meant.is_write = is_write;
                meant.bytes = number(3);
                meant.offset = number(4);
            }
        }
        Kind::Sync => {}
        Kind::Map => {
            meant.bytes = number(1);
            meant.page_bytes = huge_page(argument(3));
            if argument(2) == "PROT_NONE" {
                meant.name = format!("{}(PROT_NONE)", call.name);
            }
        }
        Kind::Advise { length, advice } => {
            meant.bytes = number(length);
            let what = argument(advice);
            let what = if what.starts_with("MC_ADVISE") { argument(3) } else { what };
            if what.starts_with("MC_") || what.starts_with("MADV_") || what.starts_with("POSIX_MADV_") {
                meant.name = format!("{}({what})", call.name);
            }
            meant.page_bytes = call.arguments.iter().find_map(|a| page_size(a)).unwrap_or(f64::NAN);
        }
        Kind::SharedMemory => {
            meant.bytes = number(1);
            meant.page_bytes = huge_page(argument(2));
        }
    }
    Some(meant)
}

/// Bytes, first offset and direction of what is submitted: `{aio_lio_opcode=IOCB_CMD_PREAD, ..., aio_nbytes=8192, aio_offset=0}`
/// or, of older versions, `{pread, fildes=3, buf=..., nbytes=8192, offset=0}`.
fn submitted(all: &str) -> (f64, f64, f64) {
    let after = |key: &str| -> Vec<f64> {
        all.match_indices(key)
            .filter_map(|(at, _)| {
                let rest = all.get(at + key.len()..)?;
                integer(rest.split([',', '}', ']', ' ']).next()?)
            })
            .collect()
    };
    let sizes = after("nbytes=");
    let bytes = if sizes.is_empty() { f64::NAN } else { sizes.iter().sum() };
    let lower = all.to_ascii_lowercase();
    let is_write = match (lower.contains("pread"), lower.contains("pwrite")) {
        (true, false) => 0.0,
        (false, true) => 1.0,
        _ => f64::NAN,
    };
    (bytes, after("offset=").first().copied().unwrap_or(f64::NAN), is_write)
}

/// Page size of `MAP_HUGETLB|21<<MAP_HUGE_SHIFT`, `MAP_HUGE_2MB`, `SHM_HUGETLB|SHM_HUGE_1GB`.
fn huge_page(flags: &str) -> f64 {
    for flag in flags.split('|') {
        if let Some((bits, "MAP_HUGE_SHIFT" | "SHM_HUGE_SHIFT")) = flag.split_once("<<") {
            return integer(bits).filter(|b| *b < 64.0).map_or(f64::NAN, |b| b.exp2());
        }
        let named = flag.strip_prefix("MAP_HUGE_").or_else(|| flag.strip_prefix("SHM_HUGE_"));
        if let Some(size) = named.and_then(|size| crate::text::number::scaled(size, 1024.0)) {
            return size;
        }
    }
    f64::NAN
}

/// `mha_pagesize=524288` or `pagesize=0x80000`, where truss -v prints the advice.
fn page_size(argument: &str) -> Option<f64> {
    let (_, size) = argument.split_once("pagesize=")?;
    integer(size.trim_start().split([',', ' ', '}', '\t']).next()?)
}

/// Path and flags of a file that was opened.
pub(super) fn opened(call: &Call<'_>) -> Option<(String, String)> {
    let path = call.arguments.iter().position(|a| a.starts_with('"'))?;
    let flags = call.arguments.get(path + 1)?;
    // openat2 has them in a structure.
    let flags = flags.split_once("flags=").map_or(*flags, |(_, f)| f.split([',', '}']).next().unwrap_or(f));
    let path = call.arguments.get(path)?.trim_matches(['"', '.']).to_owned();
    flags.starts_with("O_").then(|| (path, flags.to_owned()))
}
