//! `--cores`: a list of logical CPUs to pin to (`0,2-3`), or a sweep over how many cores drive the load (`1..4`).

use std::str::FromStr;

/// What `--cores` asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cores {
    /// Pin workers to these logical CPUs.
    Pin(Vec<u32>),
    /// Measure with `first` cores, then one more, up to `last`.
    Sweep {
        /// First number of cores.
        first: u32,
        /// Last number of cores.
        last: u32,
    },
}

impl FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "'{text}' is no list of cores; write 0,2-3 to pin, or 1..4 to sweep from one to four cores"
            )
        };
        let number = |part: &str| part.trim().parse::<u32>().map_err(|_| bad());
        if let Some((first, last)) = text.split_once("..") {
            let (first, last) = (number(first)?, number(last)?);
            return if first >= 1 && last >= first && last <= 4096 {
                Ok(Self::Sweep { first, last })
            } else {
                Err(bad())
            };
        }
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (number(low)?, number(high)?);
            if high < low || high > 65_535 {
                return Err(bad());
            }
            cores.extend(low..=high);
        }
        cores.sort_unstable();
        cores.dedup();
        Ok(Self::Pin(cores))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_pins_and_two_dots_sweep() {
        assert_eq!("0,2-3".parse(), Ok(Cores::Pin(vec![0, 2, 3])));
        assert_eq!("1..4".parse(), Ok(Cores::Sweep { first: 1, last: 4 }));
        for text in ["", "a", "3-1", "0..2", "4..1", "1..", "-1"] {
            assert!(text.parse::<Cores>().is_err(), "{text}");
        }
    }
}
