//! Traces for some seconds and prints what was seen as JSON.
//!
//! usage: trace_once [SECONDS] [WINDOWS] [--no-stamps] [--scsi-events] [--no-in-flight] [--no-askers] [--before-6.1] [--device NAME]

use host::Root;
use host::trace::{ClassWindow, DeviceWindow, Options, TraceWindow, Tracer, Unavailable};
use record::LatencyHistogram;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut numbers = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--no-stamps" => options.ignore_stamps = true,
            "--scsi-events" => options.scsi_by_events = true,
            "--no-in-flight" => options.in_flight = false,
            "--before-6.1" => options.before_6_1 = true,
            "--no-askers" => options.askers = false,
            "--device" => options.devices.get_or_insert_default().extend(arguments.next()),
            number => numbers.extend(number.parse::<f64>()),
        }
    }
    let seconds = numbers.first().copied().unwrap_or(1.0);
    let windows = numbers.get(1).map_or(1, |n| *n as usize);
    match trace(options, Duration::from_secs_f64(seconds), windows) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{}", json!({ "unavailable": error, "loses": Unavailable::LOSES }));
            ExitCode::from(4)
        }
    }
}

fn trace(options: Options, each: Duration, windows: usize) -> Result<(), Unavailable> {
    let began = Instant::now();
    let mut tracer = Tracer::start(&Root::system(), options)?;
    let start_ms = began.elapsed().as_secs_f64() * 1e3;
    println!("{}", json!({ "parts": tracer.parts(), "start_ms": start_ms }));
    for _ in 0..windows {
        std::thread::sleep(each);
        let began = Instant::now();
        let window = tracer.read()?;
        let read_us = began.elapsed().as_secs_f64() * 1e6;
        println!("{}", window_json(&window, read_us));
    }
    Ok(())
}

fn window_json(window: &TraceWindow, read_us: f64) -> Value {
    json!({
        "seconds": window.seconds(),
        "read_us": read_us,
        "devices": window.devices.iter().map(device_json).collect::<Vec<_>>(),
        "scsi": window.scsi,
        "askers": window.askers,
        "bios_of_others": window.bios_of_others,
        "lost": window.lost,
    })
}

fn device_json(device: &DeviceWindow) -> Value {
    json!({
        "name": device.name,
        "ios": device.ios(),
        "host_queue": device.host_queue(),
        "device_queue": device.device_queue(),
        "requeues": device.requeues,
        "splits": device.splits,
        "front_merges": device.front_merges,
        "back_merges": device.back_merges,
        "flush_waits": device.flush_waits,
        "classes": device.classes.iter().map(class_json).collect::<Vec<_>>(),
    })
}

fn class_json(class: &ClassWindow) -> Value {
    let times = |h: &LatencyHistogram| {
        let us = |q: f64| h.quantile_ns(q).map(|ns| ns as f64 / 1e3);
        json!({ "count": h.count(), "mean": h.mean_ns().map(|ns| ns / 1e3), "p50": us(0.5), "p99": us(0.99), "max": us(1.0) })
    };
    json!({
        "class": class.class,
        "ios": class.ios,
        "bytes": class.bytes,
        "errors": class.errors,
        "untimed": class.untimed,
        "host_wait_us": times(&class.host_wait),
        "service_us": times(&class.service),
        "sizes": class.sizes,
        "host_queue": class.host_queue,
        "device_queue": class.device_queue,
        "host_queue_at_end": class.host_queue_at_end,
        "device_queue_at_end": class.device_queue_at_end,
        "oldest_in_flight_us": class.oldest_in_flight_ns.map(|ns| ns as f64 / 1e3),
    })
}
