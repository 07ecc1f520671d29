//! The truth and its comparison, against figures worked out by hand and against outcomes made up to be wrong.
#![allow(dead_code)]

#[path = "../src/outcome.rs"]
mod outcome;
#[path = "../src/rig/mod.rs"]
mod rig;
#[path = "../src/truth/mod.rs"]
mod truth;
