//! `plimsoll watch`: where the I/Os of this host stand now, interval after interval.

mod keys;
mod live;
pub mod notice;
mod plain;
mod source;
mod terminal;

use crate::args::watch::{OrderBy, WatchArgs};
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use ::report::watch::{Order, View};
use record::HostSample;
use source::Observed;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Watches until it is stopped or has counted enough.
pub fn run(args: &WatchArgs, voice: &Voice) -> Result<Exit, Failure> {
    if let Some(pid) = args.pid {
        return super::inspect::again(args, pid, voice);
    }
    let named = args.devices.iter().map(|d| kernel_name(d)).collect::<Result<Vec<_>, _>>()?;
    let view = View { order: order(args.order), named, unused: args.all, ..View::default() };
    let live = wants_screen(args, voice);
    let observed = Observed::open(args, live || args.processes)?;
    known(&view, observed.sample())?;
    if live { live::run(args, voice, view, observed) } else { plain::run(args, voice, &view, observed) }
}

/// The screen needs a terminal on both sides that can place its cursor.
fn wants_screen(args: &WatchArgs, voice: &Voice) -> bool {
    let lines = args.once || args.plain || args.count.is_some() || voice.json;
    let able = std::env::var("TERM").is_ok_and(|t| t != "dumb" && !t.is_empty());
    !lines && able && std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

fn order(asked: OrderBy) -> Order {
    match asked {
        OrderBy::Standing => Order::Standing,
        OrderBy::HostQueue => Order::HostQueue,
        OrderBy::Iops => Order::Iops,
        OrderBy::Throughput => Order::Throughput,
        OrderBy::Response => Order::Response,
        OrderBy::Name => Order::Name,
    }
}

/// A path such as `/dev/mapper/data01` is a link that ends in the kernel's name.
pub fn kernel_name(asked: &str) -> Result<String, Failure> {
    if !asked.contains('/') {
        return Ok(asked.to_owned());
    }
    let real = std::fs::canonicalize(asked)
        .map_err(|cause| Failure::new(Exit::Usage, format!("cannot look at {asked}: {cause}")))?;
    Ok(real.strip_prefix("/dev").unwrap_or(&real).to_string_lossy().into_owned())
}

pub fn known(view: &View, sample: &HostSample) -> Result<(), Failure> {
    match view.missing(sample).as_slice() {
        [] => Ok(()),
        missing => Err(Failure::new(Exit::Usage, format!("no such block device: {}", missing.join(", ")))
            .hint("`plimsoll watch --once --all` lists the devices of this host")),
    }
}

/// When intervals end: at whole multiples of the interval after the start, so that they do not drift.
pub struct Beat {
    due: Instant,
}

impl Beat {
    /// The first one ends after `interval`.
    pub fn new(interval: Duration) -> Self {
        Self { due: Instant::now() + interval }
    }

    /// Until the next one is due.
    pub fn left(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// The interval ended; a beat that was missed altogether is not made up for.
    pub fn next(&mut self, interval: Duration) {
        let now = Instant::now();
        self.due += interval;
        if self.due <= now {
            self.due = now + interval;
        }
    }
}
