//! Sizes, times and percentages as people write them.

/// `16k`, `1M`, `4GiB`, `8192` to bytes; k, M, G and T are powers of 1024, as in fio and Oracle's tools.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let factor: u64 = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return Err(format!("'{text}' is no size; write it like 8k, 1M or 4G")),
    };
    let number: f64 =
        number.parse().map_err(|_| format!("'{text}' is no size; write it like 8k, 1M or 4G"))?;
    let bytes = number * factor as f64;
    if !(1.0..=9e18).contains(&bytes) {
        return Err(format!("'{text}' is out of range"));
    }
    Ok(bytes.round() as u64)
}

/// `60s`, `2m`, `90`, `500ms` to seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    within(text, 7.0)
}

/// The same for what may last for years.
pub fn long_seconds(text: &str) -> Result<f64, String> {
    within(text, 3660.0)
}

fn within(text: &str, days: f64) -> Result<f64, String> {
    let (number, unit) = split(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(format!("'{text}' is no time; write it like 30s or 2m")),
    };
    let number: f64 = number.parse().map_err(|_| format!("'{text}' is no time; write it like 30s or 2m"))?;
    let seconds = number * factor;
    if !(0.001..=86_400.0 * days).contains(&seconds) {
        return Err(format!("'{text}' is out of range: between 1ms and {days} days"));
    }
    Ok(seconds)
}

/// `15%` or `15` to 15.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%');
    match number.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("'{text}' is no percentage between 0 and 100")),
    }
}

/// `1,2,4` or `1-4` or a mix, to ascending depths without repeats.
pub fn depths(text: &str) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let bad = || format!("'{part}' is no depth; write a list like 1,2,4,8 (each from 1 to 65536)");
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u32, u32) = (low.parse().map_err(|_| bad())?, high.parse().map_err(|_| bad())?);
        if low == 0 || high < low || high > 65_536 || high - low > 1024 {
            return Err(bad());
        }
        all.extend(low..=high);
    }
    all.sort_unstable();
    all.dedup();
    if all.is_empty() { Err("an empty list of depths; write it like 1,2,4,8".to_owned()) } else { Ok(all) }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    (text[..at].trim(), text[at..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(bytes("16k"), Ok(16_384));
        assert_eq!(bytes("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(bytes("8192"), Ok(8192));
        assert_eq!(bytes("4KB"), Ok(4096));
        assert!(bytes("").is_err() && bytes("k").is_err() && bytes("-1k").is_err() && bytes("1x").is_err());
    }

    #[test]
    fn times_and_percentages_read_as_written() {
        assert_eq!(seconds("60s"), Ok(60.0));
        assert_eq!(seconds("2m"), Ok(120.0));
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!((long_seconds("7d"), long_seconds("30d")), (Ok(604_800.0), Ok(2_592_000.0)));
        assert!(seconds("8d").is_err() && seconds("soon").is_err() && seconds("0").is_err());
        assert_eq!(percent("15%"), Ok(15.0));
        assert!(percent("101").is_err());
    }

    #[test]
    fn depth_lists_are_sorted_and_bounded() {
        assert_eq!(depths("4,1,2,2"), Ok(vec![1, 2, 4]));
        assert_eq!(depths("1-3,8"), Ok(vec![1, 2, 3, 8]));
        assert!(
            depths("0").is_err()
                && depths("").is_err()
                && depths("3-1").is_err()
                && depths("1-999999").is_err()
        );
    }
}
