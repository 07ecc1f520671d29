//! Rows of the device table: the part that a gigabyte of text spends its time in.

use super::header::Column;
use crate::format::linux::device;
use crate::out::{Layout, Out};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::PlaceId;

/// Largest number of columns that is kept.
const COLUMNS_MAX: usize = 32;
/// Above this a figure stems from a counter that went back (sysstat issue 355), not from a device.
const SENSIBLE_MAX: f64 = 1e15;

/// Reads rows by the columns of their header.
#[derive(Default)]
pub(super) struct Devices {
    /// Per column: its place in the row and its factor; `None` where it is not kept.
    columns: Vec<Option<(usize, f64)>>,
    /// The name stands in the last column (options --pretty, -j).
    name_last: bool,
    layout: Option<Layout>,
    width: usize,
    /// Devices in the order in which they were met: most tables repeat the order of the one before.
    known: Vec<(String, PlaceId)>,
    /// Which of them is expected next.
    next: usize,
}

impl Devices {
    /// Takes the columns of a header.
    pub fn set_columns(&mut self, columns: &[Column], out: &mut Out<'_>) {
        self.name_last = columns.last() == Some(&Column::Name);
        self.columns.clear();
        let mut quantities = Vec::new();
        for column in columns {
            match column {
                Column::Name => {}
                Column::Kept(quantity, factor) if quantities.len() < COLUMNS_MAX => {
                    self.columns.push(Some((quantities.len(), *factor)));
                    quantities.push(*quantity);
                }
                _ => self.columns.push(None),
            }
        }
        self.width = quantities.len();
        self.layout = Some(out.layout(&quantities));
    }

    /// Numbers in a row.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The host has changed: names mean other devices.
    pub fn forget(&mut self) {
        self.known.clear();
        self.next = 0;
    }

    /// A table begins.
    pub fn begin_table(&mut self) {
        self.next = 0;
    }

    /// Whether a line that is no good row was meant as one: it has a name and mostly numbers.
    pub fn looks_like_row(&self, line: &str) -> bool {
        let cells = words(line);
        let numbers = cells.iter().filter(|c| decimal(c).is_some()).count();
        cells.len() > 1 && numbers * 2 >= cells.len() && numbers * 2 >= self.columns.len()
    }

    /// One row; false when the line is none.
    pub fn row(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some(layout) = self.layout else { return false };
        let mut values = [f64::NAN; COLUMNS_MAX];
        let (name, numbers) = if self.name_last { self.split_last(line) } else { split_first(line) };
        if name.is_empty() || !self.numbers(numbers, &mut values) {
            return false;
        }
        let place = self.place(name, out);
        out.row(layout, place, &values[..self.width]);
        true
    }

    /// The name is what follows the last number.
    fn split_last<'l>(&self, line: &'l str) -> (&'l str, &'l str) {
        let line = line.trim_end();
        let at = line.rfind([' ', '\t']).map_or(0, |at| at + 1);
        (&line[at..], &line[..at])
    }

    /// All numbers of a row: exactly as many as there are columns.
    #[inline]
    fn numbers(&self, text: &str, values: &mut [f64; COLUMNS_MAX]) -> bool {
        let bytes = text.as_bytes();
        let mut at = 0;
        for column in &self.columns {
            while at < bytes.len() && matches!(bytes[at], b' ' | b'\t') {
                at += 1;
            }
            let start = at;
            // The usual figure: digits, at most one point or comma, and nothing else.
            let (mut whole, mut scale, mut plain) = (0u64, 0u32, true);
            let mut after = false;
            while at < bytes.len() {
                let byte = bytes[at];
                if byte.is_ascii_digit() {
                    whole = whole.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                    scale += u32::from(after);
                } else if byte == b' ' || byte == b'\t' {
                    break;
                } else if (byte == b'.' || byte == b',') && !after {
                    after = true;
                } else {
                    plain = false;
                }
                at += 1;
            }
            if at == start {
                return false;
            }
            let number = if plain && at - start <= 17 && at - start > usize::from(after) {
                whole as f64 / POWERS[scale as usize]
            } else {
                match human(&text[start..at]) {
                    Some(number) => number,
                    None => return false,
                }
            };
            if let Some((place, factor)) = column {
                let sensible = number.abs() < SENSIBLE_MAX;
                values[*place] = if sensible { number * factor } else { f64::NAN };
            }
        }
        bytes[at..].iter().all(|b| matches!(b, b' ' | b'\t'))
    }

    fn place(&mut self, name: &str, out: &mut Out<'_>) -> PlaceId {
        if let Some((_, place)) = self.known.get(self.next).filter(|(known, _)| known == name) {
            self.next += 1;
            return *place;
        }
        if let Some(found) = self.known.iter().position(|(known, _)| known == name) {
            self.next = found + 1;
            return self.known[found].1;
        }
        let place = out.place(device::kind(name), name);
        self.known.push((name.to_owned(), place));
        self.next = self.known.len();
        place
    }
}

const POWERS: [f64; 18] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17];

/// The name ends at the first blank.
fn split_first(line: &str) -> (&str, &str) {
    let end = memchr::memchr2(b' ', b'\t', line.as_bytes()).unwrap_or(line.len());
    line.split_at(end)
}

/// Figures of option -h: `222.1k`, `1.5G`, `39.9%`. The factor of the column stands for one k, so `k` is one.
#[cold]
fn human(text: &str) -> Option<f64> {
    if let Some(percent) = text.strip_suffix('%') {
        return decimal(percent);
    }
    match text.bytes().last()? {
        b'k' | b'K' => decimal(&text[..text.len() - 1]),
        b'B' => decimal(&text[..text.len() - 1]).map(|n| n / 1024.0),
        last if last.is_ascii_alphabetic() => scaled(text, 1024.0).map(|n| n / 1024.0),
        _ => decimal(text),
    }
}
