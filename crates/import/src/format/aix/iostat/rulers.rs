//! The header of the long layout (`-Dl`): a line of group titles, a line of rulers, and one or two lines of names.

use super::columns::{Column, Group, column};
use crate::text::words_at;

/// The lines seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    /// Group titles and where each begins.
    titles: Vec<(usize, usize, Group)>,
    /// From where to where each ruler reaches.
    rulers: Vec<(usize, usize)>,
    first: Vec<(usize, usize, String)>,
    second: Vec<(usize, usize, String)>,
}

/// A column of the table: its group, and its name as the block layout has it.
pub(super) type Named = (Group, String);

fn spans(line: &str) -> Vec<(usize, usize, String)> {
    words_at(line).into_iter().map(|(at, w)| (at, at + w.len(), w.to_owned())).collect()
}

/// Whether a line has nothing but rulers: two or more runs of dashes.
pub(super) fn is_rulers(line: &str) -> bool {
    let mut runs = line.split_ascii_whitespace();
    let all_dashes = runs.clone().all(|w| w.bytes().all(|b| b == b'-'));
    all_dashes && runs.nth(1).is_some()
}

impl Header {
    /// Begins with a line of titles: `Disks:   xfers   read   write   queue`.
    pub fn new(titles: &str) -> Self {
        let titles = spans(titles)
            .into_iter()
            .filter_map(|(from, to, word)| Some((from, to, Group::titled(&word)?)))
            .collect();
        Self { titles, ..Self::default() }
    }

    /// Takes the rulers.
    pub fn rulers(&mut self, line: &str) {
        self.rulers = words_at(line).into_iter().map(|(at, w)| (at, at + w.len())).collect();
    }

    /// Takes a line of names: the first of two, or the second. False when it can be neither.
    pub fn names(&mut self, line: &str) -> bool {
        let mut words = spans(line);
        // The column of option -T is titled in some releases.
        words.retain(|(_, _, w)| !w.contains(':'));
        let is_name =
            |w: &str| matches!(w.trim_start_matches('%'), "tm" | "Kbps" | "bps" | "tps" | "rps" | "avg");
        let is_rest = |w: &str| matches!(w, "act" | "serv" | "outs" | "time" | "wqsz" | "sqsz" | "qfull");
        if self.first.is_empty() && words.iter().any(|(_, _, w)| is_name(w)) {
            self.first = words;
            true
        } else if self.second.is_empty() && words.iter().all(|(_, _, w)| is_rest(w)) {
            self.second = words;
            true
        } else {
            false
        }
    }

    /// The columns: by the rulers where the names stand under them, else by the order that the groups have.
    pub fn columns(&self) -> Vec<Named> {
        // Headers that were set by hand do not stand where their rulers do.
        let known = |columns: &Vec<Named>| columns.iter().all(|(g, name)| column(*g, name) != Column::Unread);
        self.by_rulers().filter(known).unwrap_or_else(|| self.by_order())
    }

    /// The group titled within a ruler.
    fn group_of(&self, ruler: (usize, usize)) -> Option<Group> {
        let overlaps = |from: usize, to: usize| from < ruler.1 && to > ruler.0;
        self.titles.iter().find(|(from, to, _)| overlaps(*from, *to)).map(|(_, _, group)| *group)
    }

    fn by_rulers(&self) -> Option<Vec<Named>> {
        let mut columns = Vec::new();
        for (from, to, word) in &self.first {
            let ruler = self.rulers.iter().find(|(start, end)| from >= start && to <= end)?;
            let group = self.group_of(*ruler)?;
            // Both halves of a name end in the same column.
            let under = self.second.iter().find(|(f, t, _)| f < to && t > from);
            let rest = under.map_or("", |(_, _, rest)| rest.as_str());
            columns.push((group, joined(group, word, rest)));
        }
        let halves = columns.iter().filter(|(_, n)| n.starts_with("avg")).count();
        (halves > 0 && !self.second.is_empty()).then_some(columns)
    }

    /// Text whose blanks were lost in copying: `rps` begins the reads, `wps` the writes, and the second average after
    /// that the queue.
    fn by_order(&self) -> Vec<Named> {
        let (mut group, mut averages) = (Group::Transfers, 0);
        let mut columns = Vec::new();
        for (_, _, word) in &self.first {
            match word.as_str() {
                "rps" => (group, averages) = (Group::Read, 0),
                "wps" => (group, averages) = (Group::Write, 0),
                "avg" => averages += 1,
                _ => {}
            }
            if group == Group::Write && averages == 2 {
                (group, averages) = (Group::Queue, 1);
            }
            let rest = match (group, word.as_str(), averages) {
                (Group::Transfers, "%tm", _) => "act",
                (Group::Read | Group::Write, "time", _) => "outs",
                (Group::Read | Group::Write, "avg" | "min" | "max", _) => "serv",
                (Group::Queue, "min" | "max", _) | (Group::Queue, "avg", 1) => "time",
                (Group::Queue, "avg", 2) => "wqsz",
                (Group::Queue, "avg", _) => "sqsz",
                (Group::Queue, "serv", _) => "qfull",
                _ => "",
            };
            columns.push((group, joined(group, word, rest)));
        }
        columns
    }
}

/// `avg` + `serv`, `%tm` + `act`, `time` + `outs`, `serv` + `qfull`.
fn joined(group: Group, word: &str, rest: &str) -> String {
    match (group, word, rest) {
        (_, "%tm", _) => "%tm_act".to_owned(),
        (Group::Read | Group::Write, "time", _) => "timeouts".to_owned(),
        (Group::Read | Group::Write, "fail", _) => "fails".to_owned(),
        (Group::Queue, "serv", _) => "sqfull".to_owned(),
        _ => format!("{word}{rest}"),
    }
}
