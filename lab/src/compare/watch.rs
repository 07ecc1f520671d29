//! What a watch showed of its device: queues, rate and response at the concurrency beside it; counts exactly.

use super::figures::{QUEUE_IOS, SHARE, beyond_processor};
use super::{Figure, Quantity, Sheet, Unit};
use crate::outcome::{JobOutcome, Outcome};
use crate::truth::Truth;
use crate::truth::range::Range;
use serde_json::Value;

/// All checks of one watch.
pub fn all(sheet: &mut Sheet<'_>, truth: &Truth, outcome: &Outcome, done: &JobOutcome) {
    let job = sheet.job;
    let Some(document) = &done.watch else {
        let why = done.stderr.lines().last().unwrap_or("nothing on standard error").to_owned();
        sheet.word(Quantity::Document, "a document of a watch".to_owned(), Figure::Text(why), false, "");
        return;
    };
    let wanted = job.expect.source.as_deref().unwrap_or("tracer");
    let source = document["source"].as_str().unwrap_or_default();
    let why = document["unseen"][0].as_str().unwrap_or_default();
    let seen = Figure::Text(format!("{source} {why}").trim().to_owned());
    sheet.word(Quantity::Source, wanted.to_owned(), seen, source == wanted, "");
    let name = job.watch.as_ref().and_then(|device| outcome.devices.get(device));
    let devices = document["devices"].as_array();
    let Some(device) =
        devices.and_then(|d| d.iter().find(|d| d["name"].as_str() == name.map(String::as_str)))
    else {
        sheet.word(Quantity::Document, "the device".to_owned(), Figure::Absent, false, "");
        return;
    };
    steady(sheet, truth, device);
    counts(sheet, document, device);
}

/// Where loads keep a number of I/Os outstanding.
fn steady(sheet: &mut Sheet<'_>, truth: &Truth, device: &Value) {
    let job = sheet.job;
    let on_it = job.beside.iter().filter(|b| Some(&b.probe) == job.watch.as_ref() && b.every_ms.is_none());
    let outstanding: u32 = on_it.map(|b| b.concurrency).sum();
    if outstanding == 0 {
        return;
    }
    let n = Some(outstanding);
    let Some(model) = &truth.model else {
        for note in &truth.notes {
            sheet.word(Quantity::Remark, String::new(), Figure::Absent, true, note);
        }
        return;
    };
    let row = model.at(outstanding);
    let note = beyond_processor(row.iops);
    let number = |key: &str| device[key].as_f64();
    sheet.number((Quantity::Throughput, n), row.iops, number("iops"), (SHARE, Unit::Share), note);
    let response = (SHARE, Unit::Share);
    sheet.number((Quantity::Response, n), row.response_us, number("response_us"), response, note);
    for (quantity, truth, key) in [
        (Quantity::HostQueue, row.host_queue, "host_queue"),
        (Quantity::DeviceQueue, row.device_queue, "device_queue"),
    ] {
        let seen = number(key);
        let whole = seen.map_or(truth.high, |s| truth.nearest(s));
        let within = (QUEUE_IOS.max(SHARE * whole), Unit::Ios);
        sheet.number((quantity, n), truth, seen, within, note);
    }
}

/// What is known to the last one.
fn counts(sheet: &mut Sheet<'_>, document: &Value, device: &Value) {
    let job = sheet.job;
    let on_it = || job.beside.iter().filter(|b| Some(&b.probe) == job.watch.as_ref());
    let exactly = (0.0, Unit::Ios);
    if on_it().count() > 0 && on_it().all(|b| b.reads.is_some()) {
        let reads = f64::from(on_it().filter_map(|b| b.reads).sum::<u32>());
        let seen = device["read"]["count"].as_f64();
        sheet.number((Quantity::Reads, None), Range::of(reads), seen, exactly, "");
        // The lab is process 1; other words of its name are those of its threads.
        let askers = document["askers"].as_array();
        let asked = askers.map(|all| {
            let ours = all.iter().filter(|a| a["pid"] == 1 && a["device"] == device["name"]);
            ours.filter_map(|a| a["reads"].as_f64()).sum()
        });
        let note = if askers.is_some() { "" } else { "counters alone cannot tell" };
        sheet.number((Quantity::Asked, None), Range::of(reads), asked, exactly, note);
    }
    if let Some(full) = job.expect.task_set_full {
        let seen = device["task_set_full"].as_f64();
        sheet.number((Quantity::TaskSetFull, None), Range::of(full as f64), seen, exactly, "");
    }
}
