//! A line of dashes under column headings, and the cells of lines below it.

/// Columns of a ruler, and words of a line, that are looked at: no table has as many.
const SPANS_MAX: usize = 64;
const WORDS_MAX: usize = 1000;

/// Where columns stand, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ruler {
    /// First character of each column, and one past its last.
    spans: Vec<(usize, usize)>,
}

/// What a line of dashes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dashes {
    /// Under column headings.
    Ruler(Ruler),
    /// A single run that is indented: it ends a table, or spans some of its columns.
    Indented(Ruler),
}

impl Ruler {
    /// Reads a line of dashes; tildes count as dashes (Statspack). Absent when it has anything else.
    pub(super) fn read(line: &str) -> Option<Dashes> {
        let line = line.trim_end();
        if line.is_empty() || !line.bytes().all(|b| matches!(b, b'-' | b'~' | b' ' | b'=')) {
            return None;
        }
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut start = None;
        for (at, byte) in line.bytes().chain([b' ']).enumerate() {
            match (byte == b' ', start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    spans.push((from, at));
                    start = None;
                }
                _ => {}
            }
        }
        if spans.len() > SPANS_MAX {
            return None;
        }
        let is_single = spans.len() == 1;
        let (first, end) = *spans.first()?;
        if is_single && first >= 4 {
            return Some(Dashes::Indented(Self { spans }));
        }
        (end - first >= 3 || spans.len() >= 3).then_some(Dashes::Ruler(Self { spans }))
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        self.spans.len()
    }

    /// Characters that each column is wide.
    pub(super) fn widths(&self) -> Vec<usize> {
        self.spans.iter().map(|(from, to)| to - from).collect()
    }

    /// Cells of a line. Each word belongs to the column that it overlaps most, or to the nearest: numbers that are too long
    /// for their column reach out of it.
    pub(super) fn cells(&self, line: &str) -> Vec<String> {
        let plain = crate::text::words(line);
        if plain.len() == self.spans.len() && plain.iter().all(|w| super::value::is_numeric(w)) {
            // A number for each column: wherever they stand.
            return plain.into_iter().map(str::to_owned).collect();
        }
        let mut cells = vec![String::new(); self.spans.len()];
        for (from, word) in words(line) {
            let to = from + word.chars().count();
            let overlap = |span: &(usize, usize)| {
                let shared = to.min(span.1) as i64 - from.max(span.0) as i64;
                // Not shared: the nearer the better.
                shared.min((to - from) as i64)
            };
            let best = self.spans.iter().enumerate().max_by_key(|(n, s)| (overlap(s), std::cmp::Reverse(*n)));
            if let Some((at, _)) = best {
                if !cells[at].is_empty() {
                    cells[at].push(' ');
                }
                cells[at].push_str(word);
            }
        }
        cells
    }

    /// Labels of the columns, of the lines above.
    pub(super) fn labels(&self, above: &[String]) -> Vec<String> {
        let mut labels = vec![String::new(); self.spans.len()];
        for line in above {
            for (label, part) in labels.iter_mut().zip(self.cells(line)) {
                let is_dashes = part.bytes().all(|b| matches!(b, b'-' | b'~'));
                if !is_dashes {
                    label.push_str(&part);
                    label.push(' ');
                }
            }
        }
        labels.iter().map(|l| l.trim().to_owned()).collect()
    }
}

/// Words with the character at which each begins.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let (mut chars, mut bytes) = (0, 0);
    for (at, word) in crate::text::words_at(line).into_iter().take(WORDS_MAX) {
        chars += line[bytes..at].chars().count();
        bytes = at;
        words.push((chars, word));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(line: &str) -> Ruler {
        match Ruler::read(line) {
            Some(Dashes::Ruler(ruler)) => ruler,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rulers_and_ends() {
        assert_eq!(ruler("----- --- -----").widths(), [5, 3, 5]);
        assert_eq!(ruler("~~~~ -------").widths(), [4, 7]);
        assert_eq!(ruler(" ------- -------").widths(), [7, 7]);
        assert!(matches!(Ruler::read("          -------------"), Some(Dashes::Indented(_))));
        assert_eq!((Ruler::read("-- text --"), Ruler::read(""), Ruler::read("--")), (None, None, None));
    }

    #[test]
    fn words_go_where_they_overlap() {
        let ruler = ruler("------------------- ---------- ----- --------");
        let cells = ruler.cells("gc current block      1234567   0.0 User I/O");
        assert_eq!(cells, ["gc current block", "1234567", "0.0", "User I/O"]);
        let cells = ruler.cells("PX Idle Wait           684.9 s   é");
        assert_eq!(cells, ["PX Idle Wait", "684.9 s", "é", ""]);
        let above = [
            "                          Wait        Wait".to_owned(),
            "Event               Time (sec)    %  Class".to_owned(),
        ];
        assert_eq!(ruler.labels(&above), ["Event", "Wait Time (sec)", "%", "Wait Class"]);
    }
}
