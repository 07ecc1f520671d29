//! Loads a target at one depth or rate and prints rates, response times and CPU time per I/O, to be set beside fio's.
//!
//!     gen TARGET [--workload W] [--engine E] [--depth N | --rate R --cap N] [--seconds S] [--block B]
//!         [--write PERCENT] [--pattern P] [--sync S] [--workers W] [--cores A,B] [--size S] [--buffered] [--repeat N]

use load::{Options, Overrides, Workload};
use record::{Arrival, Demand, IoClass, Load, Phase, Step, Subject};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

struct Asked {
    options: Options,
    demand: Demand,
    seconds: f64,
    repeat: u32,
}

fn parse() -> Result<Asked, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let target = words.next().ok_or("which target?")?;
    let mut overrides = Overrides::default();
    let mut workload = "oltp".to_owned();
    let mut options = Options::new(target, Workload::named("oltp")?);
    let (mut depth, mut rate, mut cap, mut seconds, mut repeat) = (1, None, 256, 2.0, 1);
    while let Some(flag) = words.next() {
        if flag == "--buffered" {
            options.buffered = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        let size = || load::workload::parse_size(&value).ok_or_else(|| format!("{flag} {value}: not a size"));
        match flag.as_str() {
            "--workload" => workload = value,
            "--engine" => options.engine = Some(value.parse()?),
            "--depth" => depth = value.parse()?,
            "--rate" => rate = Some(value.parse()?),
            "--cap" => cap = value.parse()?,
            "--seconds" => seconds = value.parse()?,
            "--repeat" => repeat = value.parse()?,
            "--block" => overrides.block_bytes = Some(size()?),
            "--write" => overrides.write_percent = Some(value.parse()?),
            "--pattern" => overrides.pattern = Some(value.parse()?),
            "--sync" => overrides.sync = Some(value.parse()?),
            "--workers" => options.workers = Some(value.parse()?),
            "--cores" => options.cores = value.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--size" => options.size_bytes = Some(size()?),
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    options.workload = Workload::named(&workload)?.with(&overrides)?;
    let demand = match rate {
        Some(rate_iops) => Demand::Open { rate_iops, arrival: Arrival::Poisson, outstanding_cap: cap },
        None => Demand::Closed { concurrency: depth },
    };
    Ok(Asked { options, demand, seconds, repeat })
}

fn show(step: &Step) {
    let response = step.response();
    let us = |q| response.quantile_ns(q).unwrap_or(0) as f64 / 1e3;
    let cpu = step.cpu.clone().unwrap_or_default();
    println!(
        "{:.0} IOPS  {:.1} MiB/s  outstanding {:.2}  mean {:.1} us  p50 {:.1}  p99 {:.1}  p99.9 {:.1}  max {:.1}",
        step.iops(),
        step.mib_per_s(),
        step.outstanding_mean().unwrap_or(0.0),
        response.mean_ns().unwrap_or(0.0) / 1e3,
        us(0.5),
        us(0.99),
        us(0.999),
        us(1.0),
    );
    println!(
        "cpu {:.3} us/IO (user {:.3} sys {:.3})  busiest worker {:.2}  run delay {:.3}  settle {:.3} s  {:?}",
        cpu.user_us_per_io + cpu.sys_us_per_io,
        cpu.user_us_per_io,
        cpu.sys_us_per_io,
        cpu.busiest_worker,
        step.host.as_ref().and_then(|h| h.worker_run_delay).unwrap_or(0.0),
        step.settle_s,
        step.ended,
    );
    let flush = step.latency(IoClass::Flush);
    if let Some(mean_ns) = flush.mean_ns() {
        println!("flush mean {:.1} us over {}", mean_ns / 1e3, flush.count());
    }
    for doubt in &step.doubts {
        println!("{:?} {:?}: {}", doubt.weight, doubt.id, doubt.text);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = parse()?;
    let interrupt = Arc::new(AtomicBool::new(false));
    let target = load::resolve(&asked.options, &host::Root::system(), &interrupt, &mut |_| {})?;
    let mut subject = load::open(target, &asked.options, interrupt)?;
    for doubt in subject.doubts() {
        println!("{:?} {:?}: {}", doubt.weight, doubt.id, doubt.text);
    }
    let load = Load { demand: asked.demand, measure_s: asked.seconds, phase: Phase::Sweep };
    for _ in 0..asked.repeat {
        show(&subject.measure(&load, &mut ())?);
    }
    subject.close()?;
    Ok(())
}
