//! Reports of Oracle that look like those that are read and say something else: recognised, so that the reason is said.

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};

/// What such a report is called, what begins it, and why it is not read.
struct Kind {
    starts: &'static [&'static str],
    found: &'static str,
}

const WANTED: &str = "an AWR or Statspack report of one instance (awrrpt.sql, awrrpti.sql, spreport.sql)";

const ASH_KIND: Kind = Kind {
    starts: &["ASH Report For ", "<title>ASH Report"],
    found: "an ASH report: samples of active sessions, which tell neither rates nor times of I/O",
};

const ADDM_KIND: Kind = Kind {
    starts: &["ADDM Report for Task", "DETAILED ADDM REPORT FOR TASK", "<title>ADDM Report"],
    found: "an ADDM report: findings in prose, made from the AWR report of the same snapshots",
};

const COMPARE_KIND: Kind = Kind {
    starts: &["WORKLOAD REPOSITORY COMPARE PERIOD REPORT", "<title>AWR Compare"],
    found: "a report that compares two periods: make one for each of them, they can be compared here",
};

const SQL_KIND: Kind = Kind {
    starts: &["WORKLOAD REPOSITORY SQL Report", "<title>AWR SQL Report"],
    found: "a report of one SQL statement",
};

macro_rules! refused {
    ($(#[doc = $doc:literal] $format:ident = $name:literal, $title:literal, $kind:ident;)+) => {
        $(
            #[doc = $doc]
            pub(super) const $format: Format = Format {
                name: $name,
                title: $title,
                recognise: |head| recognise(head, &$kind),
                reads: Reads::Lines {
                    new: || Box::new(Refusing { kind: &$kind, is_said: false }),
                    begins: |line| $kind.is_begun_by(line),
                },
            };
        )+
    };
}

refused! {
    #[doc = "Active session history."]
    ASH = "oracle-ash", "Oracle ASH report (recognised, not read)", ASH_KIND;
    #[doc = "Advice of the database."]
    ADDM = "oracle-addm", "Oracle ADDM report (recognised, not read)", ADDM_KIND;
    #[doc = "Two periods."]
    COMPARE = "oracle-awr-compare", "Oracle AWR compare period report (recognised, not read)", COMPARE_KIND;
    #[doc = "One statement."]
    SQL = "oracle-awr-sql", "Oracle AWR SQL report (recognised, not read)", SQL_KIND;
}

impl Kind {
    fn is_begun_by(&self, line: &str) -> bool {
        let line = line.trim_start_matches([' ', '\t', '\u{feff}']);
        self.starts.iter().any(|start| !start.starts_with('<') && line.starts_with(start))
    }

    fn is_within(&self, line: &str) -> bool {
        let is_tag = |start: &&str| start.starts_with('<') && line.contains(*start);
        self.is_begun_by(line) || self.starts.iter().any(is_tag)
    }
}

fn recognise(head: &Head<'_>, kind: &Kind) -> Option<Likeness> {
    // An AWR report has findings of ADDM and ASH within it: the first heading decides, and these stand at the top.
    let (number, line) = head.find(|l| kind.is_within(l))?;
    let is_awr = head.find(|l| l.contains("WORKLOAD REPOSITORY report for")).is_some_and(|(n, _)| n < number);
    if is_awr {
        return None;
    }
    Likeness::by_line(99, "heading", (number, line))
}

/// Says once why nothing is read.
struct Refusing {
    kind: &'static Kind,
    is_said: bool,
}

impl LineFormat for Refusing {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if !self.is_said && self.kind.is_within(line) {
            self.is_said = true;
            out.complain(WANTED, self.kind.found);
            return Took::Yes;
        }
        if self.is_said && super::is_foreign(line, &[]) && !self.kind.is_begun_by(line) {
            return Took::No;
        }
        Took::Yes
    }
}
