//! What a thread is doing: `/proc/PID/task/TID/syscall` (proc(5)) to a call, its descriptor and its size.

use record::CallKind;

/// A thread at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// On a processor, or about to be: the kernel tells no more.
    Running,
    /// Waiting in a call that does I/O on files.
    Io(IoCall),
    /// Waiting for something else.
    Other,
}

/// A call and what its arguments tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IoCall {
    pub name: &'static str,
    pub kind: CallKind,
    /// The file; absent for calls that serve many.
    pub fd: Option<u32>,
    /// Bytes asked for; absent where the call points to a list of buffers.
    pub size_bytes: Option<u64>,
}

/// Where a call names its file and its size.
#[derive(Clone, Copy)]
enum Tells {
    FileAndSize,
    File,
    Nothing,
}

/// A call that libc does not name on every architecture: that of x86-64, else that of all newer ones.
const IO_PGETEVENTS: i64 = if cfg!(target_arch = "x86_64") { 333 } else { 292 };

/// Numbers are those of the architecture this was built for; a 32-bit program on a 64-bit kernel is misread.
const CALLS: [(i64, &str, CallKind, Tells); 18] = [
    (libc::SYS_read, "read", CallKind::Read, Tells::FileAndSize),
    (libc::SYS_pread64, "pread64", CallKind::Read, Tells::FileAndSize),
    (libc::SYS_readv, "readv", CallKind::Read, Tells::File),
    (libc::SYS_preadv, "preadv", CallKind::Read, Tells::File),
    (libc::SYS_preadv2, "preadv2", CallKind::Read, Tells::File),
    (libc::SYS_write, "write", CallKind::Write, Tells::FileAndSize),
    (libc::SYS_pwrite64, "pwrite64", CallKind::Write, Tells::FileAndSize),
    (libc::SYS_writev, "writev", CallKind::Write, Tells::File),
    (libc::SYS_pwritev, "pwritev", CallKind::Write, Tells::File),
    (libc::SYS_pwritev2, "pwritev2", CallKind::Write, Tells::File),
    (libc::SYS_fsync, "fsync", CallKind::Flush, Tells::File),
    (libc::SYS_fdatasync, "fdatasync", CallKind::Flush, Tells::File),
    (libc::SYS_sync_file_range, "sync_file_range", CallKind::Flush, Tells::File),
    (libc::SYS_syncfs, "syncfs", CallKind::Flush, Tells::File),
    (libc::SYS_io_submit, "io_submit", CallKind::Libaio, Tells::Nothing),
    (libc::SYS_io_getevents, "io_getevents", CallKind::Libaio, Tells::Nothing),
    (IO_PGETEVENTS, "io_pgetevents", CallKind::Libaio, Tells::Nothing),
    (libc::SYS_io_uring_enter, "io_uring_enter", CallKind::IoUring, Tells::Nothing),
];

/// Largest size of one call that is believed: the kernel cuts calls off at 2 GiB.
const SIZE_MAX_BYTES: u64 = 1 << 31;

/// One line of `syscall`; absent where it is no such line.
pub(super) fn parse(line: &str) -> Option<Doing> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    if first == "running" {
        return Some(Doing::Running);
    }
    let number: i64 = first.parse().ok()?;
    let Some(&(_, name, kind, tells)) = CALLS.iter().find(|(n, ..)| *n == number) else {
        return Some(Doing::Other);
    };
    let arguments: Vec<u64> =
        words.map_while(|w| u64::from_str_radix(w.strip_prefix("0x")?, 16).ok()).collect();
    let fd = || arguments.first().and_then(|fd| u32::try_from(*fd).ok()).filter(|fd| *fd <= i32::MAX as u32);
    let size_bytes = || arguments.get(2).copied().filter(|size| *size <= SIZE_MAX_BYTES);
    Some(Doing::Io(match tells {
        Tells::FileAndSize => IoCall { name, kind, fd: fd(), size_bytes: size_bytes() },
        Tells::File => IoCall { name, kind, fd: fd(), size_bytes: None },
        Tells::Nothing => IoCall { name, kind, fd: None, size_bytes: None },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_read_tells_its_file_and_size() {
        let line =
            format!("{} 0x7 0x564acdf68000 0x2000 0x1df0000 0x0 0x0 0x7fff1 0x7fbf", libc::SYS_pread64);
        let read = IoCall { name: "pread64", kind: CallKind::Read, fd: Some(7), size_bytes: Some(8192) };
        assert_eq!(parse(&line), Some(Doing::Io(read)));
        let line = format!("{} 0x9 0x5600 0x4 0x0 0x0 0x0 0x7fff1 0x7fbf", libc::SYS_pwritev);
        let write = IoCall { name: "pwritev", kind: CallKind::Write, fd: Some(9), size_bytes: None };
        assert_eq!(parse(&line), Some(Doing::Io(write)), "a number of buffers is no size");
    }

    #[test]
    fn other_states_are_told_apart() {
        assert_eq!(parse("running"), Some(Doing::Running));
        assert_eq!(parse("-1 0x7ffd 0x7f12"), Some(Doing::Other));
        assert_eq!(parse(&format!("{} 0x0", libc::SYS_nanosleep)), Some(Doing::Other));
        assert_eq!((parse(""), parse("what is it")), (None, None));
        let Some(Doing::Io(call)) = parse(&format!("{}", libc::SYS_read)) else { panic!("a call") };
        assert_eq!((call.fd, call.size_bytes), (None, None), "arguments may be missing");
        let Some(Doing::Io(call)) = parse(&format!("{} 0xffffffffffffffff", libc::SYS_fsync)) else {
            panic!("a call")
        };
        assert_eq!(call.fd, None);
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC*") {
            let _ = parse(&line);
        }

        #[test]
        fn no_numbers_panic(number in any::<i64>(), words in proptest::collection::vec("(0x)?[0-9a-fA-F]{0,20}", 0..9)) {
            let _ = parse(&format!("{number} {}", words.join(" ")));
        }
    }
}
