//! Writes a sample run, page and JSON from invented data into a folder: `cargo run -p report --example sample_report DIR`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

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
    print!("{}", terminal::probe(&report, terminal::Style::default()));
    eprintln!("page: {} bytes drawn in {:.2} ms", page.len(), spent.as_secs_f64() * 1e3);
    Ok(())
}
