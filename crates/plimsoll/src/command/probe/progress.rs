//! Progress that teaches: stage, what is being measured, the estimate so far, time left. Only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use load::Filling;
use probe::{Progress, State};
use record::Phase;

/// A line on standard error, cleared at the end.
pub struct Shown {
    bar: ProgressBar,
    quiet: bool,
}

impl Shown {
    /// Shows no progress unless `visible`, and nothing at all when `quiet`.
    pub fn new(visible: bool, quiet: bool) -> Self {
        let bar = if visible { ProgressBar::new(1000) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{bar:12} {wide_msg}")
            .expect("the template is a constant that indicatif accepts");
        bar.set_style(style);
        Self { bar, quiet }
    }

    /// Says what was done beside measuring.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("note: {text}"));
        }
    }

    /// Preparing the own file.
    pub fn filling(&mut self, filling: Filling) {
        let share = filling.written_bytes as f64 / filling.of_bytes.max(1) as f64;
        self.bar.set_position((1000.0 * share) as u64);
        let mib = |bytes: u64| bytes >> 20;
        self.bar.set_message(format!(
            "writing a file of our own: {} of {} MiB, {:.0} MiB/s",
            mib(filling.written_bytes),
            mib(filling.of_bytes),
            mib(filling.written_bytes) as f64 / filling.seconds.max(1e-3)
        ));
    }

    /// The file is there.
    pub fn filled(&mut self) {
        self.bar.set_position(0);
        self.bar.set_message("finding the path");
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Shown {
    fn update(&mut self, state: &State) {
        let share = (state.spent_s / state.budget_s.max(1e-9)).min(1.0);
        self.bar.set_position((1000.0 * share) as u64);
        let asked = match (state.concurrency, state.rate_iops) {
            (Some(n), _) => format!("N={n}"),
            (None, Some(rate)) => format!("{rate:.0} IOPS offered"),
            (None, None) => String::new(),
        };
        let estimate = state.estimate.map_or(String::new(), |e| {
            format!(
                "; load line ~{:.0} IOPS at N={:.0} ({:.0} to {:.0})",
                e.iops, e.concurrency, e.concurrency_ci95[0], e.concurrency_ci95[1]
            )
        });
        self.bar.set_message(format!(
            "{} {asked}, {:.0} of {:.0} s{estimate}",
            stage(state.phase),
            state.spent_s,
            state.budget_s
        ));
    }
}

fn stage(phase: Phase) -> &'static str {
    match phase {
        Phase::Reference => "one I/O at a time",
        Phase::Rise => "rising",
        Phase::Refine => "closing in",
        Phase::Confirm => "confirming",
        Phase::Beyond => "beyond the line",
        Phase::Sweep => "sweeping",
        Phase::Sentinel => "one I/O again",
        Phase::OpenLoop => "open loop",
    }
}
