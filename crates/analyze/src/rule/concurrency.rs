//! Too little concurrency: each I/O waits for the one before it, and the path has room.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::point::Point;
use crate::rule::{SCALES, cpu, time};

/// Throughput follows concurrency to the end of what was tried, or there was only one I/O at a time.
pub fn still_scales(case: &Case) -> Option<BoundBy> {
    let last = case.last()?;
    if cpu::share_of_cores(case, last) >= cpu::BUSY {
        return None;
    }
    match &case.growth {
        Some(growth) if growth.gain >= SCALES && case.holds(last) => Some(scaled(case, last, growth.gain)),
        None if last.concurrency == 1 => Some(one_at_a_time(case, last)),
        _ => None,
    }
}

fn scaled(case: &Case, last: &Point, gain: f64) -> BoundBy {
    let evidence = vec![
        format!("{:.0} % of the concurrency added last became throughput", 100.0 * gain.min(1.0)),
        worker_idle(last),
    ];
    verdict(
        case,
        last,
        format!("too little concurrency: the path had room at {} outstanding", last.concurrency),
        evidence,
    )
}

fn one_at_a_time(case: &Case, last: &Point) -> BoundBy {
    let mean_us = last.response.mean_ns().unwrap_or(0.0) / 1e3;
    let evidence = vec![
        format!(
            "with one I/O outstanding, throughput is 1 / response time: 1 / {} = {:.0} IOPS",
            time(mean_us),
            1e6 / mean_us.max(1e-3)
        ),
        split_note(case, last),
        worker_idle(last),
    ];
    let evidence = evidence.into_iter().filter(|line| !line.is_empty()).collect();
    verdict(
        case,
        last,
        "too little concurrency: one I/O at a time, and the worker waits for each".to_owned(),
        evidence,
    )
}

fn verdict(case: &Case, last: &Point, headline: String, evidence: Vec<String>) -> BoundBy {
    let twice = 2 * last.concurrency;
    let how = match case.subject.engine.as_str() {
        "sync" => {
            "more processes, or asynchronous I/O (io_uring, libaio; in a database: filesystemio_options=setall, effective_io_concurrency, more writers)"
        }
        _ => "more sessions or a deeper asynchronous queue",
    };
    BoundBy {
        layer: BoundLayer::Concurrency,
        headline,
        evidence,
        refuted_by: format!("throughput at {twice} outstanding that is not well above {:.0} IOPS", last.iops),
        runner_up: None,
        advice: vec![Advice {
            text: format!("Keep more I/Os outstanding: {how}."),
            file: None,
            now: Some(last.concurrency.to_string()),
            try_value: Some(twice.to_string()),
            expected: Some(format!(
                "up to {:.0} IOPS at {twice} outstanding, if the path still has room",
                2.0 * last.iops
            )),
            ..Advice::default()
        }],
    }
}

/// iowait is idle time: a worker in it is waiting for the device, not for a processor.
fn worker_idle(last: &Point) -> String {
    match last.busiest_worker {
        Some(busy) => {
            format!("the busiest load thread used {:.0} % of a core; iowait is idle, not work", 100.0 * busy)
        }
        None => String::new(),
    }
}

/// One large I/O may be several requests at the device: the device then holds more than N.
fn split_note(case: &Case, last: &Point) -> String {
    let split = case.devices().iter().find_map(|(seen, layer)| {
        let size = seen.request_bytes_mean?;
        let ratio = case.subject.block_bytes as f64 / size;
        (ratio > 1.3).then(|| {
            format!(
                "each {} KiB I/O reaches {} as about {:.1} requests of {:.0} KiB, so it holds {} requests for one I/O",
                case.subject.block_bytes / 1024,
                layer.name,
                ratio,
                size / 1024.0,
                last.device_queue.mean.map_or("several".to_owned(), |q| format!("{q:.1}")),
            )
        })
    });
    split.unwrap_or_default()
}
