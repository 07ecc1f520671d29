//! From steps to rows of the tables, and back.

use super::cell::Cell;
use super::schema::{Columns, EVENTS, LATENCY, LAYERS, SAMPLES, STEPS};
use super::table::Table;
use crate::doubt::Doubt;
use crate::follow::{CpuSeen, HostSeen, LayerSeen, Standing};
use crate::histogram::LatencyHistogram;
use crate::incident::Incidents;
use crate::load::{Demand, Load};
use crate::step::{ClassSeen, Ended, IoClass, Slice, Starved, Step};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One I/O counts as one request when their rates differ by no more than this.
const SAME_UNIT: f64 = 0.05;

/// All tables of a run in memory. Rows are kept encoded: a slice's histogram takes some 300 bytes here, 30 KiB open.
pub(crate) struct Tables {
    samples: Table,
    steps: Table,
    latency: Table,
    layers: Table,
    events: Table,
    /// Kernel names of the lowest layers; empty means that the last layer of a step is the lowest.
    leaves: Vec<String>,
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Self {
        let empty = |columns: &Columns| Table::new(columns.schema, columns.columns);
        Self {
            samples: empty(&SAMPLES),
            steps: empty(&STEPS),
            latency: empty(&LATENCY),
            layers: empty(&LAYERS),
            events: empty(&EVENTS),
            leaves: Vec::new(),
        }
    }

    /// Tells which layers are the lowest.
    pub fn set_leaves(&mut self, leaves: Vec<String>) {
        self.leaves = leaves;
    }

    /// Each table with the file it belongs in.
    pub fn files(&self) -> [(&'static str, &Table); 5] {
        [
            (SAMPLES.file, &self.samples),
            (STEPS.file, &self.steps),
            (LATENCY.file, &self.latency),
            (LAYERS.file, &self.layers),
            (EVENTS.file, &self.events),
        ]
    }

    /// Adds one step to all tables.
    pub fn add(&mut self, step: &Step) {
        let number = self.steps.rows() as u64;
        for (index, slice) in step.slices.iter().enumerate() {
            self.samples.push(sample_row(number, index as u64, step, slice));
        }
        for class in IoClass::ALL {
            let latency = step.latency(class);
            if !latency.is_empty() {
                self.latency.push(latency_row(number, class, &latency));
            }
        }
        for (position, layer) in step.layers.iter().enumerate() {
            self.layers.push(layer_row(number, position as u64, layer));
        }
        for row in event_rows(number, step) {
            self.events.push(row);
        }
        self.steps.push(step_row(number, step, &self.leaves));
    }
}

fn sample_row(step_number: u64, index: u64, step: &Step, slice: &Slice) -> Vec<Cell> {
    let mut response = LatencyHistogram::new();
    for class in [&slice.read, &slice.write] {
        if let Some(latency) = &class.latency {
            response.merge(latency);
        }
    }
    let per_s = |amount: f64| (slice.length_s > 0.0).then(|| amount / slice.length_s);
    let mut row: Vec<Cell> = vec![
        step_number.into(),
        index.into(),
        (step.start_s + slice.start_s).into(),
        slice.start_s.into(),
        slice.length_s.into(),
        per_s(slice.ios() as f64).into(),
        per_s(slice.bytes() as f64 / (1 << 20) as f64).into(),
        slice.outstanding_mean.into(),
        response.mean_ns().map(|ns| ns / 1e3).into(),
        quantile_us(&response, 0.5),
        quantile_us(&response, 0.99),
    ];
    for class in IoClass::ALL {
        row.extend(class_cells(slice.class(class)));
    }
    row
}

fn class_cells(seen: &ClassSeen) -> [Cell; 5] {
    let latency = seen.latency.as_ref();
    [
        seen.count().into(),
        seen.bytes.into(),
        seen.errors.into(),
        latency.map(LatencyHistogram::sum_ns).into(),
        latency.map_or(Cell::Null, |h| h.to_v2_bytes().into()),
    ]
}

fn quantile_us(histogram: &LatencyHistogram, quantile: f64) -> Cell {
    histogram.quantile_ns(quantile).map(|ns| ns as f64 / 1e3).into()
}

fn max_us(histogram: &LatencyHistogram) -> Cell {
    histogram.max_ns().map(|ns| ns as f64 / 1e3).into()
}

fn latency_row(step_number: u64, class: IoClass, latency: &LatencyHistogram) -> Vec<Cell> {
    vec![
        step_number.into(),
        class_word(class).into(),
        latency.count().into(),
        latency.sum_ns().into(),
        latency.mean_ns().map(|ns| ns / 1e3).into(),
        quantile_us(latency, 0.5),
        quantile_us(latency, 0.9),
        quantile_us(latency, 0.95),
        quantile_us(latency, 0.99),
        quantile_us(latency, 0.999),
        quantile_us(latency, 0.9999),
        max_us(latency),
        latency.to_v2_bytes().into(),
    ]
}

fn class_word(class: IoClass) -> &'static str {
    match class {
        IoClass::Read => "read",
        IoClass::Write => "write",
        IoClass::Flush => "flush",
    }
}

