//! `/proc/PID/fdinfo/FD` (proc(5)): how a file is open, and the state of an io_uring ring.

use record::SyncFlag;

/// How a descriptor is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags {
    pub direct: bool,
    pub sync: SyncFlag,
    pub writable: bool,
    /// O_PATH: a name held, no file opened.
    pub path_only: bool,
    /// O_DIRECTORY.
    pub directory: bool,
    /// Number of the mount it lies on; absent before 3.15.
    pub mount: Option<u64>,
}

/// Flags of an open file; absent where the text tells none.
pub(super) fn flags(text: &str) -> Option<Flags> {
    let bits = i32::from_str_radix(field(text, "flags")?, 8).ok()?;
    let sync = match bits & libc::O_SYNC {
        both if both == libc::O_SYNC => SyncFlag::Sync,
        some if some & libc::O_DSYNC != 0 => SyncFlag::Dsync,
        _ => SyncFlag::None,
    };
    Some(Flags {
        direct: bits & libc::O_DIRECT != 0,
        sync,
        writable: matches!(bits & libc::O_ACCMODE, libc::O_WRONLY | libc::O_RDWR),
        path_only: bits & libc::O_PATH != 0,
        directory: bits & libc::O_DIRECTORY != 0,
        mount: field(text, "mnt_id").and_then(|id| id.parse().ok()),
    })
}

/// A ring at one instant. The counters wrap at 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    pub entries: Option<u64>,
    /// Submissions the kernel took.
    taken: Option<u32>,
    /// Completions it posted.
    pub posted: Option<u32>,
    pub polled: bool,
}

impl Ring {
    /// Taken and not completed. A request that yields no completion, or several, shifts it for good; more than a ring
    /// can ever hold is therefore not believed.
    pub fn outstanding(&self) -> Option<u64> {
        let standing = self.taken?.wrapping_sub(self.posted?);
        (standing < 1 << 24).then_some(u64::from(standing))
    }
}

/// The state of a ring.
pub(super) fn ring(text: &str) -> Ring {
    let number = |name: &str| field(text, name).and_then(|v| v.parse::<u32>().ok());
    let mask = field(text, "SqMask").and_then(|v| u32::from_str_radix(v.strip_prefix("0x")?, 16).ok());
    Ring {
        entries: mask.map(|m| u64::from(m) + 1),
        taken: number("CachedSqHead"),
        posted: number("CachedCqTail"),
        polled: field(text, "SqThread").and_then(|v| v.parse::<i64>().ok()).is_some_and(|id| id >= 0),
    }
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// A libaio context by its mapping in `/proc/PID/maps`: where its ring begins, and most I/Os it may hold.
///
/// A ring of pages holds a head of 32 bytes and 32 bytes for each event, one of which stays free (fs/aio.c).
pub(super) fn aio_context(line: &str) -> Option<(u64, u64)> {
    if !line.contains(" /[aio]") {
        return None;
    }
    let (from, to) = line.split_ascii_whitespace().next()?.split_once('-')?;
    let from = u64::from_str_radix(from, 16).ok()?;
    let bytes = u64::from_str_radix(to, 16).ok()?.checked_sub(from)?;
    Some((from, (bytes / 32).checked_sub(2)?))
}

/// Bytes of the head of a libaio ring that are read.
pub(super) const AIO_HEAD_BYTES: usize = 20;

/// Where the next completion goes in a libaio ring: the fourth word of its head, if the fifth is the kernel's mark.
pub(super) fn aio_tail(head: [u8; AIO_HEAD_BYTES]) -> Option<u32> {
    let word = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
    if word(16)? == 0xa10a_10a1 { word(12) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flags_tell_direct_and_synchronous() {
        let text = |bits: i32| format!("pos:\t0\nflags:\t0{bits:o}\nmnt_id:\t27\nino:\t5\n");
        let f = flags(&text(libc::O_RDWR | libc::O_DIRECT | libc::O_DSYNC)).unwrap();
        assert_eq!((f.direct, f.sync, f.writable, f.mount), (true, SyncFlag::Dsync, true, Some(27)));
        let f = flags(&text(libc::O_WRONLY | libc::O_SYNC)).unwrap();
        assert_eq!((f.direct, f.sync, f.writable), (false, SyncFlag::Sync, true));
        let f = flags(&text(libc::O_RDONLY)).unwrap();
        assert_eq!((f.direct, f.sync, f.writable, f.path_only), (false, SyncFlag::None, false, false));
        assert_eq!((flags("pos: 0"), flags("flags: 09x")), (None, None));
    }

    const RING: &str = "flags:\t02000002\nSqMask:\t0x7\nSqHead:\t48087\nSqTail:\t48087\nCachedSqHead:\t48087\nCqMask:\t0xf\n\
        CqHead:\t48079\nCqTail:\t48079\nCachedCqTail:\t48079\nSQEs:\t0\nCQEs:\t0\nSqThread:\t-1\n";

    #[test]
    fn a_ring_tells_how_many_are_outstanding() {
        let seen = ring(RING);
        assert_eq!((seen.entries, seen.outstanding(), seen.polled), (Some(8), Some(8), false));
        let wrapped = RING.replace("CachedSqHead:\t48087", "CachedSqHead:\t3");
        let wrapped = wrapped.replace("CachedCqTail:\t48079", "CachedCqTail:\t4294967292");
        assert_eq!(ring(&wrapped).outstanding(), Some(7));
        assert!(ring(&RING.replace("SqThread:\t-1", "SqThread:\t77")).polled);
        let old = ring("pos:\t0\nflags:\t02\nUserFiles:\t0\n");
        assert_eq!((old.entries, old.outstanding(), old.posted), (None, None, None));
        assert_eq!(ring(&RING.replace("CachedCqTail:\t48079", "CachedCqTail:\t48090")).outstanding(), None);
    }

    #[test]
    fn an_aio_mapping_tells_its_limit() {
        let line = "7f4ae540f000-7f4ae5410000 rw-s 00000000 00:13 597236   /[aio] (deleted)";
        assert_eq!(aio_context(line), Some((0x7f4a_e540_f000, 126)));
        assert_eq!(aio_context(&line.replace("/[aio]", "/lib/libaio.so.1")), None);
        assert_eq!(aio_context("2-1 rw-s 0 00:13 1 /[aio] (deleted)"), None);
    }

    #[test]
    fn the_tail_of_a_libaio_ring_is_believed_with_its_mark_only() {
        let mut head = [0; AIO_HEAD_BYTES];
        head[12] = 77;
        assert_eq!(aio_tail(head), None);
        head[16..].copy_from_slice(&0xa10a_10a1_u32.to_ne_bytes());
        assert_eq!(aio_tail(head), Some(77));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "((flags|SqMask|CachedSqHead|CachedCqTail|SqThread|mnt_id):?\\PC{0,24}\n){0,6}", maps in "\\PC*") {
            let _ = (flags(&text), ring(&text).outstanding(), aio_context(&maps), aio_context(&format!("{maps} /[aio]")));
        }
    }
}
