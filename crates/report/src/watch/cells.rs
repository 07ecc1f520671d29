//! Numbers in narrow columns.

use crate::number::{ABSENT, compact, whole};
use record::{DeviceSample, LayerKind, QueueSample};

/// A rate or a count: whole where it is or from ten on, else with a tenth; with a factor where it does not fit.
pub fn rate(value: Option<f64>, width: usize) -> String {
    let Some(value) = value.filter(|v| v.is_finite()) else { return ABSENT.to_owned() };
    let text = match value {
        _ if value < 9.95 && value.fract() != 0.0 => format!("{value:.1}"),
        _ => whole(value),
    };
    if text.len() <= width { text } else { compact(value) }
}

/// MiB per second or KiB: a tenth below a thousand.
pub fn amount(value: Option<f64>, width: usize) -> String {
    let Some(value) = value.filter(|v| v.is_finite()) else { return ABSENT.to_owned() };
    let text = match value {
        0.0 => "0".to_owned(),
        _ if value < 0.995 => format!("{value:.2}"),
        _ if value < 999.95 => format!("{value:.1}"),
        _ => whole(value),
    };
    if text.len() <= width { text } else { compact(value) }
}

/// A time in milliseconds: to a microsecond below ten.
pub fn ms(us: Option<f64>, width: usize) -> String {
    let Some(us) = us.filter(|v| v.is_finite()) else { return ABSENT.to_owned() };
    let ms = us / 1e3;
    let text = match ms {
        _ if ms < 9.9995 => format!("{ms:.3}"),
        _ if ms < 99.995 => format!("{ms:.2}"),
        _ if ms < 999.95 => format!("{ms:.1}"),
        _ => whole(ms),
    };
    if text.len() <= width { text } else { compact(ms) }
}

/// A number of I/Os standing somewhere: a hundredth below ten.
fn standing(value: f64, width: usize) -> String {
    let text = match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 999.95 => format!("{value:.1}"),
        _ => whole(value),
    };
    if text.len() <= width { text } else { compact(value) }
}

/// A queue: its mean; where only bounds are known `>8.0` (at least) or `<32.0` (at most); `-` where nothing is.
pub fn queue(queue: &QueueSample, width: usize) -> String {
    match queue.mean {
        Some(mean) => standing(mean, width),
        None if queue.low >= 0.5 => format!(">{}", standing(queue.low, width - 1)),
        None if queue.high.is_finite() => format!("<{}", standing(queue.high, width - 1)),
        None => ABSENT.to_owned(),
    }
}

/// What a person calls a device: its name for device mapper, else the kernel's.
pub fn name(device: &DeviceSample) -> &str {
    match (device.facts.kind, &device.facts.label) {
        (LayerKind::DeviceMapper | LayerKind::Multipath, Some(label)) => label,
        _ => &device.facts.name,
    }
}

/// Control characters of names from outside must not reach a terminal.
pub fn safe(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// At most `width` characters; the middle of a longer text gives way, since its ends tell names apart.
pub fn shortened(text: &str, width: usize) -> String {
    let letters: Vec<char> = safe(text).chars().collect();
    if letters.len() <= width {
        return letters.into_iter().collect();
    }
    let kept = width.saturating_sub(2);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    letters[..head].iter().chain(&['.', '.']).chain(&letters[letters.len() - tail..]).take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_columns() {
        assert_eq!(
            [0.0, 0.04, 3.26, 9.96, 1234.4, 12_345_678.0].map(|v| rate(Some(v), 8)),
            ["0", "0.0", "3.3", "10", "1,234", "12.3M"]
        );
        assert_eq!([0.0, 0.031, 8.0, 1500.0].map(|v| amount(Some(v), 7)), ["0", "0.03", "8.0", "1,500"]);
        assert_eq!(
            [0.4, 87.0, 2571.0, 31_250.0, 250_000.0, 12_000_000.0].map(|v| ms(Some(v), 7)),
            ["0.000", "0.087", "2.571", "31.25", "250.0", "12,000"]
        );
        assert_eq!(
            (rate(None, 8), ms(None, 7), amount(Some(f64::NAN), 7)),
            ("-".into(), "-".into(), "-".into())
        );
    }

    #[test]
    fn bounds_look_unlike_values() {
        assert_eq!(queue(&QueueSample::known(31.84), 7), "31.8");
        assert_eq!(queue(&QueueSample::between(0.0, 32.0), 7), "<32.0");
        assert_eq!(queue(&QueueSample::between(8.0, 40.0), 7), ">8.00");
        assert_eq!(queue(&QueueSample::between(0.0, f64::INFINITY), 7), "-");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("sda", 5), "sda");
        assert_eq!(shortened("mpath_oradata_0001", 10), "mpat..0001");
        assert_eq!(shortened("a\x1b[31m", 10), "a?[31m");
    }
}
