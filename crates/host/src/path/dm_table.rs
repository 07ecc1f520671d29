//! The table of a device mapper device, which only root may read: what kind of target it is, and how a multipath device
//! selects its paths (include/uapi/linux/dm-ioctl.h).
#![allow(unsafe_code, reason = "DM_TABLE_STATUS is an ioctl without a safe wrapper among our libraries")]

use crate::root::Root;
use std::fs::File;
use std::os::fd::AsRawFd;

/// `_IOWR(0xfd, 12, struct dm_ioctl)`.
const TABLE_STATUS: libc::c_ulong = 0xC138_FD0C;
/// Asks for the table instead of the status.
const STATUS_TABLE: u32 = 1 << 4;
/// The answer did not fit.
const BUFFER_FULL: u32 = 1 << 8;
/// `sizeof(struct dm_ioctl)`.
const HEAD_BYTES: usize = 312;
/// Where the name stands in it.
const NAME_AT: usize = 48;
const NAME_BYTES: usize = 128;
/// `sizeof(struct dm_target_spec)`.
const SPEC_BYTES: usize = 40;
/// A table of a thousand segments takes about 100 KiB.
const BUFFER_BYTES: usize = 1 << 18;

/// One line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableLine {
    /// `linear`, `striped`, `multipath` ...
    pub kind: String,
    /// Its parameters.
    pub parameters: String,
}

/// The table of the device of this name. `None` without root's rights, and for invented kernel folders: no ioctl can
/// be asked of those.
pub(crate) fn table(root: &Root, name: &str) -> Option<Vec<TableLine>> {
    if !root.is_system() || name.is_empty() || name.len() >= NAME_BYTES {
        return None;
    }
    let control = File::options().read(true).write(true).open("/dev/mapper/control").ok()?;
    // Words of eight bytes keep the kernel's structures aligned.
    let mut words = vec![0_u64; BUFFER_BYTES / 8];
    {
        let head = head(name);
        for (word, bytes) in words.iter_mut().zip(head.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
    }
    // SAFETY: the kernel reads and writes at most the `data_size` bytes that the head names, which is the length of
    // `words`, and keeps no reference to it after the call.
    let answer = unsafe { libc::ioctl(control.as_raw_fd(), TABLE_STATUS as _, words.as_mut_ptr()) };
    if answer < 0 {
        return None;
    }
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    lines(&bytes)
}

fn head(name: &str) -> [u8; HEAD_BYTES] {
    let mut head = [0_u8; HEAD_BYTES];
    let mut put = |at: usize, value: u32| head[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    // Version 4.0.0 of the interface, the size of the buffer, where its data begins, flags.
    put(0, 4);
    put(12, BUFFER_BYTES as u32);
    put(16, HEAD_BYTES as u32);
    put(28, STATUS_TABLE);
    head[NAME_AT..NAME_AT + name.len()].copy_from_slice(name.as_bytes());
    head
}

/// The lines of an answer; `None` when it is torn or did not fit.
fn lines(bytes: &[u8]) -> Option<Vec<TableLine>> {
    let number = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (start, count, flags) = (number(16)? as usize, number(20)?, number(28)?);
    if flags & BUFFER_FULL != 0 {
        return None;
    }
    let mut lines = Vec::new();
    let mut at = start;
    for _ in 0..count {
        let kind = text(bytes.get(at + 24..at + SPEC_BYTES)?);
        let parameters = text(bytes.get(at + SPEC_BYTES..)?);
        lines.push(TableLine { kind, parameters });
        // Offsets of the next line count from the first.
        let next = start + number(at + 20)? as usize;
        if next <= at {
            break;
        }
        at = next;
    }
    Some(lines)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// The selector of the first path group: after counted features, a counted hardware handler, the number of groups and
/// the next one to try.
pub(crate) fn path_selector(parameters: &str) -> Option<String> {
    let mut words = parameters.split_ascii_whitespace();
    for _ in 0..2 {
        let counted: usize = words.next()?.parse().ok()?;
        if counted > 0 {
            words.nth(counted - 1)?;
        }
    }
    let groups: u32 = words.next()?.parse().ok()?;
    words.next()?;
    let selector = words.next().filter(|_| groups > 0)?;
    selector.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| selector.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selector_stands_after_features_and_handler() {
        // As printed by kernels 6.1 and 6.12.
        for (table, selector) in [
            ("0 0 1 1 service-time 0 2 2 8:0 1 1 8:16 1 1 ", "service-time"),
            ("2 queue_mode bio 0 1 1 round-robin 0 2 1 8:0 1 8:16 1", "round-robin"),
            (
                "1 queue_if_no_path 1 alua 2 1 queue-length 0 1 1 8:0 1 queue-length 0 1 1 8:16 1",
                "queue-length",
            ),
        ] {
            assert_eq!(path_selector(table).as_deref(), Some(selector), "{table}");
        }
    }

    #[test]
    fn a_torn_table_has_no_selector() {
        for table in ["", "x", "9 a b", "0 0", "0 0 0 0", "0 0 1 1", "0 0 1 1 2 3"] {
            assert_eq!(path_selector(table), None, "{table}");
        }
    }

    fn answer(flags: u32, targets: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = head("mp").to_vec();
        bytes[20..24].copy_from_slice(&(targets.len() as u32).to_ne_bytes());
        bytes[28..32].copy_from_slice(&flags.to_ne_bytes());
        for (kind, parameters) in targets {
            let mut spec = [0_u8; SPEC_BYTES];
            spec[24..24 + kind.len()].copy_from_slice(kind.as_bytes());
            let padded = (parameters.len() + 1).next_multiple_of(8);
            let next = (bytes.len() - HEAD_BYTES + SPEC_BYTES + padded) as u32;
            spec[20..24].copy_from_slice(&next.to_ne_bytes());
            bytes.extend(spec);
            bytes.extend(parameters.as_bytes());
            bytes.resize(bytes.len() + padded - parameters.len(), 0);
        }
        bytes
    }

    #[test]
    fn lines_follow_each_other_by_their_offsets() {
        let bytes = answer(0, &[("linear", "8:0 0"), ("striped", "2 128 8:0 0 8:16 0")]);
        let found = lines(&bytes).unwrap();
        assert_eq!((found[0].kind.as_str(), found[0].parameters.as_str()), ("linear", "8:0 0"));
        assert_eq!((found[1].kind.as_str(), found[1].parameters.as_str()), ("striped", "2 128 8:0 0 8:16 0"));
    }

    #[test]
    fn an_answer_that_did_not_fit_or_is_torn_is_no_table() {
        assert_eq!(lines(&answer(BUFFER_FULL, &[("linear", "8:0 0")])), None);
        let whole = answer(0, &[("multipath", "0 0 1 1 service-time 0 2 2 8:0 1 1 8:16 1 1")]);
        for length in [0, 40, HEAD_BYTES, HEAD_BYTES + 30] {
            assert_eq!(lines(&whole[..length]), None, "{length}");
        }
    }
}