fn standing_cells(standing: &Standing) -> [Cell; 3] {
    [standing.mean.into(), standing.low.into(), standing.high.into()]
}

fn layer_row(step_number: u64, position: u64, layer: &LayerSeen) -> Vec<Cell> {
    let mut row: Vec<Cell> = vec![
        step_number.into(),
        position.into(),
        layer.name.as_str().into(),
        layer.requests_per_s.into(),
        layer.mib_per_s.into(),
        layer.request_bytes_mean.into(),
        layer.merges_per_s.into(),
    ];
    row.extend([&layer.inside, &layer.host_queue, &layer.device_queue].into_iter().flat_map(standing_cells));
    row.extend::<[Cell; 12]>([
        layer.device_queue_peak.into(),
        layer.device_queue_limit.into(),
        layer.device_queue_limit_range.map(|r| r.0).into(),
        layer.device_queue_limit_range.map(|r| r.1).into(),
        layer.response_us.into(),
        layer.host_wait_us.into(),
        layer.service_us.into(),
        layer.little_error.into(),
        layer.scsi.map(|s| s.requested).into(),
        layer.scsi.map(|s| s.done).into(),
        layer.scsi.map(|s| s.errors).into(),
        layer.scsi.and_then(|s| s.timeouts).into(),
    ]);
    row
}

fn event_rows(step_number: u64, step: &Step) -> Vec<Vec<Cell>> {
    let end_s = step.start_s + step.measured_s;
    let row = |kind: &str, id: Cell, weight: Cell, text: Cell| {
        vec![end_s.into(), step_number.into(), kind.into(), id, weight, text]
    };
    let mut rows: Vec<Vec<Cell>> = step
        .doubts
        .iter()
        .map(|d| row("doubt", word(&d.id).into(), word(&d.weight).into(), d.text.as_str().into()))
        .collect();
    for (id, text) in step.incidents.troubles.iter().flat_map(crate::incident::Trouble::events) {
        rows.push(row("incident", word(&id).into(), Cell::Null, text.into()));
    }
    if let Some(failed) = &step.incidents.failed {
        let text = failed.to_string();
        rows.push(row("incident", word(&crate::doubt::DoubtId::IoErrors).into(), Cell::Null, text.into()));
    }
    let why = match &step.ended {
        Ended::Complete => return rows,
        Ended::Failed(why) => why.as_str().into(),
        Ended::Stopped | Ended::Interrupted => Cell::Null,
    };
    rows.push(row("ended", ended_word(&step.ended).into(), Cell::Null, why));
    rows
}

fn ended_word(ended: &Ended) -> &'static str {
    match ended {
        Ended::Complete => "complete",
        Ended::Stopped => "stopped",
        Ended::Interrupted => "interrupted",
        Ended::Failed(_) => "failed",
    }
}

/// The kebab-case word of a unit variant, as JSON has it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn step_row(number: u64, step: &Step, leaves: &[String]) -> Vec<Cell> {
    let response = step.response();
    let cpu = step.cpu.as_ref();
    let host = step.host.as_ref();
    let (rate_iops, demand) = match step.load.demand {
        Demand::Closed { .. } => (None, "closed"),
        Demand::Open { rate_iops, .. } => (Some(rate_iops), "open"),
    };
    let queues = Queues::of(step, leaves);
    vec![
        number.into(),
        word(&step.load.phase).into(),
        demand.into(),
        step.concurrency().into(),
        rate_iops.into(),
        step.start_s.into(),
        step.settle_s.into(),
        step.measured_s.into(),
        step.ios().into(),
        step.slices.iter().map(Slice::bytes).sum::<u64>().into(),
        step.errors().into(),
        step.iops().into(),
        step.mib_per_s().into(),
        response.mean_ns().map(|ns| ns / 1e3).into(),
        quantile_us(&response, 0.5),
        quantile_us(&response, 0.95),
        quantile_us(&response, 0.99),
        quantile_us(&response, 0.999),
        max_us(&response),
        step.outstanding_mean().into(),
        queues.above.into(),
        queues.host.into(),
        queues.device.into(),
        cpu.map(|c| c.user_us_per_io).into(),
        cpu.map(|c| c.sys_us_per_io).into(),
        cpu.and_then(|c| c.irq_us_per_io).into(),
        cpu.map(|c| c.busiest_worker).into(),
        cpu.and_then(|c| c.iops_per_core).into(),
        host.and_then(|h| h.psi_cpu_some).into(),
        host.and_then(|h| h.steal).into(),
        host.and_then(|h| h.run_queue_mean).into(),
        host.and_then(|h| h.foreign_iops).into(),
        ended_word(&step.ended).into(),
        Detail::of(step).to_json().into(),
    ]
}

