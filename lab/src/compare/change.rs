//! A change made on advice: that it could be made, and that it gave what was predicted.

use super::figures::{SHARE, beyond_processor};
use super::seen::Probe;
use super::{Figure, Quantity, Sheet, Unit};
use crate::outcome::{JobOutcome, Outcome};
use crate::rig::Rig;
use crate::truth::range::Range;

/// The advised value was written and stands.
pub fn applied(sheet: &mut Sheet<'_>, of: &str, done: &JobOutcome) {
    let wanted = format!("the advice of {of} stands in its file");
    match &done.applied {
        None => sheet.word(Quantity::Applied, wanted, Figure::Absent, false, ""),
        Some(change) => {
            let (after, written) = (change.after.trim(), change.written.trim());
            // A file of choices reads back with the present one in brackets.
            let pass = !written.is_empty() && (after == written || after.contains(&format!("[{written}]")));
            let seen = format!("{}: {} -> {after}", change.file, change.before.trim());
            sheet.word(Quantity::Applied, wanted, Figure::Text(seen), pass, "");
        }
    }
}

/// What this probe's first advice expected, against the next probe of the same device after the advice was followed.
pub fn prediction(sheet: &mut Sheet<'_>, rig: &Rig, outcome: &Outcome, probe: &Probe) {
    let job = sheet.job;
    let later = || rig.job.iter().enumerate().skip(sheet.job_index + 1);
    let Some((changed, _)) = later().find(|(_, j)| j.apply_advice_of.as_ref() == Some(&job.name)) else {
        return;
    };
    let Some((after, _)) = later().find(|(index, j)| *index > changed && j.probe == job.probe) else {
        return;
    };
    let Some(Ok(measured)) = outcome.jobs.get(after).map(Probe::read) else {
        sheet.word(Quantity::Prediction, "a probe after the change".to_owned(), Figure::Absent, false, "");
        return;
    };
    let first = probe.bound_by.advice.first();
    let expected = first.and_then(|a| Some((a.expected_concurrency?, a.expected_iops?)));
    let Some((at, iops)) = expected else {
        let wanted = "expected_iops at expected_concurrency".to_owned();
        sheet.word(Quantity::Prediction, wanted, Figure::Absent, false, "");
        return;
    };
    let Some(seen) = measured.iops_at(at) else {
        let wanted = format!("a measurement at {at:.0} outstanding after the change");
        sheet.word(Quantity::Prediction, wanted, Figure::Absent, false, "");
        return;
    };
    let truth = Range::of(seen);
    let n = Some(at.round().max(0.0) as u32);
    sheet.number((Quantity::Prediction, n), truth, Some(iops), (SHARE, Unit::Share), beyond_processor(truth));
}
