//! Interleaved rounds, and what is kept of them.

use crate::Outcome;
use crate::contender::{Contender, CpuPerIo};
use std::path::Path;

/// Repeats above this ratio to the contender's smallest are dropped.
pub const SPREAD_MAX: f64 = 1.3;

/// Repeats of one contender.
pub struct Result {
    /// Its name.
    pub name: String,
    /// Kept repeats, in order.
    pub kept: Vec<CpuPerIo>,
    /// Dropped repeats.
    pub dropped: usize,
}

impl Result {
    /// Median of the kept processor times.
    pub fn median_us(&self) -> f64 {
        median(self.kept.iter().map(CpuPerIo::total_us).collect())
    }

    /// Median of the kept user times.
    pub fn median_user_us(&self) -> f64 {
        median(self.kept.iter().map(|c| c.user_us).collect())
    }
}

/// Runs all contenders in turn, `rounds` times, each after `prepare`.
pub fn interleave(
    contenders: &[Contender],
    file: &Path,
    rounds: usize,
    seconds: u32,
    prepare: impl Fn() -> Outcome<()>,
) -> Outcome<Vec<Result>> {
    let mut all: Vec<Vec<CpuPerIo>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (contender, seen) in contenders.iter().zip(&mut all) {
            eprintln!("  round {} of {rounds}: {}", round + 1, contender.name);
            prepare()?;
            seen.push((contender.run)(file, seconds)?);
        }
    }
    Ok(contenders.iter().zip(all).map(|(contender, seen)| keep(&contender.name, seen)).collect())
}

fn keep(name: &str, seen: Vec<CpuPerIo>) -> Result {
    let smallest = seen.iter().map(CpuPerIo::total_us).fold(f64::INFINITY, f64::min);
    let all = seen.len();
    let kept: Vec<CpuPerIo> = seen.into_iter().filter(|c| c.total_us() <= SPREAD_MAX * smallest).collect();
    Result { name: name.to_owned(), dropped: all - kept.len(), kept }
}

/// Prints the table; ratios are ours over theirs, of medians.
pub fn print(title: &str, results: &[Result], ours: &str) {
    let own = results.iter().find(|r| r.name == ours).map_or(f64::NAN, Result::median_us);
    println!("\n{title}\n");
    println!("| contender | us/IO median [min..max] | user us/IO | kIOPS | ours / theirs | dropped |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for result in results {
        let totals: Vec<f64> = result.kept.iter().map(CpuPerIo::total_us).collect();
        let low = totals.iter().copied().fold(f64::INFINITY, f64::min);
        let high = totals.iter().copied().fold(0.0, f64::max);
        println!(
            "| {} | {:.3} [{low:.3}..{high:.3}] | {:.3} | {:.0} | {} | {} |",
            result.name,
            result.median_us(),
            result.median_user_us(),
            median(result.kept.iter().map(|c| c.iops / 1e3).collect()),
            if result.name == ours { "1".to_owned() } else { format!("{:.2}", own / result.median_us()) },
            result.dropped,
        );
    }
}

/// Middle value; mean of the two middle ones for an even count.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_far_above_the_smallest_are_dropped_and_counted() {
        let run = |us| CpuPerIo { user_us: 0.0, sys_us: us, iops: 1.0, load_s: 1.0 };
        let result = keep("x", vec![run(1.0), run(1.29), run(1.31), run(5.0)]);
        assert_eq!((result.kept.len(), result.dropped), (2, 2));
        assert!((result.median_us() - 1.145).abs() < 1e-9);
    }
}
