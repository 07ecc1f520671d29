//! What a line of sar begins with: a time on a 12 or 24-hour clock, or the word for average in any language.

use crate::clock::time_of_day;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stamp<'l> {
    /// A time.
    Time {
        /// Seconds since midnight.
        seconds: f64,
        /// As written, `AM` or `PM` included.
        text: &'l str,
    },
    /// `Average:`, `Moyenne :`, `Durchschn.:`.
    Average,
}

/// The beginning of a line and the rest; absent when it begins with neither.
pub(crate) fn split(line: &str) -> Option<(Stamp<'_>, &str)> {
    let first_end = line.find([' ', '\t']).unwrap_or(line.len());
    let first = &line[..first_end];
    if first.as_bytes().first()?.is_ascii_digit() {
        let rest = &line[first_end..];
        let second = rest.split_ascii_whitespace().next().unwrap_or("");
        let upper = second.to_ascii_uppercase();
        let end = if matches!(upper.as_str(), "AM" | "PM") {
            first_end + rest.find(second).unwrap_or(0) + second.len()
        } else {
            first_end
        };
        let text = &line[..end];
        let seconds = if end == first_end { clock_of(first)? } else { time_of_day(text)? };
        return Some((Stamp::Time { seconds, text }, &line[end..]));
    }
    // The word for average is one word without digits, and a colon that may stand apart.
    let end = line.find(':').filter(|end| (3..=40).contains(end))?;
    let (word, rest) = (line[..end].trim_end(), &line[end + 1..]);
    let is_word =
        word.chars().all(|c| c.is_alphabetic() || c == '.') && line.starts_with(char::is_alphabetic);
    (is_word && rest.starts_with([' ', '\t'])).then_some((Stamp::Average, rest))
}

/// `15:49:57`, and `15時49分57秒` as in East Asian locales.
pub(crate) fn clock_of(text: &str) -> Option<f64> {
    if text.is_ascii() {
        return (text.matches(':').count() == 2).then(|| time_of_day(text)).flatten();
    }
    let plain: String = text
        .chars()
        .map(|c| match c {
            '時' | '时' | '分' | '시' | '분' => ':',
            '秒' | '초' => ' ',
            other => other,
        })
        .collect();
    time_of_day(plain.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_averages() {
        let time = |line| match split(line) {
            Some((Stamp::Time { seconds, text }, rest)) => Some((seconds, text, rest.trim())),
            _ => None,
        };
        assert_eq!(time("13:20:09 DEV tps"), Some((48_009.0, "13:20:09", "DEV tps")));
        assert_eq!(time("07:50:06 PM     CPU"), Some((71_406.0, "07:50:06 PM", "CPU")));
        assert_eq!(time("13時20分09秒 CPU"), Some((48_009.0, "13時20分09秒", "CPU")));
        for average in
            ["Average:  sda 1.00", "Moyenne :  sda 1.00", "Durchschn.:\tsda 1.00", "平均時間:  sda 1.00"]
        {
            assert_eq!(split(average).map(|(s, r)| (s, r.trim())), Some((Stamp::Average, "sda 1.00")));
        }
        for other in
            ["", "sda 0.00", "Linux 5.4 (a)", "Time: 03:49:57 PM", "8:0 sda", "10:61:00 a", "avg-cpu:  %user"]
        {
            let got = split(other);
            assert!(got.is_none() || other.starts_with("Time"), "{other} {got:?}");
        }
    }
}
