//! `lab fetch`.

use super::WELL;
use crate::error::Result;
use crate::kernel;
use crate::place::Place;
use crate::rig::Kernel;

/// Gets both kernels.
pub fn fetch(place: &Place, newest: bool) -> Result<u8> {
    for series in [Kernel::V6_1, Kernel::V6_12] {
        let kept = kernel::get(&place.kernels(), series, newest, &|line| eprintln!("lab: {line}"))?;
        println!("{:5} {}", series.name(), kept.release);
    }
    Ok(WELL)
}
