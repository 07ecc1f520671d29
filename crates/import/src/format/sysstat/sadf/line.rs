//! What the lines of `sadf -d` and `sadf -p` begin with: host, interval, time.

use super::time::moment;
use crate::out::Out;
use record::imported::{EventKind, Host, Interval, PlaceKind, Platform, RowsKind};

/// The beginning of a line, told to `out` when it differs from the one before.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// As written, with the separator after it.
    text: String,
    host: String,
    at_s: f64,
    /// Seconds; -1 for what is no interval.
    length_s: f64,
}

impl Beginning {
    /// The rest of a line that begins like the one before.
    #[inline]
    pub fn same<'l>(&self, line: &'l str) -> Option<&'l str> {
        if self.text.is_empty() { None } else { line.strip_prefix(self.text.as_str()) }
    }

    /// The rest of a line; absent when it does not begin with host, interval and time. `true` when the host is another.
    pub fn read<'l>(&mut self, line: &'l str, separator: char, out: &mut Out<'_>) -> Option<(&'l str, bool)> {
        let mut at = 0;
        let mut field = || {
            let rest = line.get(at..)?;
            let end = rest.find(separator)?;
            at += end + 1;
            Some(&rest[..end])
        };
        let (host, length, time) = (field()?, field()?, field()?);
        let length_s: f64 = length.parse().ok()?;
        let (at_s, basis) = moment(time)?;
        let is_new_host = self.host != host || self.text.is_empty();
        if is_new_host {
            self.host = host.to_owned();
            out.host(Host {
                name: Some(host.to_owned()).filter(|h| !h.is_empty()),
                platform: Platform::Linux,
                ..Host::default()
            });
        }
        self.text.clear();
        self.text.push_str(&line[..at]);
        (self.at_s, self.length_s) = (at_s, length_s);
        let known = if length_s > 0.0 { length_s } else { f64::NAN };
        out.interval(Interval { at_s, length_s: known, basis, kind: RowsKind::Interval });
        Some((&line[at..], is_new_host))
    }

    /// Restarts and comments stand where a name stands otherwise: `LINUX-RESTART`, `COM text`. Whether it was one.
    pub fn event(&self, rest: &str, out: &mut Out<'_>) -> bool {
        let (kind, text) = match rest.strip_prefix("COM ") {
            Some(comment) => (EventKind::Other, comment.trim()),
            None if rest.starts_with("LINUX-RESTART") || rest.starts_with("LINUX RESTART") => {
                (EventKind::Restart, rest.trim())
            }
            None => return false,
        };
        let host = out.place(PlaceKind::Host, "");
        out.event(host, kind, self.at_s, text);
        true
    }
}
