//! `plimsoll doctor`: what can be measured here and what cannot.

use super::Style;
use super::sink::{Role, Sink};

/// One thing that may or may not be possible here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorRow {
    /// What is wanted: `split of host and device queue`.
    pub what: String,
    /// How far it is possible.
    pub state: DoctorState,
    /// Why, with the file or right it hangs on.
    pub why: String,
    /// What would enable it; absent when nothing is missing or nothing helps.
    pub remedy: Option<String>,
}

/// How far something is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorState {
    /// All of it.
    Works,
    /// With a loss, which the reason names.
    Partly,
    /// Not at all.
    Missing,
}

impl DoctorState {
    /// The word in text and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Partly => "partly",
            Self::Missing => "missing",
        }
    }
}

/// The rows as text, in the order given, with a closing count.
pub fn doctor(rows: &[DoctorRow], style: Style) -> String {
    let mut out = Sink::new(style);
    for row in rows {
        let role = (row.state != DoctorState::Works).then_some(Role::Warn);
        out.labelled(role, row.state.word(), 9, &row.what);
        if !row.why.is_empty() {
            out.labelled(Some(Role::Faint), "", 11, &row.why);
        }
        if let Some(remedy) = &row.remedy {
            out.labelled(None, "", 11, &format!("To enable: {remedy}"));
        }
    }
    let count = |state| rows.iter().filter(|r| r.state == state).count();
    out.gap();
    out.line(
        Some(Role::Strong),
        &format!(
            "{} work, {} partly, {} missing",
            count(DoctorState::Works),
            count(DoctorState::Partly),
            count(DoctorState::Missing)
        ),
    );
    out.finish()
}
