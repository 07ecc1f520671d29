//! The latency limit as its user writes it: `p99<10ms`, `mean<5ms`, `write.p99.9<2ms`.

use crate::step::IoClass;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A bound on a statistic of the response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyLimit {
    /// Which I/Os; absent means that reads and writes must each hold it (a mix would hide a log disaster).
    pub class: Option<IoClass>,
    /// Which statistic.
    pub statistic: Statistic,
    /// The statistic must stay below this many nanoseconds.
    pub limit_ns: u64,
}

/// A statistic of response times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// A quantile between 0 and 1, exclusive.
    Quantile(f64),
}

impl Default for LatencyLimit {
    /// `p99<10ms`, what an OLTP database bears.
    fn default() -> Self {
        Self { class: None, statistic: Statistic::Quantile(0.99), limit_ns: 10_000_000 }
    }
}

impl LatencyLimit {
    /// Share of I/Os that may exceed the limit, for a quantile.
    pub fn allowed_misses(&self) -> Option<f64> {
        match self.statistic {
            Statistic::Mean => None,
            Statistic::Quantile(q) => Some(1.0 - q),
        }
    }
}

/// Why a limit could not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "cannot read latency limit '{text}': {why}; write it like 'p99<10ms', 'mean<5ms' or 'write.p99.9<2ms'"
)]
pub struct LimitError {
    text: String,
    why: String,
}

impl FromStr for LatencyLimit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let fail = |why: &str| LimitError { text: text.to_owned(), why: why.to_owned() };
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
        let (left, right) = compact.split_once('<').ok_or_else(|| fail("there is no '<'"))?;
        let right = right.strip_prefix('=').unwrap_or(right);
        let (class, statistic) = match left.split_once('.') {
            Some(("read", rest)) => (Some(IoClass::Read), rest),
            Some(("write", rest)) => (Some(IoClass::Write), rest),
            Some(("flush" | "sync" | "commit", rest)) => (Some(IoClass::Flush), rest),
            _ => (None, left),
        };
        let statistic = parse_statistic(statistic)
            .ok_or_else(|| fail("the left side is 'mean' or a percentile between p1 and p99.999"))?;
        let limit_ns = parse_time_ns(right)
            .ok_or_else(|| fail("the right side is a time above zero with a unit: us, ms or s"))?;
        Ok(Self { class, statistic, limit_ns })
    }
}

fn parse_statistic(text: &str) -> Option<Statistic> {
    match text {
        "mean" | "avg" | "average" => Some(Statistic::Mean),
        "median" => Some(Statistic::Quantile(0.5)),
        _ => {
            let digits = text.strip_prefix('p')?;
            let percent: f64 = match digits {
                "999" => 99.9,
                "9999" => 99.99,
                _ => digits.parse().ok()?,
            };
            (1.0..=99.999).contains(&percent).then_some(Statistic::Quantile(percent / 100.0))
        }
    }
}

fn parse_time_ns(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_alphabetic() || c == 'µ')?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let ns = number
        * match unit {
            "ns" => 1.0,
            "us" | "µs" | "usec" => 1e3,
            "ms" | "msec" => 1e6,
            "s" | "sec" => 1e9,
            _ => return None,
        };
    (ns.is_finite() && (1.0..=crate::histogram::HIGHEST_NS as f64).contains(&ns)).then_some(ns.round() as u64)
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => write!(f, "mean"),
            Self::Quantile(q) => {
                let percent = (q * 1e5).round() / 1e3;
                write!(f, "p{percent}")
            }
        }
    }
}

impl fmt::Display for LatencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Some(IoClass::Read) => write!(f, "read.")?,
            Some(IoClass::Write) => write!(f, "write.")?,
            Some(IoClass::Flush) => write!(f, "flush.")?,
            None => {}
        }
        write!(f, "{}<", self.statistic)?;
        let ns = self.limit_ns as f64;
        match self.limit_ns {
            ..1_000_000 => write!(f, "{}us", ns / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{}ms", ns / 1e6),
            _ => write!(f, "{}s", ns / 1e9),
        }
    }
}

impl Serialize for LatencyLimit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LatencyLimit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        let limit: LatencyLimit = text.parse().unwrap();
        assert_eq!(limit.to_string(), shown);
        assert_eq!(limit.to_string().parse::<LatencyLimit>().unwrap(), limit);
    }

    #[test]
    fn limits_read_as_a_dba_writes_them() {
        check("p99<10ms", "p99<10ms");
        check(" P99.9 <= 500us", "p99.9<500us");
        check("p999<1s", "p99.9<1s");
        check("mean<5ms", "mean<5ms");
        check("median<250µs", "p50<250us");
        check("write.p99<1.5ms", "write.p99<1.5ms");
        check("commit.mean<2ms", "flush.mean<2ms");
    }

    #[test]
    fn nonsense_limits_say_what_was_expected() {
        for text in [
            "",
            "p99",
            "p99<",
            "p99<10",
            "p0<1ms",
            "p100<1ms",
            "p99>1ms",
            "worst<1ms",
            "p99<-1ms",
            "p99<nanms",
        ] {
            let error = text.parse::<LatencyLimit>().unwrap_err().to_string();
            assert!(error.contains("p99<10ms"), "{error}");
        }
    }
}
