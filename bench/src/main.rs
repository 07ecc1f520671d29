//! Side-by-side benchmarks: Plimsoll and its peers in turn, on the same file, in the same minute.
//!
//! Goals: ratios of processor time per I/O that hold on a noisy machine, the time until an answer, and whether five
//! answers agree. Non-goals: absolute speeds of this machine, and verdicts over peers in uses not measured here.
//! Rounds are interleaved (A B C A B C ...); within one contender, repeats above 1.3 times its smallest figure are
//! dropped and counted, because a neighbour took the processor's caches or the machine.

mod answer;
mod contender;
mod fio;
mod generator;
mod import;
mod ours;
mod page;
mod rounds;
mod sampler;
mod scratch;
mod tracer;
mod zram;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// What went wrong, in words for the person at the terminal.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Compares Plimsoll with its peers on this machine.
#[derive(Parser)]
#[command(
    name = "bench",
    after_help = "Examples:\n  bench generator             processor time per I/O on a page-cached file\n  bench generator --tiny      the same in seconds: shows that it still runs, its figures mean nothing\n  bench answer                time and agreement of five answers, against fio's latency_target"
)]
struct Cli {
    #[command(subcommand)]
    what: What,
    /// Smallest sizes and times: proves that the benchmark runs, measures nothing.
    #[arg(long, global = true)]
    tiny: bool,
    /// Interleaved rounds.
    #[arg(long, global = true, default_value_t = 3)]
    rounds: usize,
    /// Where test files are made (a folder on the storage to measure).
    #[arg(long, global = true, default_value = "target/bench")]
    folder: std::path::PathBuf,
    /// The Plimsoll binary.
    #[arg(long, global = true, default_value = "target/release/plimsoll")]
    plimsoll: std::path::PathBuf,
}

#[derive(Subcommand, Clone, PartialEq)]
enum What {
    /// Processor time per I/O on a page-cached file, all engines.
    Generator,
    /// The same on zram, when an unused one is there and we are root. It is reset afterwards.
    Zram,
    /// Processor time of one sample of 1,000 and 10,000 devices, against iostat and the bare limit. Needs root.
    Sampler,
    /// One of the loops that `sampler` measures.
    #[command(hide = true)]
    SamplerLoop {
        /// Which.
        what: Loop,
    },
    /// Run time of the tracer's programs per I/O and its cost to the load, against bpftrace. Needs root.
    Tracer,
    /// Reading iostat and sadf text into the model, against the bare limit, Python, mawk and polars.
    Import,
    /// One of the loops that `import` measures.
    #[command(hide = true)]
    ImportLoop {
        /// Which.
        what: String,
        /// On which file.
        file: std::path::PathBuf,
    },
    /// Time to draw the page, against a fio-plot chart.
    Page,
    /// Time to an answer and agreement of five, against fio's latency_target and a dense grid.
    Answer,
    /// The same beside processor hogs.
    Disturbed,
    /// All of it.
    All,
}

/// Loops of `sampler`.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq)]
enum Loop {
    /// Read and parse, nothing else.
    Limit,
    /// Our survey.
    Survey,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let setup = contender::Setup {
        plimsoll: cli.plimsoll.clone(),
        folder: cli.folder.clone(),
        rounds: if cli.tiny { 1 } else { cli.rounds },
        seconds: if cli.tiny { 1 } else { 3 },
        tiny: cli.tiny,
    };
    match run(&setup, &cli.what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(4)
        }
    }
}

fn run(setup: &contender::Setup, what: &What) -> Outcome<()> {
    if let What::SamplerLoop { what } = what {
        return sampler::run_loop(*what == Loop::Survey);
    }
    if let What::ImportLoop { what, file } = what {
        return import::run_loop(what, file);
    }
    std::fs::create_dir_all(&setup.folder)?;
    let all = *what == What::All;
    if all || *what == What::Generator {
        generator::cached_file(setup)?;
    }
    if all || *what == What::Zram {
        zram::compare(setup)?;
    }
    if all || *what == What::Sampler {
        sampler::compare(setup)?;
    }
    if all || *what == What::Tracer {
        tracer::compare(setup)?;
    }
    if all || *what == What::Import {
        import::compare(setup)?;
    }
    if all || *what == What::Page {
        page::compare(setup)?;
    }
    if all || *what == What::Answer {
        answer::quiet(setup)?;
    }
    if all || *what == What::Disturbed {
        answer::disturbed(setup)?;
    }
    Ok(())
}
