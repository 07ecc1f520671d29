//! `btt`: mean times of the stages of an I/O, in seconds, and tables by device.
//!
//! Q queued, G request allocated, I inserted, M merged, D issued to the driver, C completed: Q2D is the host's time, D2C
//! the driver's and the device's, Q2C both (btt's manual, "phases of an I/O").

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::{
    BusyPercent, HostWaitUs, Iops, Ios, RequestBytes, ResponseMaxUs, ResponseMinUs, ResponseUs, ServiceUs,
};
use record::imported::{Basis, Interval, Origin, PlaceId, PlaceKind, Platform, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "btt",
    title: "btt of blktrace (Linux)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Btt::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| title(l).is_some_and(is_section)) {
        return Likeness::by_line(94, "heading", line);
    }
    Likeness::by_line(
        91,
        "stage",
        head.find(|l| Stage::read(l).is_some_and(|s| STAGES.contains(&s.name.as_str())))?,
    )
}

fn begins(line: &str) -> bool {
    title(line).is_some_and(is_section)
        || Stage::read(line).is_some_and(|s| STAGES.contains(&s.name.as_str()))
}

const STAGES: [&str; 14] =
    ["Q2Q", "Q2A", "Q2X", "Q2G", "S2G", "G2I", "Q2M", "Q2I", "I2D", "M2D", "D2C", "Q2C", "Q2Qdm", "Q2Cdm"];
/// What the host does with an I/O before the driver has it.
const HOST: [&str; 6] = ["Q2G", "G2I", "Q2I", "I2D", "Q2M", "M2D"];

/// No driver waits so long for a device.
const CLOCK_STEP_US: f64 = 600e6;
/// A single I/O as short as this spoils no mean that matters.
const OUTLIER_US: f64 = 10e3;

/// Text between rows of `=`.
fn title(line: &str) -> Option<&str> {
    let line = line.trim();
    let inner = line.strip_prefix("====")?.trim_start_matches('=');
    Some(inner.strip_suffix("====")?.trim_end_matches('=').trim()).filter(|t| !t.is_empty())
}

fn is_section(title: &str) -> bool {
    const SECTIONS: [&str; 10] = [
        "All Devices",
        "Device Overhead",
        "Device Merge Information",
        "Device Q2Q Seek Information",
        "Device D2D Seek Information",
        "Plug Information",
        "Active Requests At Q Information",
        "I/O Active Period Information",
        "Per Process",
        "Per Device",
    ];
    SECTIONS.contains(&title)
}

/// `D2C  0.000100000 0.002000000 0.050000000  12345`.
#[derive(Clone, Debug)]
struct Stage {
    name: String,
    min_us: f64,
    mean_us: f64,
    max_us: f64,
    count: f64,
    origin: Origin,
}

