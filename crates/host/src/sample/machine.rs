//! The cores and the pressure of the whole machine.

use super::kept::{Buffer, Kept};
use super::process::CpuTime;
use crate::root::Root;
use record::CoreSeen;
use std::time::Instant;

/// Files of the machine kept open.
#[derive(Debug)]
pub(crate) struct Machine {
    stat: Option<Kept>,
    pressure_cpu: Option<Kept>,
    pressure_io: Option<Kept>,
    pressure_memory: Option<Kept>,
}

/// Ticks of one core or of all, in USER_HZ (proc(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub user: u64,
    pub system: u64,
    pub idle: u64,
    pub iowait: u64,
    pub irq: u64,
    pub softirq: u64,
    pub steal: u64,
}

/// All at one instant.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub at: Instant,
    pub process: CpuTime,
    pub all: Option<Ticks>,
    pub cores: Vec<(u32, Ticks)>,
    /// Microseconds stalled, some task at least: cpu, io, memory.
    pub pressure_us: [Option<u64>; 3],
}

impl Machine {
    pub fn open(root: &Root) -> Self {
        let kept = |path: &str| Kept::open(root, path);
        Self {
            stat: kept("/proc/stat"),
            pressure_cpu: kept("/proc/pressure/cpu"),
            pressure_io: kept("/proc/pressure/io"),
            pressure_memory: kept("/proc/pressure/memory"),
        }
    }

    pub fn moment(&self, buffer: &mut Buffer) -> Moment {
        let at = Instant::now();
        let process = CpuTime::of_process();
        let (all, cores) =
            self.stat.as_ref().and_then(|f| f.text(buffer)).map(parse_stat).unwrap_or_default();
        let mut pressure = |file: &Option<Kept>| some_total_us(file.as_ref()?.text(buffer)?);
        let pressure_us =
            [pressure(&self.pressure_cpu), pressure(&self.pressure_io), pressure(&self.pressure_memory)];
        Moment { at, process, all, cores, pressure_us }
    }
}

/// The `cpu` lines of `/proc/stat`; a torn last line is left out.
fn parse_stat(text: &str) -> (Option<Ticks>, Vec<(u32, Ticks)>) {
    let mut all = None;
    let mut cores = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else { break };
        let Some((number, fields)) = rest.split_once(' ') else { continue };
        let Some(ticks) = parse_ticks(fields) else { continue };
        match number.parse() {
            Ok(number) => cores.push((number, ticks)),
            Err(_) if number.is_empty() => all = Some(ticks),
            Err(_) => {}
        }
    }
    (all, cores)
}

fn parse_ticks(fields: &str) -> Option<Ticks> {
    let mut numbers = fields.split_ascii_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (user, nice, system, idle) = (next()?, next()?, next()?, next()?);
    // Fields that came later (2.6 and on) are absent on captures of older kernels.
    let [iowait, irq, softirq, steal] = [(); 4].map(|()| next().unwrap_or(0));
    Some(Ticks { user: user.saturating_add(nice), system, idle, iowait, irq, softirq, steal })
}

/// `total=` of the `some` line of a pressure file, microseconds.
fn some_total_us(text: &str) -> Option<u64> {
    let line = text.lines().find(|l| l.starts_with("some"))?;
    line.split_ascii_whitespace().find_map(|w| w.strip_prefix("total="))?.parse().ok()
}

impl Ticks {
    /// Ticks since `before`. Idle and iowait may go back a little on some kernels: never below zero.
    pub fn since(&self, before: &Self) -> Self {
        let delta = |now: u64, before: u64| now.saturating_sub(before);
        Self {
            user: delta(self.user, before.user),
            system: delta(self.system, before.system),
            idle: delta(self.idle, before.idle),
            iowait: delta(self.iowait, before.iowait),
            irq: delta(self.irq, before.irq),
            softirq: delta(self.softirq, before.softirq),
            steal: delta(self.steal, before.steal),
        }
    }

    pub fn total(&self) -> u64 {
        [self.user, self.system, self.idle, self.iowait, self.irq, self.softirq, self.steal]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// As shares of their sum; `None` when no tick passed.
    pub fn shares(&self, cpu: u32) -> Option<CoreSeen> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let share = |ticks: u64| ticks as f64 / total as f64;
        Some(CoreSeen {
            cpu,
            user: share(self.user),
            system: share(self.system),
            irq: share(self.irq),
            softirq: share(self.softirq),
            iowait: share(self.iowait),
            steal: share(self.steal),
            idle: share(self.idle),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_the_sum_are_read_from_proc_stat() {
        let text = "cpu  10 1 20 300 5 1 2 3 0 0\ncpu0 5 0 10 150 2 0 1 1 0 0\ncpu3 5 1 10 150 3 1 1 2 0 0\nintr 1 2";
        let (all, cores) = parse_stat(text);
        let all = all.unwrap();
        assert_eq!((all.user, all.system, all.idle, all.steal), (11, 20, 300, 3));
        assert_eq!(cores.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn a_torn_line_of_a_core_is_left_out() {
        let (all, cores) = parse_stat("cpu  1 1 1 1\ncpu0 1 1\ncpu1 x\ncpux 1 2 3 4");
        assert_eq!((all.is_some(), cores.len()), (true, 0));
    }

    #[test]
    fn pressure_totals_come_from_the_some_line() {
        let text = "some avg10=0.16 avg60=0.34 avg300=0.43 total=7382056\nfull avg10=0 total=1";
        assert_eq!(some_total_us(text), Some(7_382_056));
        assert_eq!(some_total_us("full total=3"), None);
    }

    #[test]
    fn ticks_that_go_back_count_as_none() {
        let before = Ticks { iowait: 10, ..Ticks::default() };
        let now = Ticks { iowait: 9, idle: 5, ..Ticks::default() };
        assert_eq!(now.since(&before), Ticks { idle: 5, ..Ticks::default() });
        assert_eq!(Ticks::default().shares(0), None);
    }
}
