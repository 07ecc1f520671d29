//! The numbers of one row, by the columns of its header: the part that a gigabyte of text spends its time in.

use crate::out::{Layout, Out};
use crate::text::number::decimal;
use record::imported::Quantity;

/// Largest number of quantities in a row.
pub(super) const WIDTH_MAX: usize = 32;
/// Above this a figure stems from a counter that went back (sysstat issue 355), not from a device.
const SENSIBLE_MAX: f64 = 1e15;
const POWERS: [f64; 18] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17];

/// Values of a row.
pub(super) type Values = [f64; WIDTH_MAX];

/// Where the number of a column goes.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: usize,
    factor: f64,
    /// Added to what another column gave: `pgscank/s` and `pgscand/s`.
    adds: bool,
}

/// Reads rows of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// One per column; `None` where it is not kept.
    slots: Vec<Option<Slot>>,
    quantities: Vec<Quantity>,
    layout: Option<Layout>,
    /// Columns that are not kept may hold anything, not only numbers.
    lenient: bool,
}

/// Whether columns of this quantity are summed when there are several: otherwise the later one says the same in another
/// unit.
pub(super) fn is_sum(quantity: Quantity) -> bool {
    use Quantity::{CacheBytes, CpuGuestPercent, PagesScannedPerS, SwitchesPerS};
    matches!(quantity, PagesScannedPerS | CacheBytes | CpuGuestPercent | SwitchesPerS)
}

impl Cells {
    /// By columns: the quantity of each and the factor that turns its unit into ours.
    pub fn new(columns: &[Option<(Quantity, f64)>], lenient: bool, out: &mut Out<'_>) -> Self {
        let mut quantities: Vec<Quantity> = Vec::new();
        let mut slots = Vec::new();
        for column in columns {
            let Some((quantity, factor)) = *column else {
                slots.push(None);
                continue;
            };
            let known = quantities.iter().position(|q| *q == quantity);
            let slot = match known {
                Some(at) => Some(Slot { at, factor, adds: is_sum(quantity) }),
                None if quantities.len() < WIDTH_MAX => {
                    quantities.push(quantity);
                    Some(Slot { at: quantities.len() - 1, factor, adds: false })
                }
                None => None,
            };
            slots.push(slot);
        }
        let layout = out.layout(&quantities);
        Self { slots, quantities, layout: Some(layout), lenient }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Number of quantities.
    pub fn width(&self) -> usize {
        self.quantities.len()
    }

    /// The quantities, in the order of a row's values.
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// For [`Out::row`]; absent before a header was seen.
    pub fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// Numbers between blanks: exactly as many as there are columns.
    #[inline]
    pub fn blanks(&self, text: &str, values: &mut Values) -> bool {
        let bytes = text.as_bytes();
        let mut at = 0;
        for slot in &self.slots {
            at = past_blanks(bytes, at);
            let Some(end) = self.cell::<b' '>(text, at, *slot, values) else { return false };
            at = end;
        }
        bytes[at..].iter().all(|b| matches!(b, b' ' | b'\t'))
    }

    /// Numbers between semicolons: exactly as many as there are columns. `text` begins with the first.
    #[inline]
    pub fn semicolons(&self, text: &str, values: &mut Values) -> bool {
        self.semicolons_from(text, values) == Some(text.len())
    }

    /// The same where more may follow: the byte after the last number.
    #[inline]
    pub fn semicolons_from(&self, text: &str, values: &mut Values) -> Option<usize> {
        let mut at = 0;
        for (n, slot) in self.slots.iter().enumerate() {
            if n > 0 {
                if text.as_bytes().get(at) != Some(&b';') {
                    return None;
                }
                at += 1;
            }
            at = self.cell::<b';'>(text, at, *slot, values)?;
        }
        Some(at)
    }

    /// One cell; where it ends, or `None` when it is no number.
    #[inline(always)]
    fn cell<const END: u8>(
        &self,
        text: &str,
        start: usize,
        slot: Option<Slot>,
        values: &mut Values,
    ) -> Option<usize> {
        let bytes = text.as_bytes();
        if let (Some((hundredths, end)), Some(slot)) = (with_two_places::<END>(bytes, start), slot) {
            let number = hundredths as f64 / 100.0 * slot.factor;
            let value = &mut values[slot.at];
            *value = if slot.adds && !value.is_nan() { *value + number } else { number };
            return Some(end);
        }
        let mut at = start;
        // The usual figure: digits, at most one point or comma, and nothing else.
        let (mut whole, mut point, mut plain) = (0u64, usize::MAX, true);
        while let Some(&byte) = bytes.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit));
            } else if byte == END || (END == b' ' && byte == b'\t') {
                break;
            } else if (byte == b'.' || byte == b',') && point == usize::MAX {
                point = at;
            } else {
                plain = false;
            }
            at += 1;
        }
        let length = at - start;
        let Some(slot) = slot else {
            let fine = length > 0 && (self.lenient || plain || unusual(&text[start..at]).is_some());
            return fine.then_some(at);
        };
        let has_point = point != usize::MAX;
        let number = if plain && length <= 17 && length > usize::from(has_point) {
            let places = if has_point { at - point - 1 } else { 0 };
            whole as f64 / POWERS[places] * slot.factor
        } else {
            match unusual(&text[start..at])? {
                Unusual::Number(number) if number.abs() < SENSIBLE_MAX => number * slot.factor,
                Unusual::Bytes(bytes) => bytes,
                Unusual::Number(_) | Unusual::Nothing => f64::NAN,
            }
        };
        let value = &mut values[slot.at];
        *value = if slot.adds && !value.is_nan() { *value + number } else { number };
        Some(at)
    }
}