/// Sums over the lowest layers.
struct Queues {
    above: Option<f64>,
    host: Option<f64>,
    device: Option<f64>,
}

impl Queues {
    fn of(step: &Step, leaves: &[String]) -> Self {
        let lowest: Vec<&LayerSeen> = match step.layers.last() {
            Some(last) if leaves.is_empty() => vec![last],
            _ => step.layers.iter().filter(|l| leaves.contains(&l.name)).collect(),
        };
        let sum = |of: fn(&LayerSeen) -> Option<f64>| {
            if lowest.is_empty() { None } else { lowest.iter().map(|l| of(l)).sum::<Option<f64>>() }
        };
        let requests_per_s = sum(|l| Some(l.requests_per_s));
        let same_unit = requests_per_s.is_some_and(|r| (r - step.iops()).abs() <= SAME_UNIT * step.iops());
        let inside = sum(|l| l.inside.mean);
        let above = match (step.outstanding_mean(), inside) {
            (Some(outstanding), Some(inside)) if same_unit => Some((outstanding - inside).max(0.0)),
            _ => None,
        };
        Self { above, host: sum(|l| l.host_queue.mean), device: sum(|l| l.device_queue.mean) }
    }
}

/// The nested parts of a step.
#[derive(Serialize, Deserialize)]
struct Detail<'a> {
    load: Cow<'a, Load>,
    layers: Cow<'a, [LayerSeen]>,
    cpu: Option<Cow<'a, CpuSeen>>,
    host: Option<Cow<'a, HostSeen>>,
    doubts: Cow<'a, [Doubt]>,
    #[serde(default)]
    starved: Starved,
    #[serde(default)]
    incidents: Cow<'a, Incidents>,
    ended: Cow<'a, Ended>,
}

impl<'a> Detail<'a> {
    fn of(step: &'a Step) -> Self {
        Self {
            load: Cow::Borrowed(&step.load),
            layers: Cow::Borrowed(&step.layers),
            cpu: step.cpu.as_ref().map(Cow::Borrowed),
            host: step.host.as_ref().map(Cow::Borrowed),
            doubts: Cow::Borrowed(&step.doubts),
            starved: step.starved,
            incidents: Cow::Borrowed(&step.incidents),
            ended: Cow::Borrowed(&step.ended),
        }
    }

    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("the data model has text keys only, so JSON can hold it")
    }
}

/// Row `row` of `steps`, with the slices that belong to it. The error says what was found instead.
pub(crate) fn step_of(steps: &Table, row: usize, slices: Vec<Slice>) -> Result<Step, String> {
    let text = steps.text(row, "detail_json").ok_or("no detail_json")?;
    let detail: Detail<'static> = serde_json::from_str(text).map_err(|e| format!("detail_json with {e}"))?;
    let float = |name: &str| steps.float(row, name).ok_or_else(|| format!("no {name}"));
    Ok(Step {
        load: detail.load.into_owned(),
        start_s: float("start_s")?,
        settle_s: float("settle_s")?,
        measured_s: float("measured_s")?,
        slices,
        layers: detail.layers.into_owned(),
        cpu: detail.cpu.map(Cow::into_owned),
        host: detail.host.map(Cow::into_owned),
        doubts: detail.doubts.into_owned(),
        starved: detail.starved,
        incidents: detail.incidents.into_owned(),
        ended: detail.ended.into_owned(),
    })
}

/// Row `row` of `samples`. The error says what was found instead.
pub(crate) fn slice_of(samples: &Table, row: usize) -> Result<Slice, String> {
    let float = |name: &str| samples.float(row, name).ok_or_else(|| format!("no {name}"));
    Ok(Slice {
        start_s: float("start_s")?,
        length_s: float("length_s")?,
        read: class_of(samples, row, "read")?,
        write: class_of(samples, row, "write")?,
        flush: class_of(samples, row, "flush")?,
        outstanding_mean: float("outstanding_mean")?,
    })
}

fn class_of(samples: &Table, row: usize, class: &str) -> Result<ClassSeen, String> {
    let count = |what: &str| samples.int(row, &format!("{class}_{what}")).and_then(|v| u64::try_from(v).ok());
    let sum_ns = count("sum_ns").unwrap_or(0);
    let latency = samples
        .bytes(row, &format!("{class}_hdr"))
        .map(|bytes| LatencyHistogram::from_v2_bytes(bytes, sum_ns))
        .transpose()?;
    Ok(ClassSeen { latency, bytes: count("bytes").unwrap_or(0), errors: count("errors").unwrap_or(0) })
}
