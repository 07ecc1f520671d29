//! `plimsoll inspect`: how one process does I/O.

use crate::args::inspect::InspectArgs;
use crate::exit::{Exit, Failure};
use crate::signal;
use crate::voice::Voice;
use host::Root;
use host::inspect::{InspectError, InspectOptions, inspect};
use host::observer::{Observer, Tracing};
use host::survey::SurveyOptions;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Looks, and says what was seen.
pub fn run(args: &InspectArgs, voice: &Voice) -> Result<Exit, Failure> {
    let stop = signal::interrupt_flag()
        .map_err(|e| Failure::new(Exit::Environment, format!("cannot catch signals: {e}")))?;
    let root = Root::system();
    let options = InspectOptions {
        pid: args.pid,
        tree: args.tree,
        length: Duration::from_secs_f64(args.length_s),
        interval: Duration::from_secs_f64(args.interval),
    };
    // Without the tracer the counters tell nothing of one process.
    let mut observer = if args.no_trace {
        None
    } else {
        Observer::open(&root, SurveyOptions::default(), Tracing::WherePossible).ok()
    };
    let mut seen = inspect(&root, options, observer.as_mut(), &stop).map_err(refused)?;
    if args.no_trace {
        seen.unseen.push("sizes and outstanding I/Os at the devices: not traced, as asked".to_owned());
    }
    let how = analyze::inspect::how(&seen);
    if voice.json {
        voice.say(&format!("{:#}\n", ::report::inspect::document(&seen, &how)));
    } else {
        voice.say(&::report::inspect::text(&seen, &how, voice.style()));
    }
    Ok(if stop.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Done })
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
