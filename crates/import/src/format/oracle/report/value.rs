//! Numbers as Oracle's reports print them: thousands commas, `.9`, `2.2E+04`, suffixes of counts, data and times.

/// A cell that has no value: blank, `N/A`, or a number that was too wide for its column.
pub(crate) fn is_absent(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty()
        || cell.eq_ignore_ascii_case("n/a")
        || cell.bytes().all(|b| b == b'#')
        || cell == "-"
        || cell == "\u{a0}"
}

/// A number without a suffix; NaN where the cell has none, absent when it is damaged.
pub(crate) fn plain(cell: &str) -> Option<f64> {
    if is_absent(cell) {
        return Some(f64::NAN);
    }
    number(cell.trim())
}

/// A count: `K`, `M`, `G`, `T`, `P` in thousands (the reports say so: other columns than those of data).
pub(crate) fn count(cell: &str) -> Option<f64> {
    if is_absent(cell) {
        return Some(f64::NAN);
    }
    let (text, power) = suffixed(cell.trim());
    number(text).map(|n| n * 1000f64.powi(power))
}

/// Bytes of a data column: `M`, `G`, `T`, `P` in steps of 1024. The smallest suffix there is is `M`, so a number without one
/// lost it to the width of its column (`174.281` for `174.281M`).
pub(crate) fn data(cell: &str) -> Option<f64> {
    if is_absent(cell) {
        return Some(f64::NAN);
    }
    let (text, power) = suffixed(cell.trim());
    number(text).map(|n| n * 1024f64.powi(if power == 0 { 2 } else { power }))
}

/// Microseconds of `4.66ms`, `546.98us`, `684.90 s`, `.00ns`; a cut `1230.91m` is milliseconds. A number without a unit is
/// in `unit_us`.
pub(crate) fn time_us(cell: &str, unit_us: f64) -> Option<f64> {
    if is_absent(cell) {
        return Some(f64::NAN);
    }
    let cell = cell.trim();
    let split = cell.find(|c: char| c.is_ascii_lowercase()).unwrap_or(cell.len());
    let (text, unit) = cell.split_at(split);
    let factor = match unit {
        "" => unit_us,
        "ns" | "n" => 1e-3,
        "us" | "u" => 1.0,
        "ms" | "m" => 1e3,
        "cs" | "c" => 1e4,
        "s" => 1e6,
        _ => return None,
    };
    // To the picosecond: 16.03 ms are not 16030.000000000002 us.
    number(text.trim_end()).map(|n| (n * factor * 1e6).round() / 1e6)
}

/// The number at the beginning of a text: `  10.07 (mins)`.
pub(crate) fn first(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next().and_then(count)
}

/// Whether a word could be a cell of numbers, whatever its suffix.
pub(crate) fn is_numeric(word: &str) -> bool {
    word.bytes().all(|b| b == b'#') && !word.is_empty()
        || word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
            && (count(word).is_some_and(f64::is_finite) || time_us(word, 1.0).is_some_and(f64::is_finite))
}

fn suffixed(text: &str) -> (&str, i32) {
    let power = match text.as_bytes().last() {
        Some(b'K' | b'k') => 1,
        Some(b'M') => 2,
        Some(b'G') => 3,
        Some(b'T') => 4,
        Some(b'P') => 5,
        _ => 0,
    };
    (if power == 0 { text } else { &text[..text.len() - 1] }, power)
}

fn number(text: &str) -> Option<f64> {
    let fits = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'E' | b'e');
    if !text.bytes().all(fits) || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let plain = match (text.rfind(','), text.rfind('.')) {
        // Of a session that writes a decimal comma: `503.031,6`, `60,01`. Three digits are thousands.
        (Some(comma), dot) if dot.map_or(text.len() - comma != 4, |d| d < comma) => {
            text.replace('.', "").replace(',', ".")
        }
        (None, Some(_)) if text.matches('.').count() > 1 => {
            let is_grouped = text.split('.').skip(1).all(|g| g.len() == 3);
            is_grouped.then(|| text.replace('.', ""))?
        }
        _ => text.replace(',', ""),
    };
    plain.parse().ok().filter(|n: &f64| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_and_without_suffixes() {
        assert_eq!(plain("2,066,562"), Some(2_066_562.0));
        assert_eq!(plain(".9"), Some(0.9));
        assert_eq!(plain("2.2E+04"), Some(22_000.0));
        assert_eq!(plain("1.E+02"), Some(100.0));
        assert_eq!(
            (plain("503.031,6"), plain("60,01"), plain("1.234.567")),
            (Some(503_031.6), Some(60.01), Some(1_234_567.0))
        );
        assert_eq!(
            (plain("1,234.5"), plain("1,234,567"), plain("1.23.4")),
            (Some(1234.5), Some(1_234_567.0), None)
        );
        assert!(plain(" ").unwrap().is_nan() && plain("########").unwrap().is_nan());
        assert_eq!((plain("abc"), plain("12x"), plain("1-2-3")), (None, None, None));
        assert_eq!((count("2.1M"), count("95K")), (Some(2_100_000.0), Some(95_000.0)));
        assert_eq!(data("2G"), Some(2_147_483_648.0));
        assert_eq!(data(".5M"), Some(524_288.0));
        assert_eq!(data("174.281"), Some(174.281 * 1_048_576.0));
    }

    #[test]
    fn times_with_their_units() {
        assert_eq!(time_us("4.66ms", 1e3), Some(4660.0));
        assert_eq!(time_us("546.98us", 1e3), Some(546.98));
        assert_eq!(time_us("1230.91m", 1e3), Some(1_230_910.0));
        assert_eq!(time_us("684.90 s", 1e3), Some(684_900_000.0));
        assert_eq!(time_us("184", 1e3), Some(184_000.0));
        assert_eq!(time_us("3", 1e4), Some(30_000.0));
        assert_eq!(time_us("4.66xs", 1e3), None);
    }

    #[test]
    fn numeric_words() {
        for word in ["12", "1,234", ".9", "2.1M", "4.66ms", "####", "-3"] {
            assert!(is_numeric(word), "{word}");
        }
        for word in ["2-way", "I/O", "-outs", "", "1/4s", "a"] {
            assert!(!is_numeric(word), "{word}");
        }
    }
}
