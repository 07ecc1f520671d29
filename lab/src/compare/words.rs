//! Words: the layer, the advice, what the verdict and the warnings say. What `rigs.toml` declares goes before what is
//! computed.

use super::figures::{SHARE, beyond_processor};
use super::seen::{Advice, Probe};
use super::{Figure, Quantity, Sheet, Unit};
use crate::truth::limits::Word;
use crate::truth::{AdviceTruth, FileAdvice, Truth};

/// The binding layer.
pub fn bound_by(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    let layer = probe.bound_by.layer.clone();
    let right: Vec<String> = match &sheet.job.expect.bound_by {
        Some(word) => vec![word.clone()],
        None => {
            let words = truth.bound_by_at(probe.most().unwrap_or(0));
            words.into_iter().map(Word::text).map(str::to_owned).collect()
        }
    };
    let note = if right.is_empty() { "not asserted" } else { "" };
    let pass = right.is_empty() || right.contains(&layer);
    sheet.word(Quantity::BoundBy, right.join(" or "), Figure::Text(layer), pass, note);
}

/// The first advice: its file, its value, and what it expects of it.
pub fn advice(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    let computed = truth.advice_at(probe.most().unwrap_or(0));
    let first = probe.bound_by.advice.first();
    let file = first.and_then(|a| a.file.clone());
    match (sheet.job.expect.advice_file.as_deref(), &computed) {
        (Some(""), _) => no_file(sheet, probe),
        (Some(part), _) => {
            let pass = file.as_ref().is_some_and(|f| f.contains(part));
            sheet.word(Quantity::AdviceFile, part.to_owned(), text_of(file), pass, "");
        }
        (None, AdviceTruth::Open) => return,
        (None, AdviceTruth::NoFile) => no_file(sheet, probe),
        (None, AdviceTruth::File(wanted)) => {
            let pass =
                file.as_ref().is_some_and(|f| wanted.files.iter().any(|end| f.ends_with(end.as_str())));
            sheet.word(Quantity::AdviceFile, wanted.files.join(" or "), text_of(file), pass, "");
        }
    }
    if let (AdviceTruth::File(wanted), Some(first)) = (&computed, first) {
        value_and_rate(sheet, wanted, first);
    }
}

fn no_file(sheet: &mut Sheet<'_>, probe: &Probe) {
    let files: Vec<String> = probe.bound_by.advice.iter().filter_map(|a| a.file.clone()).collect();
    let seen = if files.is_empty() { Figure::Absent } else { Figure::Text(files.join(", ")) };
    sheet.word(Quantity::AdviceFile, "no file".to_owned(), seen, files.is_empty(), "");
}

fn value_and_rate(sheet: &mut Sheet<'_>, wanted: &FileAdvice, first: &Advice) {
    if let Some(value) = wanted.value {
        let pass = first.try_value.as_ref().is_some_and(|v| last_number(v) == Some(value));
        sheet.word(Quantity::AdviceValue, value.to_string(), text_of(first.try_value.clone()), pass, "");
    }
    let Some(after) = &wanted.after else { return };
    let Some(at) = first.expected_concurrency else {
        let what = "expected_iops at expected_concurrency".to_owned();
        sheet.word(Quantity::AdviceExpects, what, Figure::Absent, false, "");
        return;
    };
    // The prediction is for whole I/Os; a model that takes only these is asked for the nearest.
    let row = after.at(at.round().max(1.0) as u32);
    let note = beyond_processor(row.iops);
    let n = Some(row.n);
    sheet.number((Quantity::AdviceExpects, n), row.iops, first.expected_iops, (SHARE, Unit::Share), note);
}

/// The number at the end of `64` or of `8:0 riops=4000`.
fn last_number(text: &str) -> Option<u64> {
    let end: String = text.trim().chars().rev().take_while(char::is_ascii_digit).collect();
    end.chars().rev().collect::<String>().parse().ok()
}

/// Declared words, and those that follow from the rig, in the verdict or its evidence.
pub fn says(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    let computed_counts = probe.most().is_some_and(|most| truth.bound_by_at(most) == truth.bound_by);
    let mut words = sheet.job.expect.says.clone();
    for word in truth.says.iter().filter(|_| computed_counts) {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
    let verdict = probe.verdict.iter().chain([&probe.bound_by.headline]).chain(&probe.bound_by.evidence);
    let lines: Vec<&String> = verdict.collect();
    for word in words {
        contains(sheet, Quantity::Says, word, &lines, &probe.bound_by.headline);
    }
}

/// Declared words in a warning.
pub fn warns(sheet: &mut Sheet<'_>, probe: &Probe) {
    let lines: Vec<&String> = probe.warnings.iter().map(|w| &w.text).collect();
    let all = lines.iter().map(|l| l.as_str()).collect::<Vec<_>>().join(" | ");
    for word in sheet.job.expect.warns.clone() {
        contains(sheet, Quantity::Warns, word, &lines, &all);
    }
}

fn contains(sheet: &mut Sheet<'_>, quantity: Quantity, word: String, lines: &[&String], otherwise: &str) {
    let found = lines.iter().find(|line| line.contains(&word)).map(|line| (*line).clone());
    let pass = found.is_some();
    let seen = found.or((!otherwise.is_empty()).then(|| otherwise.to_owned()));
    sheet.word(quantity, word, text_of(seen), pass, "");
}

fn text_of(text: Option<String>) -> Figure {
    text.map_or(Figure::Absent, Figure::Text)
}
