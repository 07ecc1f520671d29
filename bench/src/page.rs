//! Time to draw the page of a nine-depth probe, against a chart of the same depths by fio-plot.

use crate::Outcome;
use crate::contender::Setup;
use crate::{ours, rounds, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const DEPTHS: &str = "1,2,4,8,16,32,64,128,256";

/// Draws both in turn.
pub fn compare(setup: &Setup) -> Outcome<()> {
    let file = scratch::Scratch::new(&setup.folder, "page.data", 256 << 20)?;
    let run = setup.folder.join("page-run");
    remove(&run)?;
    let arguments = ["probe", &text(file.path()), "--depths", DEPTHS, "--budget", "9s", "--out", &text(&run)]
        .map(str::to_owned);
    ours::document(&setup.plimsoll, &arguments)?;
    let page = setup.folder.join("page.html");
    let draw = || {
        timed(Command::new(&setup.plimsoll).args(["report", &text(&run), "--page", &text(&page), "--quiet"]))
    };
    let peer = FioPlot::install(setup, file.path());
    if let Err(error) = &peer {
        eprintln!("  fio-plot left out: {error}");
    }
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setup.rounds.max(1) {
        own.push(draw()?);
        if let Ok(peer) = &peer {
            theirs.push(timed(&mut peer.command())?);
        }
    }
    let (own, theirs) = (rounds::median(own), rounds::median(theirs));
    println!("\nPage of a nine-depth probe (goals: at most 0.05 of fio-plot's time, at most 300 KB)\n");
    println!(
        "ours {:.1} ms, {} bytes; fio-plot {:.1} ms; ratio {:.3}",
        own * 1e3,
        std::fs::metadata(&page)?.len(),
        theirs * 1e3,
        own / theirs
    );
    remove(&run)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn remove(folder: &Path) -> Outcome<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}

fn timed(command: &mut Command) -> Outcome<f64> {
    let start = Instant::now();
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(start.elapsed().as_secs_f64())
}

struct FioPlot {
    tool: PathBuf,
    data: PathBuf,
    chart: PathBuf,
}

impl FioPlot {
    /// fio-plot in a Python environment of its own, and data of nine depths made by its own runner.
    fn install(setup: &Setup, file: &Path) -> Outcome<Self> {
        let tools = setup.folder.join("venv");
        if !tools.join("bin/fio-plot").exists() {
            timed(Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
            timed(Command::new(tools.join("bin/pip")).args(["install", "--quiet", "fio-plot"]))?;
        }
        let data = setup.folder.join("fio-plot-data");
        remove(&data)?;
        let depths: Vec<&str> = DEPTHS.split(',').collect();
        timed(
            Command::new(tools.join("bin/bench-fio"))
                .args([
                    "--type",
                    "file",
                    "--mode",
                    "randread",
                    "--runtime",
                    "1",
                    "--size",
                    "256M",
                    "--numjobs",
                    "1",
                    "--quiet",
                ])
                .arg("--target")
                .arg(file)
                .arg("--output")
                .arg(&data)
                .arg("--iodepth")
                .args(depths),
        )?;
        let found = innermost(&data)?;
        Ok(Self {
            tool: tools.join("bin/fio-plot").canonicalize()?,
            data: found.canonicalize()?,
            chart: setup.folder.join("chart.png"),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.tool);
        command
            .arg("-i")
            .arg(&self.data)
            .args(["-T", "bench", "-l", "-r", "randread", "-o"])
            .arg(&self.chart);
        command
    }
}

/// The folder that holds the JSON files.
fn innermost(folder: &Path) -> Outcome<PathBuf> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            return innermost(&path);
        }
    }
    Ok(folder.to_owned())
}
