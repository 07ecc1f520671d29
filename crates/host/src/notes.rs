//! Reading small kernel files while keeping a list of complaints.
//!
//! Three states are kept apart: absent (this kernel or driver has no such file: no complaint), unreadable or absurd
//! (a complaint with the file), and present.

use crate::root::Root;
use std::fmt::Display;
use std::io::ErrorKind;
use std::str::FromStr;

/// Longest text kept from one file: `io.max` of a host with hundreds of LUNs is the longest honest one.
const TEXT_MAX_CHARS: usize = 1 << 16;

/// Complaints kept at most; a broken tree must not fill memory.
const COMPLAINTS_MAX: usize = 200;

/// A root and what went wrong while reading it.
pub(crate) struct Notes<'a> {
    pub root: &'a Root,
    pub complaints: Vec<String>,
}

impl<'a> Notes<'a> {
    pub fn new(root: &'a Root) -> Self {
        Self { root, complaints: Vec::new() }
    }

    pub fn complain(&mut self, text: impl Display) {
        let text = text.to_string();
        if self.complaints.len() < COMPLAINTS_MAX && !self.complaints.contains(&text) {
            self.complaints.push(text);
        }
    }

    /// Text of a file that may be absent. An empty file is absent: kernel files without a value print nothing.
    pub fn text(&mut self, path: &str) -> Option<String> {
        match self.root.text(path) {
            Ok(text) => Some(clean(&text)).filter(|t| !t.is_empty()),
            Err(e) if absent(&e) => None,
            Err(e) => {
                self.complain(format_args!("{path}: cannot be read: {e}"));
                None
            }
        }
    }

    /// Text of a file that every kernel has.
    pub fn expected_text(&mut self, path: &str) -> Option<String> {
        let text = self.text(path);
        if text.is_none() {
            self.complain(format_args!("{path}: expected a value, found nothing"));
        }
        text
    }

    /// A number in a file that may be absent; anything else in it is a complaint.
    pub fn number<T: FromStr>(&mut self, path: &str) -> Option<T> {
        let text = self.text(path)?;
        let number = text.parse().ok();
        if number.is_none() {
            self.complain(format_args!("{path}: expected a number, found '{}'", shortened(&text)));
        }
        number
    }

    /// Last component of where a symbolic link points.
    pub fn link_name(&mut self, path: &str) -> Option<String> {
        let target = self.root.link(path).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }
}

/// Whether an error says that this kernel or driver simply has nothing there: no such file, or (EINVAL, EOPNOTSUPP,
/// ENODEV, ENXIO) a file whose subject is switched off, as `wbt_lat_usec` without writeback throttling.
fn absent(e: &std::io::Error) -> bool {
    let off = [libc::EINVAL, libc::EOPNOTSUPP, libc::ENODEV, libc::ENXIO, libc::ENOTDIR];
    e.kind() == ErrorKind::NotFound || e.raw_os_error().is_some_and(|code| off.contains(&code))
}

/// First line-ish text fit to be shown: no control characters but the newline, trimmed, bounded.
fn clean(text: &str) -> String {
    let shown: String = text
        .trim()
        .chars()
        .filter(|c| !c.is_control() || *c == '\n' || *c == '\t')
        .take(TEXT_MAX_CHARS)
        .collect();
    shown.trim().to_owned()
}

/// The start of a text, for a complaint.
pub(crate) fn shortened(text: &str) -> String {
    let start: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > 40 { format!("{start}...") } else { start }
}
