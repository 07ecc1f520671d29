//! The lab: boots small machines with real SCSI LUNs and compares what Plimsoll says there with what is known.
mod outcome;
mod rig;

fn main() {}
