//! The whole answer: what the search found, and what the counters of the layers say.

use crate::answer::Answer;
use crate::search::Searched;
use analyze::{BoundBy, Point};
use record::Doubt;

impl Searched {
    /// Completes the answer. `points` are all closed windows pooled by concurrency, `bound_by` the layer where added
    /// I/Os stand, `doubts` what the steps give cause to doubt; doubts of one kind and text are kept once, heaviest
    /// first.
    pub fn into_answer(self, points: Vec<Point>, bound_by: BoundBy, doubts: Vec<Doubt>) -> Answer {
        let mut all: Vec<Doubt> = Vec::new();
        for doubt in self.doubts.into_iter().chain(doubts) {
            if !all.iter().any(|d| d.id == doubt.id && d.text == doubt.text) {
                all.push(doubt);
            }
        }
        all.sort_by_key(|d| std::cmp::Reverse(d.weight));
        Answer {
            limit: self.limit,
            outcome: self.outcome,
            load_line: self.load_line,
            knee: self.knee,
            comfort: self.comfort,
            bound_by,
            points,
            open_loop: self.open_loop,
            doubts: all,
            spent_s: self.spent_s,
            steps: self.steps,
        }
    }
}
