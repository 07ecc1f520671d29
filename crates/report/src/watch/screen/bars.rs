//! Bars and trends of characters.

use crate::terminal::Charset;

/// Cells of a bar: in the host queue, at the device, not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    pub host: usize,
    pub device: usize,
    pub unknown: usize,
}

/// Divides a bar of `width` cells that stands for `scale` I/Os. What is not 0 has a cell.
pub(super) fn cells(host: Option<f64>, device: Option<f64>, inside: f64, scale: f64, width: usize) -> Cells {
    let whole = |value: f64| -> usize {
        if value < 0.005 || scale <= 0.0 {
            return 0;
        }
        ((value / scale * width as f64).round() as usize).clamp(1, width)
    };
    match (host, device) {
        (Some(host), Some(device)) => {
            let device = whole(device);
            Cells { host: whole(host).min(width - device.min(width)), device, unknown: 0 }
        }
        _ => Cells { host: 0, device: 0, unknown: whole(inside) },
    }
}

/// The signs for the parts of a bar: told apart without colours too.
pub(super) fn signs(charset: Charset) -> [&'static str; 3] {
    match charset {
        Charset::Unicode => ["█", "░", "▒"],
        Charset::Ascii => ["#", "=", "?"],
    }
}

/// The last values, one sign each, from nothing to the largest of them.
pub(super) fn trend<'v>(
    values: impl DoubleEndedIterator<Item = &'v f64>,
    width: usize,
    charset: Charset,
) -> String {
    let last: Vec<f64> = values.rev().take(width).copied().collect();
    let most = last.iter().copied().fold(0.0, f64::max);
    let steps: &[char] = match charset {
        Charset::Unicode => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        Charset::Ascii => &['.', '-', '=', '#'],
    };
    let sign = |value: f64| match value {
        _ if value < 0.005 || most <= 0.0 => ' ',
        _ => steps[((value / most * steps.len() as f64).ceil() as usize).clamp(1, steps.len()) - 1],
    };
    let text: String = last.iter().rev().map(|v| sign(*v)).collect();
    format!("{text:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fill_in_proportion_and_never_overflow() {
        assert_eq!(cells(Some(8.0), Some(32.0), 40.0, 40.0, 20), Cells { host: 4, device: 16, unknown: 0 });
        assert_eq!(cells(Some(0.01), Some(40.0), 40.0, 40.0, 20), Cells { host: 0, device: 20, unknown: 0 });
        assert_eq!(cells(Some(0.0), Some(0.1), 0.1, 400.0, 20), Cells { host: 0, device: 1, unknown: 0 });
        assert_eq!(cells(None, Some(3.0), 10.0, 20.0, 20), Cells { host: 0, device: 0, unknown: 10 });
        assert_eq!(cells(Some(0.0), Some(0.0), 0.0, 0.0, 20), Cells { host: 0, device: 0, unknown: 0 });
    }

    #[test]
    fn trends_show_the_newest_last_and_nothing_as_blank() {
        let values = [0.0, 1.0, 4.0, 8.0];
        assert_eq!(trend(values.iter(), 4, Charset::Unicode), " ▁▄█");
        assert_eq!(trend(values.iter(), 6, Charset::Unicode), "   ▁▄█");
        assert_eq!(trend(values.iter(), 2, Charset::Ascii), "-#");
    }
}
