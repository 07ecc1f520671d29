//! What the tests of all formats share.
#![allow(dead_code, reason = "each test file uses its part")]

use import::Reading;
use proptest::prelude::*;
use record::imported::{Gathered, Quantity, Row};

/// Reads a text that must be recognised as this format, and no other.
pub fn read_as(format: &str, text: &str) -> Gathered {
    let (all, reading) = read_any(text.as_bytes());
    assert_eq!(reading.refused, [], "refused");
    assert_eq!(reading.read[0].1, [format], "{:?}", all.sources);
    all
}

/// Reads any bytes.
pub fn read_any(bytes: &[u8]) -> (Gathered, Reading) {
    let mut all = Gathered::default();
    let mut stream = bytes;
    let reading = import::read_stream("test", &mut stream, &mut all);
    (all, reading)
}

/// The values of a row in the order asked for; NaN where absent.
pub fn values(row: &Row, wanted: &[Quantity]) -> Vec<f64> {
    wanted.iter().map(|q| row.value(*q).unwrap_or(f64::NAN)).collect()
}

/// Whether two numbers agree within rounding.
pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Damages a text in the ways that happen: cut off, lines lost, bytes changed, something else in between.
pub fn damaged(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let bytes = text.as_bytes();
    let length = bytes.len();
    (
        0..=length,
        prop::collection::vec((0..length.max(1), any::<u8>()), 0..8),
        any::<bool>(),
        0..length.max(1),
    )
        .prop_map(move |(end, changes, doubled, from)| {
            let mut out = bytes[..end].to_vec();
            for (at, byte) in changes {
                if at < out.len() {
                    out[at] = byte;
                }
            }
            if doubled {
                out.extend_from_slice(&bytes[from..]);
            }
            out
        })
}
