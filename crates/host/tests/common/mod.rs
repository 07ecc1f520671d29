//! Helpers of the tests: kernel folders from compact text, and loop devices that clean up after themselves.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod events;
pub mod live;
pub mod tree;
