//! Writes a sample run, page and JSON from invented data into a folder: `cargo run -p report --example sample_report DIR`.
//! Beside it, in `cases`, stand the page and the terminal report of every odd answer that the tests know.

#[path = "../tests/fixture/mod.rs"]
mod fixture;
#[path = "../tests/nasty/mod.rs"]
mod nasty;

use record::run::{PAGE_FILE, RunWriter};
use report::{html, json, terminal};
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("which folder? give one that does not exist yet")?;
    let dir = PathBuf::from(dir);
    let report = fixture::found();
    let mut writer = RunWriter::create(&dir)?;
    writer.describe(&json::run_document(&report, None))?;
    for step in &report.answer.steps {
        writer.append(step)?;
    }
    writer.finish(&json::run_document(&report, Some(report.started_at)))?;
    let began = Instant::now();
    let page = html::probe(&report);
    let spent = began.elapsed();
    std::fs::write(dir.join(PAGE_FILE), &page)?;
    std::fs::write(dir.join("probe.json"), json::probe(&report))?;
    let cases = dir.join("cases");
    std::fs::create_dir_all(&cases)?;
    for (name, report) in nasty::cases() {
        let stem = cases.join(name.replace(' ', "-"));
        std::fs::write(stem.with_extension("html"), html::probe(&report))?;
        std::fs::write(stem.with_extension("txt"), terminal::probe(&report, terminal::Style::default()))?;
    }
    print!("{}", terminal::probe(&report, terminal::Style::default()));
    eprintln!("page: {} bytes drawn in {:.2} ms", page.len(), spent.as_secs_f64() * 1e3);
    Ok(())
}