/// Bytes from `at` on as one word, the first in the lowest place, and how many of them belong to the text.
#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    if let Some(word) = bytes.get(at..at + 8) {
        return Some((u64::from_le_bytes(word.try_into().ok()?), 8));
    }
    let rest = bytes.len().checked_sub(at).filter(|rest| *rest > 0)?;
    let word = bytes.get(bytes.len().checked_sub(8)?..)?;
    Some((u64::from_le_bytes(word.try_into().ok()?) >> (8 * (8 - rest)), rest))
}

/// Marks the bytes of a word that are zero; exact for the lowest of them.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// The first byte from `at` on that is no blank.
#[inline(always)]
fn past_blanks(bytes: &[u8], mut at: usize) -> usize {
    const BLANKS: u64 = 0x2020_2020_2020_2020;
    while let Some((word, 8)) = word_at(bytes, at) {
        let other = word ^ BLANKS;
        if other != 0 {
            at += (other.trailing_zeros() / 8) as usize;
            break;
        }
        at += 8;
    }
    while at < bytes.len() && matches!(bytes[at], b' ' | b'\t') {
        at += 1;
    }
    at
}

/// The usual figure, digits with two decimal places and at most eight characters, without a branch per character: in
/// hundredths, and where it ends. `None` for any other.
#[inline(always)]
fn with_two_places<const END: u8>(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (word, known) = word_at(bytes, start)?;
    let ends = zero_bytes(word ^ (ONES * END as u64));
    let length = ((ends.trailing_zeros() / 8) as usize).min(known);
    if length < 4 || (length == 8 && bytes.get(start + 8).is_some_and(|b| *b != END)) {
        return None;
    }
    // Digits become their values, and the last character comes to the highest place.
    let digits = (word ^ (ONES * b'0' as u64)) << (8 * (8 - length));
    let point = (digits >> 40) as u8 ^ b'0';
    let packed = (digits & 0xffff_0000_0000_0000) | (digits & 0x0000_00ff_ffff_ffff) << 8;
    let is_digits = (packed | packed.wrapping_add(ONES * 0x76)) & (ONES << 7) == 0;
    if !is_digits || (point != b'.' && point != b',') {
        return None;
    }
    let pairs = packed.wrapping_mul(2561) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(6_553_601) >> 16 & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(42_949_672_960_001) >> 32, start + length))
}

/// A figure that is not just digits and a point.
enum Unusual {
    Number(f64),
    /// Option --human: `222.1k` is in bytes whatever the header says.
    Bytes(f64),
    /// `nan`: 0 divided by 0.
    Nothing,
}

#[cold]
fn unusual(text: &str) -> Option<Unusual> {
    if let Some(number) = decimal(text.strip_suffix('%').unwrap_or(text)) {
        return Some(Unusual::Number(number));
    }
    if matches!(text, "nan" | "-nan" | "inf" | "-inf") {
        return Some(Unusual::Nothing);
    }
    let power = match text.bytes().last()? {
        b'B' => 0,
        b'k' | b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        _ => return None,
    };
    decimal(&text[..text.len() - 1]).map(|n| Unusual::Bytes(n * 1024f64.powi(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_with_two_places_are_read_at_once() {
        let read = |text: &str| with_two_places::<b';'>(text.as_bytes(), 0);
        for (text, wanted) in [
            ("0.00;0.00;", Some((0, 4))),
            ("12345.67;1", Some((1_234_567, 8))),
            ("99999.99", Some((9_999_999, 8))),
            ("1,50;longer than a word", Some((150, 4))),
            ("123456.78;", None),
            ("1.5;rest of line", None),
            ("-1.50;rest of line", None),
            ("1x.50;rest of line", None),
            ("12.345;rest", None),
            (";;;;;;;;;;", None),
            ("1.50", None),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
        // At the end of a text that is long enough.
        assert_eq!(with_two_places::<b';'>(b"1.00;2.00;33.25", 10), Some((3325, 15)));
        assert_eq!(with_two_places::<b' '>(b"      33.25   ", 6), Some((3325, 11)));
        assert_eq!(past_blanks(b"                 x", 1), 17);
        assert_eq!(past_blanks(b"  \t  ", 0), 5);
    }
}
