//! Numbers: the knee, the plateau, and each step.

use super::seen::{Probe, Step};
use super::{Quantity, Sheet, Unit};
use crate::truth::range::{Range, Row};
use crate::truth::{CPU_IOPS, Truth};

/// Throughput, response, plateau and predictions.
pub const SHARE: f64 = 0.05;
/// Up to this depth the knee is exact: rounded to the nearest whole I/O it is the depth.
const EXACT_KNEE: f64 = 16.0;
/// Half an I/O either way rounds to the depth.
const NEAREST: f64 = 0.5;
/// Above it.
const KNEE_SHARE: f64 = 0.1;
/// Queues, in I/Os, where 5 % is less.
pub const QUEUE_IOS: f64 = 0.3;
/// Throughput and response are compared up to this many times the depth: beyond, waiters cost the guest's processor.
const DEPTHS: f64 = 8.0;

/// Where the search put the knee. Nothing to compare where the load never went beyond it.
pub fn knee(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    let Some(model) = &truth.model else { return };
    let (Some(knee), Some(most)) = (model.knee(), probe.most()) else { return };
    // Below one I/O there is no knee to be seen: even one I/O at a time is past it.
    let knee = knee.max(1.0);
    if f64::from(most) < 2.0 * knee {
        return;
    }
    let seen = probe.knee.as_ref().and_then(|k| k.concurrency);
    let note = beyond_processor(model.at(most).iops);
    let allowed = if knee <= EXACT_KNEE { (NEAREST, Unit::Ios) } else { (KNEE_SHARE, Unit::Share) };
    sheet.number((Quantity::Knee, None), Range::of(knee), seen, allowed, note);
}

/// The declared plateau, at the largest concurrency.
pub fn plateau(sheet: &mut Sheet<'_>, probe: &Probe) {
    let expect = &sheet.job.expect;
    let Some(plateau) = expect.plateau_iops.filter(|_| !expect.direction_only) else { return };
    let last = probe.steps.iter().max_by_key(|s| s.concurrency);
    let seen = last.and_then(|s| s.iops);
    let n = last.map(|s| s.concurrency);
    sheet.number((Quantity::Plateau, n), Range::of(plateau), seen, (SHARE, Unit::Share), "");
}

/// What paths of unequal depth lose against all depths together, at the largest concurrency.
pub fn lost(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    let Some(whole) = truth.whole_iops else { return };
    let last = probe.steps.iter().max_by_key(|s| s.concurrency);
    let Some((n, iops)) = last.and_then(|s| Some((s.concurrency, s.iops?))) else { return };
    let range = Range { low: 0.0, high: 1.0 };
    let note = "shown only";
    sheet.number((Quantity::Lost, Some(n)), range, Some(1.0 - iops / whole), (SHARE, Unit::Ios), note);
}

/// Every concurrency measured.
pub fn steps(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    let Some(model) = &truth.model else { return };
    if probe.steps.is_empty() {
        sheet.word(Quantity::Document, "steps".to_owned(), super::Figure::Absent, false, "");
    }
    for step in &probe.steps {
        let row = model.at(step.concurrency);
        let far = model.depth().is_some_and(|depth| f64::from(step.concurrency) > DEPTHS * depth.max(1.0));
        rates(sheet, &row, step, far);
        queues(sheet, &row, step);
    }
}

fn rates(sheet: &mut Sheet<'_>, row: &Row, step: &Step, far: bool) {
    let mut note = beyond_processor(row.iops);
    if note.is_empty() && far {
        note = "more than eight times the depth";
    }
    let n = Some(step.concurrency);
    let mean_us = step.response_us.as_ref().and_then(|r| r.mean);
    sheet.number((Quantity::Throughput, n), row.iops, step.iops, (SHARE, Unit::Share), note);
    sheet.number((Quantity::Response, n), row.response_us, mean_us, (SHARE, Unit::Share), note);
}

fn queues(sheet: &mut Sheet<'_>, row: &Row, step: &Step) {
    let note = beyond_processor(row.iops);
    let n = Some(step.concurrency);
    let within = |whole: f64| (QUEUE_IOS.max(SHARE * whole), Unit::Ios);
    // What is being submitted or reaped stands above, so there the share is of all that is outstanding.
    let above = within(f64::from(row.n));
    sheet.number((Quantity::Above, n), row.above, step.above, above, note);
    for (quantity, truth, seen) in [
        (Quantity::HostQueue, row.host_queue, step.host_queue),
        (Quantity::DeviceQueue, row.device_queue, step.device_queue),
    ] {
        let whole = seen.map_or(truth.high, |s| truth.nearest(s));
        sheet.number((quantity, n), truth, seen, within(whole), note);
    }
}

/// Why a figure does not count, if the processor limits it.
pub fn beyond_processor(iops: Range) -> &'static str {
    if iops.high > CPU_IOPS { "above 30 k IOPS the guest's processor is the limit" } else { "" }
}
