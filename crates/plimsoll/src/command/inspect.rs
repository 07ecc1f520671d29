//! `plimsoll inspect`: how one process does I/O.

use crate::args::inspect::InspectArgs;
use crate::args::watch::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::signal;
use crate::voice::Voice;
use analyze::inspect::HowItDoesIo;
use host::Root;
use host::inspect::{InspectError, InspectOptions, inspect};
use host::observer::{Observer, Tracing};
use host::survey::SurveyOptions;
use record::Inspected;
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Mean time between two samples of `watch --pid`.
const SAMPLE: Duration = Duration::from_millis(10);

/// Looks once, and says what was seen.
pub fn run(args: &InspectArgs, voice: &Voice) -> Result<Exit, Failure> {
    let options = InspectOptions {
        pid: args.pid,
        tree: args.tree,
        length: Duration::from_secs_f64(args.length_s),
        interval: Duration::from_secs_f64(args.interval),
    };
    let mut look = Look::open(options, args.no_trace)?;
    let (seen, how) = look.once().map_err(refused)?;
    if voice.json {
        voice.say(&format!("{:#}\n", ::report::inspect::document(&seen, &how)));
    } else {
        voice.say(&::report::inspect::text(&seen, &how, voice.style()));
    }
    Ok(look.exit())
}

/// `watch --pid`: looks until it is stopped, has counted enough, or the process has gone.
pub fn again(args: &WatchArgs, pid: u32, voice: &Voice) -> Result<Exit, Failure> {
    let length = Duration::from_secs_f64(args.interval);
    let options = InspectOptions { pid, tree: args.tree, length, interval: SAMPLE };
    let mut look = Look::open(options, args.no_trace)?;
    let count = if args.once { Some(1) } else { args.count };
    let mut done = 0;
    loop {
        let (seen, how) = match look.once() {
            Err(InspectError::NoSuchProcess(_)) if done > 0 => return Ok(Exit::Done),
            other => other.map_err(refused)?,
        };
        let text = if voice.json {
            format!("{}\n", ::report::inspect::document(&seen, &how))
        } else {
            format!("{}\n", ::report::inspect::text(&seen, &how, voice.style()))
        };
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Done),
            Err(e) => return Err(Failure::new(Exit::Environment, format!("writing the lines: {e}"))),
        }
        done += 1;
        if count.is_some_and(|c| done >= c) || look.exit() == Exit::Interrupted {
            return Ok(look.exit());
        }
    }
}

/// What looking takes.
struct Look {
    root: Root,
    options: InspectOptions,
    no_trace: bool,
    observer: Option<Observer>,
    stop: Arc<AtomicBool>,
}

impl Look {
    fn open(options: InspectOptions, no_trace: bool) -> Result<Self, Failure> {
        let stop = signal::interrupt_flag()
            .map_err(|e| Failure::new(Exit::Environment, format!("cannot catch signals: {e}")))?;
        let root = Root::system();
        // Without the tracer the counters of devices tell nothing of one process.
        let open = || Observer::open(&root, SurveyOptions::default(), Tracing::WherePossible).ok();
        let observer = if no_trace { None } else { open() };
        Ok(Self { root, options, no_trace, observer, stop })
    }

    fn once(&mut self) -> Result<(Inspected, HowItDoesIo), InspectError> {
        let mut seen = inspect(&self.root, self.options, self.observer.as_mut(), &self.stop)?;
        if self.no_trace {
            seen.unseen.push("sizes and outstanding I/Os at the devices: not traced, as asked".to_owned());
        }
        let how = analyze::inspect::how(&seen);
        Ok((seen, how))
    }

    fn exit(&self) -> Exit {
        if self.stop.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Done }
    }
}

fn refused(error: InspectError) -> Failure {
    match error {
        InspectError::NoSuchProcess(_) => {
            Failure::new(Exit::Usage, error).hint("`ps -e` lists the processes of this host")
        }
        InspectError::NotPermitted(_) => {
            Failure::new(Exit::Refused, error).hint("run it as the owner of the process, or as root")
        }
    }
}