impl Stage {
    /// A name and four numbers, the last whole.
    fn read(line: &str) -> Option<Self> {
        let cells = words(line);
        let [name @ .., min, mean, max, count] = cells.as_slice() else { return None };
        let seconds = |t: &str| decimal(t).filter(|_| t.contains(['.', ','])).map(|s| s * 1e6);
        let count = decimal(count).filter(|_| count.bytes().all(|b| b.is_ascii_digit()))?;
        Some(Self {
            name: Some(name.join(" ")).filter(|n| !n.is_empty())?,
            min_us: seconds(min)?,
            mean_us: seconds(mean)?,
            max_us: seconds(max)?,
            count,
            origin: Origin::default(),
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    AllDevices,
    Overhead,
    Merges,
    Active,
    Requests,
    /// Rows are devices, the header names the stage.
    PerDevice,
    Other,
}

/// The reader.
#[derive(Default)]
struct Btt {
    section: Section,
    begun: bool,
    stages: Vec<Stage>,
    /// Stages of each device, of option -A.
    of_devices: Vec<(String, Stage)>,
    /// Stage named by a header of a table by device.
    stage: String,
    columns: Vec<String>,
    /// Devices that tables name.
    devices: Vec<String>,
}

impl LineFormat for Btt {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if !std::mem::replace(&mut self.begun, true) {
            out.platform(Platform::Linux);
        }
        let trimmed = line.trim();
        let is_rule = |c: char| matches!(c, '-' | '|' | ' ' | '\t' | '+' | '=');
        if trimmed.is_empty() || trimmed.chars().all(is_rule) {
            return Took::Yes;
        }
        if let Some(title) = title(trimmed) {
            self.section = match title {
                "All Devices" => Section::AllDevices,
                "Device Overhead" => Section::Overhead,
                "Device Merge Information" => Section::Merges,
                "I/O Active Period Information" => Section::Active,
                "Active Requests At Q Information" => Section::Requests,
                "Per Device" => Section::PerDevice,
                _ => Section::Other,
            };
            self.columns.clear();
            // A second file of btt in the same text.
            if title == "All Devices" && !self.stages.is_empty() {
                self.finish(out);
            }
            return Took::Yes;
        }
        if trimmed.contains('|') {
            return self.by_device(trimmed, out);
        }
        let cells = words(trimmed);
        if let [name, "MIN", "AVG", "MAX", "N"] = cells.as_slice() {
            self.stage = (*name).to_owned();
            return Took::Yes;
        }
        if let Some(mut stage) = Stage::read(trimmed) {
            stage.origin = out.origin();
            if STAGES.contains(&stage.name.as_str()) {
                if self.stages.len() < 64 {
                    self.stages.push(stage);
                }
                return Took::Yes;
            }
            if self.section == Section::PerDevice && self.of_devices.len() < 100_000 {
                if let Some(device) = device(&stage.name) {
                    stage.name.clone_from(&self.stage);
                    self.of_devices.push((device, stage));
                }
                return Took::Yes;
            }
            return if self.section == Section::Other { Took::Yes } else { Took::No };
        }
        if cells.first().is_some_and(|name| STAGES.contains(name)) {
            out.complain("a stage with minimum, mean, maximum and count", trimmed);
            return Took::Yes;
        }
        let is_kept_open = matches!(self.section, Section::Other | Section::PerDevice);
        if is_kept_open || trimmed.starts_with('#') { Took::Yes } else { Took::No }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(out);
    }
}

impl Btt {
    /// A row of a table by device: `(  8, 16) |   0.0100%   0.0200% ...`.
    fn by_device(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let (name, rest) = line.split_once('|').unwrap_or((line, ""));
        let rest = rest.replace('|', " ");
        if name.trim() == "DEV" {
            self.columns = words(&rest).into_iter().map(str::to_owned).collect();
            return Took::Yes;
        }
        let Some(device) = device(name) else { return Took::Yes };
        if !self.devices.contains(&device) && self.devices.len() < 100_000 {
            self.devices.push(device.clone());
        }
        let place = place(&device, out);
        let number = |cell: &str| decimal(cell.trim_end_matches('%'));
        let cells = words(&rest);
        let named = |name: &str| {
            let at = self.columns.iter().position(|c| c == name)?;
            number(cells.get(at)?)
        };
        match self.section {
            Section::Overhead => {
                for (column, cell) in self.columns.iter().zip(&cells) {
                    match number(cell) {
                        Some(share) => {
                            out.fact(place, &format!("{}_share_percent", column.to_ascii_lowercase()), share)
                        }
                        None => out.complain("shares of the stages in percent", line),
                    }
                }
            }
            Section::Merges => {
                let (queued, issued) = (named("#Q"), named("#D"));
                if queued.is_none() || issued.is_none() {
                    out.complain("#Q and #D of a device", line);
                    return Took::Yes;
                }
                out.fact(place, "queued_count", queued.unwrap_or(f64::NAN));
                out.fact(place, "issued_count", issued.unwrap_or(f64::NAN));
                if let Some(ratio) = named("Ratio") {
                    out.fact(place, "merge_ratio", ratio);
                }
                let sectors = named("BLKavg").unwrap_or(f64::NAN);
                out.interval(Interval::unknown(RowsKind::Period));
                out.put(place, &[(Ios, issued.unwrap_or(f64::NAN)), (RequestBytes, sectors * 512.0)]);
            }
            // `# Live  Avg. Act  Avg. !Act  % Live`: the names hold blanks, the share stands last.
            Section::Active => {
                if let Some(share) = cells.last().and_then(|c| number(c)) {
                    out.interval(Interval::unknown(RowsKind::Period));
                    out.put(place, &[(BusyPercent, share)]);
                }
            }
            Section::Requests => {
                if let Some(mean) = cells.first().and_then(|c| number(c)) {
                    out.fact(place, "outstanding_at_arrival", mean);
                }
            }
            _ => {}
        }
        Took::Yes
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let stages = std::mem::take(&mut self.stages);
        // Of a single device, what is told of all of them is told of it.
        let place = match self.devices.as_slice() {
            [only] => place(only, out),
            _ => out.place(PlaceKind::Host, ""),
        };
        say(&stages, place, out);
        let of_devices = std::mem::take(&mut self.of_devices);
        let mut told: Vec<&str> = Vec::new();
        for (device, _) in &of_devices {
            if !told.contains(&device.as_str()) {
                told.push(device);
                let of = of_devices.iter().filter(|(d, _)| d == device).map(|(_, s)| s.clone());
                say(&of.collect::<Vec<Stage>>(), self::place(device, out), out);
            }
        }
        self.devices.clear();
    }
}

fn say(stages: &[Stage], place: PlaceId, out: &mut Out<'_>) {
    let stage = |name: &str| stages.iter().find(|s| s.name == name);
    let Some(first) = stages.first() else { return };
    // What a volume prints instead of Q2C and D2C.
    let total = stage("Q2C").or_else(|| stage("Q2Cdm"));
    let service = stage("D2C");
    let host_us = match (stage("Q2C"), service) {
        (Some(total), Some(service)) => total.mean_us - service.mean_us,
        (None, Some(service)) if HOST.iter().any(|n| stage(n).is_some()) => {
            let sum: f64 = HOST.iter().filter_map(|n| stage(n)).map(|s| s.mean_us * s.count).sum();
            sum / service.count
        }
        _ => f64::NAN,
    };
    let between = stage("Q2Q").filter(|s| s.mean_us > 0.0);
    let length_s = between.map_or(f64::NAN, |s| s.mean_us * s.count / 1e6);
    out.interval(Interval { at_s: length_s, length_s, basis: Basis::SinceStart, kind: RowsKind::Period });
    let of = |stage: Option<&Stage>, value: fn(&Stage) -> f64| stage.map_or(f64::NAN, value);
    out.put_from(
        first.origin,
        place,
        &[
            (HostWaitUs, host_us),
            (ServiceUs, of(service, |s| s.mean_us)),
            (ResponseUs, of(total, |s| s.mean_us)),
            (ResponseMinUs, of(total, |s| s.min_us)),
            (ResponseMaxUs, of(total, |s| s.max_us)),
            (Ios, of(total.or(service), |s| s.count)),
            (Iops, between.map_or(f64::NAN, |s| 1e6 / s.mean_us)),
        ],
    );
    for stage in stages {
        let name = stage.name.to_ascii_lowercase();
        out.fact(place, &format!("{name}_mean_us"), stage.mean_us);
        out.fact(place, &format!("{name}_max_us"), stage.max_us);
        out.fact(place, &format!("{name}_count"), stage.count);
        let is_stage = !stage.name.starts_with("Q2Q") && stage.count > 1.0;
        if is_stage && stage.max_us > CLOCK_STEP_US {
            out.remark(&format!(
                "{} lasted up to {:.0} s, longer than any timeout: a clock was set, or the trace lost events; its mean describes nothing",
                stage.name,
                stage.max_us / 1e6
            ));
        } else if is_stage && stage.max_us > OUTLIER_US && stage.max_us / stage.count > 0.1 * stage.mean_us {
            out.remark(&format!(
                "the mean of {} stems in good part from its longest ({:.3} s of {} I/Os): it does not describe the others",
                stage.name,
                stage.max_us / 1e6,
                stage.count
            ));
        }
    }
}

/// `(  8, 64)` as `8,64`.
fn device(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (major, minor) = inner.split_once(',')?;
    let (major, minor): (u32, u32) = (major.trim().parse().ok()?, minor.trim().parse().ok()?);
    Some(format!("{major},{minor}"))
}

fn place(device: &str, out: &mut Out<'_>) -> PlaceId {
    let numbers = device.split_once(',').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    out.place(super::blkparse::kind(numbers.unwrap_or((0, 0))), device)
}
