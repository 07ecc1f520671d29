//! One event: `8,16  1  8  1.000050000  100  D  WS  1000 + 16 [dbwr]`.

/// An event of the block layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event<'l> {
    /// Major and minor number.
    pub device: (u32, u32),
    /// Since the trace began; clocks of processors differ a little.
    pub time_s: f64,
    /// `Q`, `D`, `C` ...
    pub action: &'l str,
    /// Kind of I/O: `R`, `WS`, `FWFS`, `N` ...
    pub rwbs: &'l str,
    /// First sector (of 512 bytes) and number of sectors.
    pub sectors: Option<(u64, u64)>,
    /// Of a split: the sector where the second part begins.
    pub split_at: Option<u64>,
}

const ACTIONS: [&str; 20] =
    ["Q", "G", "S", "I", "D", "C", "M", "F", "P", "U", "UT", "T", "X", "A", "R", "B", "m", "Z", "E", "K"];

impl<'l> Event<'l> {
    /// Reads an event; absent when the line is none.
    pub fn read(line: &'l str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (major, minor) = words.next()?.split_once(',')?;
        let device = (major.parse().ok()?, minor.parse().ok()?);
        let _cpu: u32 = words.next()?.parse().ok()?;
        let _number: u64 = words.next()?.parse().ok()?;
        let time = words.next()?;
        let (whole, fraction) = time.split_once('.')?;
        let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        (digits(whole) && digits(fraction) && fraction.len() >= 6).then_some(())?;
        let time_s = time.parse().ok()?;
        let _process: u64 = words.next()?.parse().ok()?;
        let action = words.next().filter(|a| ACTIONS.contains(a))?;
        let rwbs = words.next().filter(|r| r.len() <= 8 && r.bytes().all(|b| b.is_ascii_alphabetic()))?;
        let (sectors, split_at) = match (words.next().map(str::parse::<u64>), words.next(), words.next()) {
            (Some(Ok(first)), Some("+"), Some(count)) => (Some((first, count.parse().ok()?)), None),
            (Some(Ok(first)), Some("/"), Some(second)) => (Some((first, 0)), second.parse().ok()),
            _ => (None, None),
        };
        Some(Self { device, time_s, action, rwbs, sectors, split_at })
    }

    /// Whether a line that is no event was meant as one: two numbers by a comma, and more numbers.
    pub fn is_meant(line: &str) -> bool {
        let mut words = line.split_ascii_whitespace();
        let numbers = |w: &str| w.contains(',') && w.bytes().all(|b| b.is_ascii_digit() || b == b',');
        words.next().is_some_and(numbers) && words.next().is_some_and(|w| w.parse::<u32>().is_ok())
    }

    /// 1 for writes, 0 for reads, NaN for anything else.
    pub fn is_write(&self) -> f64 {
        // Flushes, discards and passthrough commands are neither.
        let first = self.rwbs.trim_start_matches('F').chars().next();
        match first {
            Some('W') => 1.0,
            Some('R') => 0.0,
            _ => f64::NAN,
        }
    }
}
