//! The terminal report: answers first, fits 80 columns, says what it does not know.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod nasty;

use report::terminal::{Charset, Color, DoctorRow, DoctorState, Style, doctor, probe};

fn shown(report: &report::ProbeReport) -> String {
    probe(report, Style::default())
}

#[test]
fn every_answer_fits_its_width() {
    for (name, report) in nasty::cases() {
        for width in [60, 80, 100, 200] {
            let text = probe(&report, Style { width, ..Style::default() });
            for line in text.lines() {
                let length = line.chars().count();
                assert!(length <= width.max(80), "{name} at {width}: {length} in '{line}'");
            }
        }
    }
}
