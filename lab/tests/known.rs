//! The truth and its comparison, against figures worked out by hand and against outcomes made up to be wrong.
#![allow(dead_code)]

#[path = "../src/compare/mod.rs"]
mod compare;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/outcome.rs"]
mod outcome;
#[path = "../src/rig/mod.rs"]
mod rig;
#[path = "../src/truth/mod.rs"]
mod truth;

#[path = "known/comparison.rs"]
mod comparison;
#[path = "known/rigs.rs"]
mod rigs;
#[path = "known/simulated.rs"]
mod simulated;
#[path = "known/stations.rs"]
mod stations;

/// A rig from its text in `rigs.toml`.
fn rig_of(text: &str) -> rig::Rig {
    toml::from_str(&format!("about = \"a test\"\n{text}")).expect("the rig of the test is well-formed")
}

/// A boot in which each device of `names` has the kernel name beside it.
fn boot(names: &[(&str, &str)]) -> outcome::Outcome {
    outcome::Outcome {
        devices: names.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        finished: true,
        ..outcome::Outcome::default()
    }
}
