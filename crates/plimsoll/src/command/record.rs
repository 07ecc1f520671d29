//! `plimsoll record`: what every device does, kept on disk for days.

use super::watch::notice::{Notice, Notices};
use super::watch::{Beat, kernel_name, known};
use crate::args::record::RecordArgs;
use crate::exit::{Exit, Failure, chain};
use crate::voice::Voice;
use ::record::recording::{Kept, RecordingWriter, Room, Tally};
use ::record::run::{RunDocument, RunError};
use ::report::number;
use ::report::watch::View;
use host::Root;
use host::observer::{Observer, Tracing};
use host::survey::SurveyOptions;
use jiff::Timestamp;
use std::time::{Duration, Instant};

/// Records until the time is over or somebody ends it.
pub fn run(args: &RecordArgs, voice: &Voice) -> Result<Exit, Failure> {
    let named = args.devices.iter().map(|d| kernel_name(d)).collect::<Result<Vec<_>, _>>()?;
    let view = View { named, ..View::default() };
    let notices = Notices::listen(false)?;
    let mut observer = observe(args.closely, args.no_trace)?;
    known(&view, observer.sample())?;
    let mut said = Said { quiet: voice.quiet, losing: false, dropped: 0 };
    let mut writer = open(args, &observer, &mut said)?;
    let interval = Duration::from_secs_f64(args.interval);
    let end = args.lasting.map(|s| Instant::now() + Duration::from_secs_f64(s));
    let mut beat = Beat::new(interval);
    let exit = loop {
        if stopped(&notices, &beat) {
            break Exit::Interrupted;
        }
        beat.next(interval);
        let sample = observer.next().map_err(|cause| unreadable(&cause))?;
        let kept = writer.append(sample, |d| view.shows(d));
        said.interval(&kept, &writer);
        // The last beat lies at the end, give or take what the clocks differ by.
        if end.is_some_and(|end| Instant::now() + interval / 2 >= end) {
            break Exit::Done;
        }
    };
    let document = document(args, &observer, Some(Timestamp::now()));
    let tally = writer.finish(document).map_err(|e| failed(&e))?;
    if voice.json {
        let document = serde_json::json!({
            "schema": "plimsoll.record/1", "run": args.out, "recorded": tally, "interval_s": args.interval,
        });
        voice.say(&format!("{document:#}\n"));
    } else {
        voice.say(&summary(&tally, args));
    }
    // Ended by hand is how a recording without --for ends.
    Ok(if args.lasting.is_none() { Exit::Done } else { exit })
}

/// Waits for the end of the interval; true when somebody ends the recording.
fn stopped(notices: &Notices, beat: &Beat) -> bool {
    loop {
        if notices.wait(beat.left()) == Some(Notice::Stop) {
            return true;
        }
        if beat.left().is_zero() {
            return false;
        }
    }
}

/// The best source there is.
pub fn observe(closely: u16, no_trace: bool) -> Result<Observer, Failure> {
    let options = SurveyOptions { closely: usize::from(closely), processes: false };
    let tracing = if no_trace { Tracing::Off } else { Tracing::WherePossible };
    Observer::open(&Root::system(), options, tracing).map_err(|cause| {
        unreadable(&cause)
            .hint("in a container, mount the host's /proc; `plimsoll doctor` says what is missing")
    })
}

/// The counters are gone.
pub fn unreadable(cause: &std::io::Error) -> Failure {
    Failure::new(Exit::Environment, format!("reading /proc/diskstats: {cause}"))
}

fn open(args: &RecordArgs, observer: &Observer, said: &mut Said) -> Result<RecordingWriter, Failure> {
    let room = Room { keep_bytes: args.keep, leave_free_bytes: args.leave_free };
    let writer =
        RecordingWriter::create(&args.out, room, document(args, observer, None)).map_err(|e| failed(&e))?;
    let tally = writer.tally();
    said.dropped = tally.dropped_segments;
    if writer.resumed() {
        said.note(&format!(
            "goes on with the recording in {}: {} intervals so far",
            args.out.display(),
            number::whole(tally.intervals as f64)
        ));
    }
    for line in &observer.sample().unseen {
        said.note(line);
    }
    Ok(writer)
}

fn document(args: &RecordArgs, observer: &Observer, ended_at: Option<Timestamp>) -> RunDocument {
    let mut document = RunDocument::new("record", env!("CARGO_PKG_VERSION"), Timestamp::now().to_string());
    document.ended_at = ended_at.map(|t| t.to_string());
    document.host = host::facts::read(&Root::system());
    document.options = serde_json::json!({
        "interval_s": args.interval,
        "for_s": args.lasting,
        "keep_bytes": args.keep,
        "leave_free_bytes": args.leave_free,
        "closely": args.closely,
        "devices": args.devices,
        "traced": observer.tracer().is_some(),
        "unseen": observer.sample().unseen,
    });
    document
}

fn failed(error: &RunError) -> Failure {
    let exit = match error {
        RunError::NotOurs { .. } | RunError::OtherSchema { .. } => Exit::Usage,
        RunError::InUse { .. } => Exit::Refused,
        _ => Exit::Environment,
    };
    let failure = Failure::new(exit, chain(error));
    match error {
        RunError::NoRoom { .. } => {
            failure.hint("--leave-free says how much stays free; or name a folder elsewhere")
        }
        _ => failure,
    }
}

fn summary(tally: &Tally, args: &RecordArgs) -> String {
    let mut text = format!(
        "Recorded    {} intervals of {} in {}: {} in {} segment{}\n",
        number::whole(tally.intervals as f64),
        number::time(args.interval * 1e6),
        args.out.display(),
        number::bytes(tally.bytes),
        tally.segments,
        if tally.segments == 1 { "" } else { "s" }
    );
    if tally.dropped_segments > 0 {
        text +=
            &format!("Dropped     the {} oldest segments to stay within the room\n", tally.dropped_segments);
    }
    if tally.lost_intervals > 0 {
        text += &format!("Lost        {} intervals: there was no room on the disk\n", tally.lost_intervals);
    }
    text
}

/// What is said while it lasts: each kind of trouble when it begins and when it ends, never once per interval.
struct Said {
    quiet: bool,
    losing: bool,
    dropped: u64,
}

impl Said {
    fn note(&self, text: &str) {
        if !self.quiet {
            eprintln!("note: {text}");
        }
    }

    fn interval(&mut self, kept: &Kept, writer: &RecordingWriter) {
        match kept {
            Kept::Yes { .. } if self.losing => {
                self.losing = false;
                let lost = writer.tally().lost_intervals;
                eprintln!("warning: intervals are kept again; {lost} were lost");
            }
            Kept::Yes { .. } => {}
            Kept::Lost(error) if !self.losing => {
                self.losing = true;
                eprintln!("warning: intervals are being lost: {}", chain(error));
            }
            Kept::Lost(_) => {}
        }
        let dropped = writer.tally().dropped_segments;
        // The first time; from then on the room is full and this is how it goes.
        if self.dropped == 0 && dropped > 0 {
            self.note("the room is used up: from now on the oldest segments are dropped");
        }
        self.dropped = dropped;
    }
}
