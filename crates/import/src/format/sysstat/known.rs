//! Places of names, looked up without a hash: most tables repeat the order of the one before.

use crate::format::linux::device;
use crate::out::Out;
use record::imported::{PlaceId, PlaceKind};
use std::collections::HashMap;

/// Names that are kept in mind.
const NAMES_MAX: usize = 65_536;

/// Names met so far, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    names: Vec<(String, PlaceId)>,
    /// Where each stands among them, for a name that is not the one expected.
    index: HashMap<String, usize>,
    /// Which of them is expected next.
    next: usize,
}

impl Known {
    /// The host has changed: names mean other things.
    pub fn forget(&mut self) {
        self.names.clear();
        self.index.clear();
        self.next = 0;
    }

    /// A table begins.
    pub fn begin_table(&mut self) {
        self.next = 0;
    }

    /// A block device.
    #[inline]
    pub fn device(&mut self, name: &str, out: &mut Out<'_>) -> PlaceId {
        self.place(name, |name| (device::kind(name), name.to_owned()), out)
    }

    /// Anything: `what` gives kind and name of one that is met for the first time.
    #[inline]
    pub fn place(
        &mut self,
        name: &str,
        what: impl FnOnce(&str) -> (PlaceKind, String),
        out: &mut Out<'_>,
    ) -> PlaceId {
        if let Some((_, place)) = self.names.get(self.next).filter(|(known, _)| known == name) {
            self.next += 1;
            return *place;
        }
        // A table that has begun without a header.
        if let Some((_, place)) = self.names.first().filter(|(known, _)| known == name) {
            self.next = 1;
            return *place;
        }
        // Idle devices are left out by option -z: the name stands further on.
        if let Some(found) = self.index.get(name) {
            self.next = found + 1;
            return self.names[*found].1;
        }
        let (kind, own) = what(name);
        let place = out.place(kind, &own);
        if self.names.len() >= NAMES_MAX {
            return place;
        }
        self.index.insert(name.to_owned(), self.names.len());
        self.names.push((name.to_owned(), place));
        self.next = self.names.len();
        place
    }
}
