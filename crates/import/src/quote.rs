//! Lines by their number, read again: evidence is quoted without keeping text in memory.

use crate::source::walk;
use crate::text::blocks::Blocks;
use crate::text::shortened;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A quoted line is at most this long.
const QUOTE_MAX: usize = 300;

/// The lines wanted of each path (as a [`record::imported::Source`] names it), found below the paths that were read.
/// Standard input cannot be read again; what has changed since may quote another text.
pub fn quote(
    paths: &[impl AsRef<Path>],
    wanted: &BTreeMap<String, BTreeSet<u64>>,
) -> BTreeMap<(String, u64), String> {
    let mut found = BTreeMap::new();
    for path in paths.iter().filter(|p| p.as_ref().as_os_str() != "-") {
        walk(path.as_ref(), &mut |name, stream| {
            if let (Some(lines), Ok(stream)) = (wanted.get(name), stream) {
                of_one(name, stream, lines, &mut found);
            }
        });
    }
    found
}

fn of_one(
    name: &str,
    stream: &mut dyn std::io::Read,
    lines: &BTreeSet<u64>,
    found: &mut BTreeMap<(String, u64), String>,
) {
    let mut blocks = Blocks::new(stream);
    let mut before = 0;
    let mut next = lines.iter().peekable();
    while let (Some(_), Ok(Some(block))) = (next.peek(), blocks.next_block()) {
        let here = memchr::memchr_iter(b'\n', block.as_bytes()).count() as u64;
        let last = before + here.max(1);
        if next.peek().is_some_and(|line| **line <= last + 1) {
            let mut number = before;
            for text in block.lines() {
                number += 1;
                if next.peek().is_some_and(|line| **line == number) {
                    found.insert((name.to_owned(), number), shortened(text.trim(), QUOTE_MAX));
                    next.next();
                }
            }
        }
        before += here;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_far_into_a_file_and_at_its_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for n in 1..=100_000 {
            write!(file, "{}line {n}", if n > 1 { "\n" } else { "" }).unwrap();
        }
        let name = file.path().display().to_string();
        let wanted = BTreeMap::from([(name.clone(), BTreeSet::from([1, 65_432, 100_000]))]);
        let found = quote(&[file.path()], &wanted);
        let texts: Vec<&str> = found.values().map(String::as_str).collect();
        assert_eq!(texts, ["line 1", "line 65432", "line 100000"]);
    }
}
