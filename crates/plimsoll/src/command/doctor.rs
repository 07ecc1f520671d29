//! `plimsoll doctor`.

use crate::args::DoctorArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use ::report::terminal::{self, DoctorRow, DoctorState};
use host::Root;
use host::doctor::{Check, State, examine, examine_target};

/// Examines the host and one place on it.
pub fn run(args: &DoctorArgs, voice: &Voice) -> Result<Exit, Failure> {
    if let Err(cause) = std::fs::metadata(&args.target) {
        return Err(Failure::new(Exit::Usage, format!("cannot look at {}: {cause}", args.target.display()))
            .hint("name an existing directory, file or block device"));
    }
    // `.` says nothing in a text that is sent to somebody else.
    let target = std::path::absolute(&args.target).unwrap_or_else(|_| args.target.clone());
    let root = Root::system();
    let mut checks = examine(&root);
    checks.extend(examine_target(&root, &target));
    if voice.json {
        let document = serde_json::json!({
            "schema": "plimsoll.doctor/1",
            "version": env!("CARGO_PKG_VERSION"),
            "target": target,
            "host": host::facts::read(&root),
            "checks": checks,
        });
        voice.say(&format!("{document:#}\n"));
    } else {
        let rows: Vec<DoctorRow> = checks.into_iter().map(row).collect();
        voice.say(&terminal::doctor(&rows, voice.style()));
    }
    Ok(Exit::Done)
}

fn row(check: Check) -> DoctorRow {
    let state = match check.state {
        State::Yes => DoctorState::Works,
        State::Partly => DoctorState::Partly,
        State::No => DoctorState::Missing,
    };
    DoctorRow { what: check.gives, state, why: check.why, remedy: check.remedy }
}
