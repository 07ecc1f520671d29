//! Numbers in the words of the field, and a few statistics that several rules need.

/// Bytes: `8 KiB`, `254 KiB`, `1 MiB`.
pub(super) fn bytes(n: f64) -> String {
    const STEPS: [(f64, &str); 4] = [
        ((1u64 << 40) as f64, "TiB"),
        ((1u64 << 30) as f64, "GiB"),
        ((1u64 << 20) as f64, "MiB"),
        (1024.0, "KiB"),
    ];
    for (unit, name) in STEPS {
        if n >= unit {
            let n = n / unit;
            let whole = (n - n.round()).abs() < 0.05 || n >= 100.0;
            return if whole { format!("{n:.0} {name}") } else { format!("{n:.1} {name}") };
        }
    }
    format!("{n:.0} bytes")
}

/// Bytes per second: `483 MiB/s`.
pub(super) fn bytes_per_s(n: f64) -> String {
    let mib = n / f64::from(1 << 20);
    if mib >= 10.0 { format!("{mib:.0} MiB/s") } else { format!("{mib:.2} MiB/s") }
}

/// A time given in microseconds: `3.2 ms`, `140 us`, `40.2 s`.
pub(super) fn time(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.1} s", us / 1e6),
        us if us >= 1e5 => format!("{:.0} ms", us / 1e3),
        us if us >= 1e3 => format!("{:.1} ms", us / 1e3),
        us => format!("{us:.0} us"),
    }
}

/// Seconds as a person says them: `30 s`, `10 min`, `2.0 h`.
pub(super) fn seconds(s: f64) -> String {
    match s {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 300.0 => format!("{:.0} min", s / 60.0),
        s => format!("{s:.0} s"),
    }
}

/// `one`, `two` ... for small numbers.
pub(super) fn count(n: f64) -> String {
    const WORDS: [&str; 9] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];
    let at = n.round().max(0.0) as usize;
    WORDS.get(at).map_or_else(|| format!("{n:.0}"), |w| (*w).to_owned())
}

/// `a`, `a and b`, `a, b and 3 more`.
pub(super) fn names(all: &[&str], most: usize) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_owned(),
        _ if all.len() <= most => {
            let (last, first) = all.split_last().map_or(("", all), |(l, f)| (*l, f));
            format!("{} and {last}", first.join(", "))
        }
        _ => format!("{} and {} more", all[..most].join(", "), all.len() - most),
    }
}

/// Numbers that are known, sorted.
pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut known: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    known
}

/// A quantile of sorted numbers; NaN when there are none.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (share * (sorted.len() as f64 - 1.0)).round().max(0.0) as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// Median of what is known; NaN when nothing is.
pub(super) fn median_of(values: impl Iterator<Item = f64>) -> f64 {
    quantile(&sorted(values), 0.5)
}

/// Mean of what is known; NaN when nothing is.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.filter(|v| v.is_finite()).fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    sum / n
}

/// Coefficient of variation of what is known; NaN below two.
pub(super) fn variation(values: impl Iterator<Item = f64>) -> f64 {
    let known: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    let middle = mean(known.iter().copied());
    stats::series::variance(&known).map_or(f64::NAN, f64::sqrt) / middle
}

/// Correlation of two series; 0 where one does not vary.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (mx, my) = (mean(pairs.iter().map(|p| p.0)), mean(pairs.iter().map(|p| p.1)));
    let sum = |of: fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| of(x - mx, y - my)).sum::<f64>();
    let (xx, yy, xy) = (sum(|x, _| x * x), sum(|_, y| y * y), sum(|x, y| x * y));
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(bytes(262_144.0), "256 KiB");
        assert_eq!((bytes(2_621_440.0), bytes(512.0)), ("2.5 MiB".into(), "512 bytes".into()));
        assert_eq!(
            (time(40_200_000.0), time(3210.0), time(140.0)),
            ("40.2 s".into(), "3.2 ms".into(), "140 us".into())
        );
        assert_eq!(names(&["a", "b", "c"], 3), "a, b and c");
        assert_eq!(names(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }

    #[test]
    fn statistics_leave_out_what_is_not_known() {
        assert_eq!(mean([1.0, f64::NAN, 3.0].into_iter()), 2.0);
        assert_eq!(quantile(&sorted([3.0, f64::NAN, 1.0, 2.0].into_iter()), 0.5), 2.0);
        assert!((correlation(&[(1.0, 2.0), (2.0, 1.0), (3.0, 0.0)]) + 1.0).abs() < 1e-12);
    }
}
