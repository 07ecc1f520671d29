//! Who does I/O, by device where a tracer knows it, as rows for text and screen.

use super::cells::{safe, shortened};
use record::HostSample;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub who: String,
    pub pid: u32,
    /// Kernel name of the device; absent where only the sum over devices is known.
    pub device: Option<String>,
    pub cgroup: Option<String>,
    pub reads_per_s: Option<f64>,
    pub writes_per_s: Option<f64>,
    pub read_mib_per_s: f64,
    pub write_mib_per_s: f64,
}

impl Row {
    /// Name and number in at most `width` characters.
    pub fn label(&self, width: usize) -> String {
        let pid = self.pid.to_string();
        format!("{} {pid}", shortened(&self.who, width.saturating_sub(1 + pid.len())))
    }
}

/// Rows, largest first; of one device where `of` names it and askers are traced.
pub(super) fn rows(sample: &HostSample, of: Option<&str>) -> Vec<Row> {
    let traced = sample.traced.as_ref().and_then(|t| t.askers.as_ref());
    let Some(askers) = traced else { return by_process(sample) };
    let rate = |number: u64| if sample.length_s > 0.0 { number as f64 / sample.length_s } else { 0.0 };
    let mib = |bytes: u64| rate(bytes) / f64::from(1 << 20);
    askers
        .iter()
        .filter(|a| of.is_none_or(|device| a.device == device))
        .map(|a| Row {
            who: safe(&a.name),
            pid: a.pid,
            device: Some(a.device.clone()),
            cgroup: a.cgroup.as_deref().map(safe),
            reads_per_s: Some(rate(a.reads)),
            writes_per_s: Some(rate(a.writes)),
            read_mib_per_s: mib(a.read_bytes),
            write_mib_per_s: mib(a.write_bytes),
        })
        .collect()
}

fn by_process(sample: &HostSample) -> Vec<Row> {
    let all = sample.processes.iter().flat_map(|p| &p.top);
    all.map(|p| Row {
        who: safe(&p.name),
        pid: p.pid,
        device: None,
        cgroup: None,
        reads_per_s: None,
        writes_per_s: None,
        read_mib_per_s: p.read_mib_per_s,
        write_mib_per_s: p.write_mib_per_s,
    })
    .collect()
}
