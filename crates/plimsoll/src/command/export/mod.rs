//! `plimsoll export`: what every device does, for Prometheus.
//!
//! One thread reads counters at the interval and adds them up; the server draws the sums when somebody asks. Any number
//! of scrapers at any rate see the same counters.

mod access;
mod server;
mod web_config;

use super::record::{observe, unreadable};
use super::watch::Beat;
use super::watch::notice::{Notice, Notices};
use crate::args::export::ExportArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use ::report::metrics::{Format, text};
use analyze::totals::Totals;
use host::observer::Observer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use web_config::WebConfig;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The sums, shared between the reader and the server.
pub struct Offered {
    totals: Mutex<Totals>,
    interval_s: f64,
}

impl Offered {
    fn totals(&self) -> MutexGuard<'_, Totals> {
        // Whole samples are added under the lock; after a panic in between, what is there is as good as it gets.
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The metrics as they stand.
    pub fn page(&self, format: Format) -> String {
        text(&self.totals(), self.interval_s, VERSION, format)
    }
}

/// Serves until it is ended.
pub fn run(args: &ExportArgs, voice: &Voice) -> Result<Exit, Failure> {
    let config = args.web_config.as_deref().map(WebConfig::load).transpose()?;
    let notices = Notices::listen(false)?;
    let observer = observe(args.closely, args.no_trace)?;
    let offered =
        Arc::new(Offered { totals: Mutex::new(Totals::new(args.max_devices)), interval_s: args.interval });
    let interval = Duration::from_secs_f64(args.interval);
    if args.once {
        let exit = read(observer, &notices, &offered, interval, 1)?;
        if exit == Exit::Done {
            voice.say(&offered.page(Format::OpenMetrics));
        }
        return Ok(exit);
    }
    let address = server::start(&args.listen, config, Arc::clone(&offered))?;
    if !voice.quiet {
        let scheme = if address.tls { "https" } else { "http" };
        eprintln!("note: metrics at {scheme}://{}/metrics", address.at);
        if !address.at.ip().is_loopback() && !address.guarded {
            eprintln!(
                "note: anybody who reaches this host may read them; --web.config.file sets TLS and passwords"
            );
        }
        for line in &observer.sample().unseen {
            eprintln!("note: {line}");
        }
    }
    // Ended by hand is how a server ends.
    read(observer, &notices, &offered, interval, u64::MAX).map(|_| Exit::Done)
}

/// Reads counters, interval after interval, at most `count` of them.
fn read(
    mut observer: Observer,
    notices: &Notices,
    offered: &Offered,
    interval: Duration,
    count: u64,
) -> Result<Exit, Failure> {
    let mut beat = Beat::new(interval);
    for _ in 0..count {
        while !beat.left().is_zero() {
            if notices.wait(beat.left()) == Some(Notice::Stop) {
                return Ok(Exit::Interrupted);
            }
        }
        beat.next(interval);
        let sample = observer.next().map_err(|cause| unreadable(&cause))?;
        offered.totals().add(sample);
    }
    Ok(Exit::Done)
}
