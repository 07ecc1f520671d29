//! Numbers as text. Rounding happens here and nowhere before.

/// Shown for what is absent.
pub const ABSENT: &str = "-";

/// A whole number with its thousands apart: `1,234,567`.
pub fn whole(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits below a thousand, whole above: `0.0123`, `1.23`, `12.3`, `123`, `1,234`.
pub fn significant(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    match size {
        0.0 => "0".to_owned(),
        _ if size >= 99.95 => whole(value),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ if size >= 0.0995 => format!("{value:.3}"),
        _ if size >= 0.0005 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// A number of I/Os: whole from ten on, else to a tenth, without an empty tenth: `49`, `6.3`, `6`.
pub fn count(value: f64) -> String {
    if value.abs() >= 9.95 {
        return whole(value);
    }
    let text = if value.is_finite() { format!("{value:.1}") } else { ABSENT.to_owned() };
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A mean number of I/Os standing somewhere: to a hundredth below ten, since more digits than a counter sampled over a
/// second can hold say nothing.
pub fn standing(value: f64) -> String {
    if value.abs() < 9.995 { format!("{value:.2}") } else { significant(value) }
}

/// At most `width` characters: thousands apart if they fit, else with a factor (`12.3M`).
pub fn fitted(value: f64, width: usize) -> String {
    let long = if value.abs() >= 99.95 { whole(value) } else { significant(value) };
    if long.len() <= width { long } else { compact(value) }
}

/// With a factor of a thousand: `950`, `1.2k`, `34k`, `5.6M`. For ticks and narrow columns.
pub fn compact(value: f64) -> String {
    const FACTORS: [(f64, &str); 5] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let Some((factor, letter)) = FACTORS.into_iter().find(|(factor, _)| value.abs() >= *factor * 0.9995)
    else {
        return trimmed(value);
    };
    let scaled = value / factor;
    let text = if scaled.abs() >= 99.95 { format!("{scaled:.0}") } else { format!("{scaled:.1}") };
    format!("{}{letter}", text.strip_suffix(".0").unwrap_or(&text))
}

fn trimmed(value: f64) -> String {
    let text = if value.abs() >= 9.995 { format!("{value:.0}") } else { format!("{value:.3}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A time in the unit that suits it: `87.0 us`, `1.23 ms`, `2.10 s`.
pub fn time(us: f64) -> String {
    let (value, unit) = match us.abs() {
        ..999.5 => (us, "us"),
        ..999_500.0 => (us / 1e3, "ms"),
        _ => (us / 1e6, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// A size with a binary unit: `8 KiB`, `1.50 GiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10).min(6);
    let value = bytes as f64 / (1u64 << (10 * power)) as f64;
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { significant(value) };
    format!("{text} {}", UNITS[power as usize])
}

/// One unit for a whole column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// The unit in which the largest of the common values (say, p99) stays readable.
    pub fn for_us(largest_us: f64) -> Self {
        match largest_us {
            ..5_000.0 => Self::Us,
            ..20_000_000.0 => Self::Ms,
            _ => Self::S,
        }
    }

    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Us => "us",
            Self::Ms => "ms",
            Self::S => "s",
        }
    }

    /// A time in this unit, without the symbol.
    pub fn show(self, us: f64) -> String {
        let value = match self {
            Self::Us => us,
            Self::Ms => us / 1e3,
            Self::S => us / 1e6,
        };
        match value {
            _ if !value.is_finite() => ABSENT.to_owned(),
            ..9.995 => format!("{value:.2}"),
            ..99.95 => format!("{value:.1}"),
            _ => fitted(value, 7),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T>(show: impl Fn(T) -> String, pairs: impl IntoIterator<Item = (T, &'static str)>) {
        for (value, want) in pairs {
            assert_eq!(show(value), want);
        }
    }

    #[test]
    fn whole_numbers_stand_in_thousands() {
        check(
            whole,
            [(0.0, "0"), (999.4, "999"), (1000.0, "1,000"), (1234567.0, "1,234,567"), (-4321.0, "-4,321")],
        );
        check(whole, [(f64::NAN, "-"), (f64::INFINITY, "-"), (-0.2, "0")]);
    }

    #[test]
    fn three_digits_tell_small_numbers_apart() {
        check(
            significant,
            [(0.0, "0"), (0.01234, "0.0123"), (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3")],
        );
        check(significant, [(9.999, "10.0"), (99.99, "100"), (1234.4, "1,234"), (0.00001, "1.0e-5")]);
    }

    #[test]
    fn numbers_of_ios_carry_no_idle_digits() {
        check(count, [(49.0, "49"), (6.31, "6.3"), (6.0, "6"), (9.97, "10"), (f64::NAN, "-")]);
        check(standing, [(0.0204, "0.02"), (31.36, "31.4"), (1234.0, "1,234")]);
    }

    #[test]
    fn ticks_are_short() {
        check(
            compact,
            [(0.0, "0"), (0.5, "0.5"), (12.0, "12"), (950.0, "950"), (1500.0, "1.5k"), (34000.0, "34k")],
        );
        check(compact, [(999_999.0, "1M"), (5_600_000.0, "5.6M"), (2e10, "20G")]);
        assert_eq!(fitted(123_456_789.0, 9), "123M");
    }

    #[test]
    fn times_choose_their_unit() {
        check(time, [(0.87, "0.870 us"), (87.0, "87.0 us"), (1234.0, "1.23 ms"), (2_100_000.0, "2.10 s")]);
        assert_eq!(TimeUnit::for_us(900.0).show(123.4), "123");
        assert_eq!(TimeUnit::for_us(9_000.0).show(1234.0), "1.23");
    }

    #[test]
    fn sizes_are_binary() {
        check(
            bytes,
            [(0, "0 B"), (512, "512 B"), (8192, "8 KiB"), (1_610_612_736, "1.50 GiB"), (u64::MAX, "16 EiB")],
        );
    }
}
