//! The whole answer: what the search found, and what the counters of the layers say.

use crate::answer::{Answer, Outcome};
use crate::search::Searched;
use analyze::{BoundBy, Point};
use record::doubt::heaviest_of_each;
use record::{Doubt, Weight};

impl Searched {
    /// Completes the answer. `points` are all closed windows pooled by concurrency, `bound_by` the layer where added I/Os
    /// stand, `doubts` what the steps and the target give cause to doubt. Each kind of doubt is kept once, heaviest first;
    /// one that spoils the answer refuses it: the points stay, the load line does not.
    pub fn into_answer(self, points: Vec<Point>, bound_by: BoundBy, doubts: Vec<Doubt>) -> Answer {
        let doubts = heaviest_of_each(self.doubts.into_iter().chain(doubts).collect());
        let mut answer = Answer {
            limit: self.limit,
            outcome: self.outcome,
            load_line: self.load_line,
            knee: self.knee,
            comfort: self.comfort,
            bound_by,
            points,
            open_loop: self.open_loop,
            doubts,
            spent_s: self.spent_s,
            steps: self.steps,
        };
        if let Some(line) = &mut answer.load_line {
            // The sum of no seconds is minus zero.
            line.steady_s += 0.0;
        }
        let spoiled = answer.doubts.first().filter(|d| d.weight == Weight::Spoils).map(|d| d.text.clone());
        if let Some(why) = spoiled {
            answer.outcome = Outcome::CannotTell { why };
            answer.load_line = None;
            answer.knee = None;
        }
        answer
    }
}
