//! Names of wait events that a column cut off.

use std::collections::BTreeSet;
use std::ops::Bound;

/// Long names of events that storage work meets: the text reports cut them at 25 to 30 characters.
const LONG: [&str; 33] = [
    "ASM file metadata operation",
    "SQL*Net message from client",
    "SQL*Net message from dblink",
    "SQL*Net more data from client",
    "SQL*Net more data to client",
    "buffer latch contention on exclusive access",
    "cell list of blocks physical read",
    "cell multiblock physical read",
    "cell single block physical read",
    "cell smart file creation",
    "cell smart table scan",
    "control file heartbeat",
    "control file parallel write",
    "control file sequential read",
    "control file single write",
    "db file parallel write",
    "direct path read temp",
    "direct path write temp",
    "enq: CF - contention",
    "enq: TX - allocate ITL entry",
    "enq: TX - index contention",
    "enq: TX - row lock contention",
    "gc current grant read-mostly invalidation",
    "gc current multi block request",
    "gc cr multi block request",
    "latch: cache buffers chains",
    "latch: cache buffers lru chain",
    "log buffer space",
    "log file switch (archiving needed)",
    "log file switch (checkpoint incomplete)",
    "log file switch (private strand flush incomplete)",
    "log file switch completion",
    "log file sequential read",
];

/// Names met so far, so that one that is cut finds its whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    met: BTreeSet<String>,
}

/// Names that are kept: more than a database has events.
const MET_MAX: usize = 5000;

impl Names {
    /// The whole name of one that fills a column of this width; itself where there is none, or more than one.
    pub(crate) fn whole(&mut self, name: &str, width: Option<usize>) -> String {
        let length = name.chars().count();
        if width.is_none_or(|width| length + 1 < width) {
            self.remember(name);
            return name.to_owned();
        }
        let longer = |known: &&str| known.len() > name.len() && known.starts_with(name);
        let mut found: Vec<&str> = LONG.iter().copied().filter(longer).collect();
        let after = self.met.range::<str, _>((Bound::Excluded(name), Bound::Unbounded));
        found.extend(after.map(String::as_str).take_while(|met| met.starts_with(name)));
        found.sort_unstable();
        found.dedup();
        // A cut name that was met before may itself begin a longer one.
        let longest = found.iter().max_by_key(|f| f.len()).copied().unwrap_or(name);
        let whole = if found.iter().all(|f| longest.starts_with(f)) { longest } else { name }.to_owned();
        self.remember(&whole);
        whole
    }

    fn remember(&mut self, name: &str) {
        if self.met.len() < MET_MAX && name.len() >= 20 && !self.met.contains(name) {
            self.met.insert(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_names_find_their_whole() {
        let mut names = Names::default();
        assert_eq!(names.whole("control file sequential re", Some(26)), "control file sequential read");
        assert_eq!(names.whole("db file sequential read", Some(26)), "db file sequential read");
        assert_eq!(
            names.whole("a name of some forty letters or so", None),
            "a name of some forty letters or so"
        );
        assert_eq!(names.whole("a name of some forty lett", Some(25)), "a name of some forty letters or so");
        assert_eq!(names.whole("log file switch (", Some(17)), "log file switch (");
        assert_eq!(names.whole("direct path read", Some(26)), "direct path read");
    }
}
