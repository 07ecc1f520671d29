//! Sizes as people write them: `8k`, `16KiB`, `1m`, `4g`. All are powers of two.

/// Bytes of a size; `None` when it is not one.
pub fn parse_size(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let shift = match unit.trim() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * (1u64 << shift) as f64;
    (bytes >= 1.0 && bytes < (1u64 << 62) as f64 && bytes.fract() == 0.0).then_some(bytes as u64)
}

/// The shortest exact form with a binary unit.
pub fn show_size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        b if b >= 1 << 30 => (1u64 << 30, "GiB"),
        b if b >= 1 << 20 => (1 << 20, "MiB"),
        b if b >= 1 << 10 => (1 << 10, "KiB"),
        _ => (1, "bytes"),
    };
    if bytes.is_multiple_of(unit) {
        format!("{} {name}", bytes / unit)
    } else {
        format!("{:.1} {name}", bytes as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        let cases = [
            ("8k", 8192),
            ("16KiB", 16384),
            ("1m", 1 << 20),
            ("1.5g", 3 << 29),
            ("512", 512),
            (" 4 kb ", 4096),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "k", "-1k", "8q", "1.3", "0", "99999999t", "1e3"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_show_in_the_largest_whole_unit() {
        assert_eq!(show_size(8192), "8 KiB");
        assert_eq!(show_size(3 << 29), "1.5 GiB");
        assert_eq!(show_size(512), "512 bytes");
    }
}
