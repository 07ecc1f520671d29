//! Numbers as tools print them.

const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// A decimal number with point or comma, an optional sign, and nothing else. Absent for anything that is none, and for
/// thousands separators.
#[inline]
pub fn decimal(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes.first()? {
        b'-' => (true, &bytes[1..]),
        b'+' => (false, &bytes[1..]),
        _ => (false, bytes),
    };
    let (mut value, mut seen, mut after) = (0u64, 0usize, None);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                seen += 1;
            }
            b'.' | b',' if after.is_none() => after = Some(seen),
            _ => return slow(text),
        }
    }
    if seen == 0 || seen > 18 {
        return if seen == 0 { None } else { slow(text) };
    }
    let places = after.map_or(0, |a| seen - a);
    let number = value as f64 / POWERS[places];
    Some(if negative { -number } else { number })
}

/// Exponents, and more digits than 64 bits hold.
#[cold]
fn slow(text: &str) -> Option<f64> {
    let is_number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'e' | b'E');
    if !text.bytes().all(is_number) || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    text.replace(',', ".").parse().ok().filter(|n: &f64| n.is_finite())
}

/// A number with a unit letter: K M G T P E in steps of `step` (1000 or 1024), upper or lower case, with or without a
/// following `B` or `iB`. A number without a letter is taken as it is. An unknown letter is no number.
pub fn scaled(text: &str, step: f64) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.trim_end_matches("iB").trim_end_matches(['B', 'b']);
    let power = match unit {
        "" => 0,
        "K" | "k" => 1,
        "M" | "m" => 2,
        "G" | "g" => 3,
        "T" | "t" => 4,
        "P" | "p" => 5,
        "E" => 6,
        _ => return None,
    };
    decimal(number.trim()).map(|n| n * step.powi(power))
}

/// An integer with thousands commas: `1,234,567`.
pub fn grouped(text: &str) -> Option<f64> {
    let mut groups = text.split(',');
    let first = groups.next()?.trim_start_matches('-');
    let plain = |g: &str| g.bytes().all(|b| b.is_ascii_digit());
    if first.is_empty() || !plain(first) {
        return if text.contains(',') { grouped_fraction(text) } else { decimal(text) };
    }
    if !groups.clone().all(|g| g.len() == 3 && plain(g)) {
        return grouped_fraction(text);
    }
    text.replace(',', "").parse().ok()
}

fn grouped_fraction(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    let digits: String = whole.split(',').collect();
    let groups_fit = whole.split(',').skip(1).all(|g| g.len() == 3);
    if !groups_fit || fraction.contains(',') {
        return None;
    }
    decimal(&format!("{digits}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_with_point_or_comma() {
        assert_eq!(decimal("0.53"), Some(0.53));
        assert_eq!(decimal("12,34"), Some(12.34));
        assert_eq!(decimal("-7"), Some(-7.0));
        assert_eq!(decimal("18446744073709551615"), Some(18_446_744_073_709_551_615.0));
        assert_eq!(decimal("1.5e3"), Some(1500.0));
        for bad in ["", "-", ".", "1.2.3", "1,234.5", "sda", "nan", "inf", "12k", "--", "e5", "1e999"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn letters_scale() {
        assert_eq!(scaled("1.5K", 1024.0), Some(1536.0));
        assert_eq!(scaled("2MiB", 1024.0), Some(2_097_152.0));
        assert_eq!(scaled("42", 1000.0), Some(42.0));
        assert_eq!(scaled("42x", 1000.0), None);
    }

    #[test]
    fn thousands_commas() {
        assert_eq!(grouped("1,234,567"), Some(1_234_567.0));
        assert_eq!(grouped("1,234.5"), Some(1234.5));
        assert_eq!(grouped("12"), Some(12.0));
        assert_eq!(grouped("1,23"), None);
    }
}
