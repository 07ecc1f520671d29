//! Rows of the tree, cut into the columns of their header. Columns are counted in characters: the tree is drawn with
//! characters of several bytes.

use super::device::column;
use crate::format::linux::device;
use record::imported::PlaceKind;

/// The header.
pub(super) struct Header {
    columns: Vec<Column>,
    /// The header has no two blanks in a row.
    collapsed: bool,
}

struct Column {
    name: String,
    start: usize,
    end: usize,
}

/// A row.
pub(super) struct Row {
    /// How deep it stands in the tree; 0 for a device that stands on none.
    pub depth: usize,
    /// Names of columns and what stands in them.
    pub cells: Vec<(String, String)>,
}

/// Words with the characters from which to which they reach.
fn words_at(line: &str) -> Vec<(usize, usize, String)> {
    let mut words: Vec<(usize, usize, String)> = Vec::new();
    let mut open = false;
    for (at, c) in line.chars().enumerate() {
        if c.is_whitespace() {
            open = false;
        } else if let (true, Some((_, end, word))) = (open, words.last_mut()) {
            word.push(c);
            *end = at + 1;
        } else {
            words.push((at, at + 1, c.to_string()));
            open = true;
        }
    }
    words
}

const TREE: [char; 10] = ['|', '`', '-', '├', '└', '─', '│', ' ', '+', '┬'];

impl Header {
    /// Of a header line.
    pub fn new(line: &str) -> Self {
        let columns = words_at(line)
            .into_iter()
            .map(|(start, end, name)| Column { name: column(&name), start, end })
            .collect();
        Self { columns, collapsed: !line.trim_end().contains("  ") }
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|c| c.name == name)
    }

    /// A row; absent when the line is none.
    pub fn row(&self, line: &str) -> Option<Row> {
        let bare = line.trim_start_matches(TREE);
        let drawn = line.chars().count() - bare.chars().count();
        let mut words = words_at(bare);
        for (start, end, _) in &mut words {
            *start += drawn;
            *end += drawn;
        }
        // `(dm-0)` belongs to the name.
        if words.get(1).is_some_and(|(_, _, w)| w.starts_with("(dm-") && w.ends_with(')')) {
            let (_, end, second) = words.remove(1);
            let first = words.first_mut()?;
            first.1 = end;
            first.2 = format!("{} {second}", first.2);
        }
        let is_device = || drawn > 0 || device::kind(bare.trim()) != PlaceKind::Volume;
        if words.is_empty() || words.len() < 2 && self.columns.len() > 2 && !is_device() {
            return None;
        }
        // Where blanks were lost, the order of the columns is all there is.
        let cells = if self.collapsed && words.len() == self.columns.len() && !bare.trim_end().contains("  ")
        {
            self.columns.iter().map(|c| c.name.clone()).zip(words.into_iter().map(|w| w.2)).collect()
        } else {
            self.aligned(words)
        };
        Some(Row { depth: drawn / 2, cells })
    }

    /// Words by where they stand: numbers end where their header ends, texts begin where it begins.
    fn aligned(&self, words: Vec<(usize, usize, String)>) -> Vec<(String, String)> {
        let mut cells: Vec<(String, String)> = Vec::new();
        let mut last = 0;
        for (n, (start, end, word)) in words.into_iter().enumerate() {
            let later = self.columns.iter().enumerate().skip(last + usize::from(n > 0));
            let exact = |c: &Column| c.start == start || c.end == end;
            let overlaps = |c: &Column| start < c.end && end > c.start;
            let at = if n == 0 {
                Some(0)
            } else {
                later
                    .clone()
                    .find(|(_, c)| exact(c))
                    .or_else(|| later.clone().find(|(_, c)| overlaps(c)))
                    .map(|(at, _)| at)
            };
            match (at, cells.last_mut()) {
                (Some(at), _) => {
                    last = at;
                    if let Some(column) = self.columns.get(at) {
                        cells.push((column.name.clone(), word));
                    }
                }
                // A text with blanks goes on.
                (None, Some((_, text))) => {
                    text.push(' ');
                    text.push_str(&word);
                }
                (None, None) => {}
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_where_words_stand() {
        let header = Header::new("NAME   MAJ:MIN RM  SIZE MODEL            SCHED    RQ-SIZE");
        let row = header.row("sda      8:0    0   20G VMware Virtual S deadline     128").unwrap();
        let cell = |name: &str| row.cells.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(
            (cell("MODEL"), cell("SCHED"), cell("RQ-SIZE")),
            (Some("VMware Virtual S"), Some("deadline"), Some("128"))
        );
        let row = header.row("└─sda1   8:1    0    1G                           128").unwrap();
        assert_eq!(row.depth, 1);
        let row = header.row("└─sda1   8:1    0    1G                               128").unwrap();
        let names: Vec<&str> = row.cells.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["NAME", "MAJ-MIN", "RM", "SIZE", "RQ-SIZE"]);
    }
}
