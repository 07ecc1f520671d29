//! One interval as bytes: length, checksum, rows. What broke off in the middle is told from what is whole.

use super::row::COLUMNS;
use crate::run::{Cell, Kind, fits};

/// First bytes of a journal; the digit is the version of the coding.
pub(crate) const MAGIC: &[u8; 8] = b"PLMSREC1";
/// Length and checksum ahead of each frame.
pub(crate) const HEAD_BYTES: usize = 8;
/// No interval of any host is longer; a length beyond it is damage.
pub(crate) const FRAME_BYTES_MAX: usize = 64 << 20;

// One byte ahead of each value. Nothing and zero, which most values of most devices are, need no more.
const NULL: u8 = 0;
const ZERO: u8 = 1;
const INT: u8 = 2;
const FLOAT: u8 = 3;
const TEXT: u8 = 4;

/// Appends one frame that holds `rows` to `out`.
pub(crate) fn encode<'r>(rows: impl Iterator<Item = &'r Vec<Cell>>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; HEAD_BYTES]);
    for row in rows {
        row.iter().for_each(|cell| encode_cell(cell, out));
    }
    let body = &out[start + HEAD_BYTES..];
    let (length, crc) = (body.len() as u32, crc32fast::hash(body));
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + HEAD_BYTES].copy_from_slice(&crc.to_le_bytes());
}

fn encode_cell(cell: &Cell, out: &mut Vec<u8>) {
    match cell {
        Cell::Null => out.push(NULL),
        Cell::Int(0) => out.push(ZERO),
        Cell::Int(value) => {
            out.push(INT);
            out.extend(value.to_le_bytes());
        }
        // Minus zero is another number than zero.
        Cell::Float(value) if value.to_bits() == 0 => out.push(ZERO),
        Cell::Float(value) => {
            out.push(FLOAT);
            out.extend(value.to_bits().to_le_bytes());
        }
        Cell::Text(text) => {
            out.push(TEXT);
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.as_bytes());
        }
        // There is no such column.
        Cell::Bytes(_) => out.push(NULL),
    }
}

/// Length and checksum of the frame that begins with these bytes; `None` when no frame begins so.
pub(crate) fn head(bytes: [u8; HEAD_BYTES]) -> Option<(usize, u32)> {
    let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let length = number(0) as usize;
    (length > 0 && length <= FRAME_BYTES_MAX).then(|| (length, number(4)))
}

/// The rows of a frame's body; `None` when it is not what was written.
pub(crate) fn decode(body: &[u8], crc: u32) -> Option<Vec<Vec<Cell>>> {
    if crc32fast::hash(body) != crc {
        return None;
    }
    let mut rest = body;
    let mut rows = Vec::new();
    while !rest.is_empty() {
        let row = COLUMNS.iter().map(|(_, kind)| decode_cell(*kind, &mut rest));
        rows.push(row.collect::<Option<Vec<Cell>>>()?);
    }
    Some(rows)
}

fn decode_cell(kind: Kind, rest: &mut &[u8]) -> Option<Cell> {
    let cell = match take::<1>(rest)?[0] {
        NULL => Cell::Null,
        ZERO if kind == Kind::Int => Cell::Int(0),
        ZERO => Cell::Float(0.0),
        INT => Cell::Int(i64::from_le_bytes(take(rest)?)),
        FLOAT => Cell::Float(f64::from_bits(u64::from_le_bytes(take(rest)?))),
        TEXT => {
            let length = u32::from_le_bytes(take(rest)?) as usize;
            let (text, after) = rest.split_at_checked(length)?;
            *rest = after;
            Cell::Text(String::from_utf8(text.to_vec()).ok()?)
        }
        _ => return None,
    };
    fits(kind, &cell).then_some(cell)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(kind: Kind) -> BoxedStrategy<Cell> {
        let some = match kind {
            Kind::Int => any::<i64>().prop_map(Cell::Int).boxed(),
            Kind::Float => {
                any::<f64>().prop_filter("a number", |v| v.is_finite()).prop_map(Cell::Float).boxed()
            }
            _ => ".{0,20}".prop_map(Cell::Text).boxed(),
        };
        prop_oneof![Just(Cell::Null), some].boxed()
    }

    fn row() -> impl Strategy<Value = Vec<Cell>> {
        COLUMNS.iter().map(|(_, kind)| cell(*kind)).collect::<Vec<_>>()
    }

    fn frame(rows: &[Vec<Cell>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(rows.iter(), &mut bytes);
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn what_was_encoded_comes_back(rows in prop::collection::vec(row(), 1..4)) {
            let bytes = frame(&rows);
            let (length, crc) = head(bytes[..HEAD_BYTES].try_into().unwrap()).unwrap();
            prop_assert_eq!(length, bytes.len() - HEAD_BYTES);
            prop_assert_eq!(decode(&bytes[HEAD_BYTES..], crc).unwrap(), rows);
        }

        #[test]
        fn damage_is_noticed(rows in prop::collection::vec(row(), 1..3), at in 0.0f64..1.0, flip in 1u8..=255) {
            let mut bytes = frame(&rows);
            let (_, crc) = head(bytes[..HEAD_BYTES].try_into().unwrap()).unwrap();
            let body = bytes.len() - HEAD_BYTES;
            bytes[HEAD_BYTES + (at * body as f64) as usize] ^= flip;
            prop_assert_eq!(decode(&bytes[HEAD_BYTES..], crc), None);
        }

        #[test]
        fn forged_bytes_with_a_right_checksum_never_panic(body in prop::collection::vec(0u8..6, 0..400)) {
            let _ = decode(&body, crc32fast::hash(&body));
        }
    }
}
