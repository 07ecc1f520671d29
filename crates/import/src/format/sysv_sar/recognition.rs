//! What this sar is recognised by: its banner, a header that no other tool prints, or rows of disks alone.

use super::activity::{header, is_device_header, time};
use super::banner::Banner;
use super::dialect::evidence;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;

/// The columns of `sar -d`; the unit of one of them only a header tells.
pub(super) const BARE: [&str; 7] = ["device", "%busy", "avque", "r+w/s", "blks/s|Kbs/s", "avwait", "avserv"];

/// How much a text looks like this sar.
pub(super) fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| Banner::read(l).is_some()) {
        return Likeness::by_line(93, "banner", line);
    }
    let told = |l: &str| is_device_header(&words(l)) || header(l, false).is_some_and(|(_, n)| is_known(&n));
    let Some(line) = head.find(told) else { return recognise_bare(head) };
    let likeness = Likeness::by_line(92, "header without a banner", line)?;
    let device = header(line.1, false).is_some_and(|(_, names)| is_device_header(&names));
    let doubt = "the columns avque and avwait mean different things on Solaris, HP-UX and AIX, and no banner tells the \
                 platform: the rows decide";
    Some(if device { likeness.with_ambiguity(doubt) } else { likeness })
}

/// Rows of the disks and nothing else: a part of a longer text.
fn recognise_bare(head: &Head<'_>) -> Option<Likeness> {
    let cells = |line: &str| {
        let mut cells = words(line);
        if cells.first().is_some_and(|w| time(w).is_some() || *w == "Average") {
            cells.remove(0);
        }
        is_bare_row(&cells)
    };
    let (rows, filled) = (head.count(cells), head.count(|l| !l.trim().is_empty()));
    let timed = head.count(|l| words(l).first().is_some_and(|w| time(w).is_some()));
    if rows < 3 || rows * 10 < filled * 8 || timed == 0 {
        return None;
    }
    Likeness::new(45, format!("{rows} rows of a disk and six numbers, as sar -d prints them, and no header"))
}

/// A disk of a platform that its name or its numbers tell, and six numbers.
pub(super) fn is_bare_row(cells: &[&str]) -> bool {
    let Some((name, figures)) = cells.split_first() else { return false };
    figures.len() + 1 == BARE.len()
        && decimal(name).is_none()
        && figures.iter().all(|f| decimal(f).is_some())
        && evidence(&BARE, name, figures).is_some()
}

/// Whether a line begins this sar and nothing else.
pub(super) fn begins(line: &str) -> bool {
    Banner::read(line).is_some() || header(line, false).is_some_and(|(_, names)| is_known(&names))
}

/// Headers that no other tool prints.
fn is_known(names: &[&str]) -> bool {
    is_device_header(names)
        || names.starts_with(&["%usr", "%sys", "%wio", "%idle"])
        || names.starts_with(&["cpu", "%usr", "%sys", "%wio", "%idle"])
        || names.starts_with(&["runq-sz", "%runocc"])
}
