//! `fcstat` of AIX: identity, link errors, resource shortages and traffic of a Fibre Channel port since it was reset.
//!
//! Counts are since `Seconds Since Last Reset`; one text is therefore a mean over that time. The shortages that matter are
//! those of the SCSI driver; the same counts of IP over FC are kept under names that begin with `ip_`.

use super::device::{arguments, runs};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::{PlaceId, PlaceKind, Platform, Value, facts};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-fcstat",
    title: "fcstat of AIX",
    recognise,
    reads: Reads::Lines { new: || Box::new(Fcstat::default()), begins },
};

const REPORT: &str = "FIBRE CHANNEL STATISTICS REPORT:";
/// What fcstat says when it cannot read an adapter.
const ERRORS: [&str; 6] = [
    "Error accessing ODM",
    "VPD information not found",
    "Error opening device:",
    "Error reading statistics information",
    "Error reading adapter",
    "Device not found",
];

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| l.trim_start().starts_with(REPORT)) {
        return Likeness::by_line(95, "header", line);
    }
    if let Some(line) = head.find(|l| section(l.trim()).is_some()) {
        return Likeness::by_line(85, "section", line);
    }
    // Nothing but an error: only fcstat words it like this.
    let (number, line) = head.find(|l| !l.trim().is_empty())?;
    let is_error = ERRORS.iter().any(|e| line.trim().starts_with(e)) && head.lines.len() < 10;
    is_error.then(|| Likeness::by_line(60, "error", (number, line)))?
}

fn begins(line: &str) -> bool {
    line.trim_start().starts_with(REPORT)
}

/// Beginning of the names of facts in a section.
fn section(line: &str) -> Option<&'static str> {
    let line = line.trim_end_matches(':');
    Some(match line {
        "IP over FC Adapter Driver Information" | "IP over FC Traffic Statistics" => "ip_",
        "FC SCSI Adapter Driver Information" => "",
        "FC SCSI Traffic Statistics" => "scsi_",
        "FC NVMe Adapter Driver Information"
        | "FC NVMe Traffic Statistics"
        | "NVMe over FC Traffic Statistics" => "nvme_",
        _ if line.starts_with("FC SCSI ") => "",
        _ => return None,
    })
}

/// The reader.
#[derive(Default)]
pub(crate) struct Fcstat {
    /// Name told by the command line.
    asked: Option<String>,
    adapter: Option<PlaceId>,
    section: &'static str,
}

impl LineFormat for Fcstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some(name) = trimmed.strip_prefix(REPORT) {
            self.begin(name.trim(), out);
            return Took::Yes;
        }
        if ERRORS.iter().any(|e| trimmed.starts_with(e)) || trimmed.starts_with("errno:") {
            out.platform(Platform::Aix);
            out.complain("statistics of an adapter", trimmed);
            return Took::Yes;
        }
        if let Some(section) = section(trimmed) {
            self.section = section;
            return Took::Yes;
        }
        if is_decoration(trimmed) {
            return Took::Yes;
        }
        let Some((key, value)) = trimmed.split_once(':') else { return Took::No };
        if crate::reader::prompted(trimmed).is_some() || key.len() > 80 || begins_elsewhere(key) {
            return Took::No;
        }
        self.pair(key.trim(), value.trim(), out);
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        if runs(command, "fcstat") {
            self.asked = arguments(command).filter(|w| !w.starts_with('-')).last().map(str::to_owned);
            self.adapter = None;
            self.section = "";
        }
    }
}

/// Titles and rules of the two columns of frames.
fn is_decoration(line: &str) -> bool {
    !line.contains(':') && (line.ends_with("Statistics") || line.ends_with("Information"))
        || line.bytes().all(|b| b == b'-' || b == b' ')
        || line.trim_end_matches(':').eq_ignore_ascii_case("FC-4 TYPES")
        || line.trim_end_matches(':').eq_ignore_ascii_case("FC4 TYPES")
}

/// Keys begin with a capital, a letter or two of a VPD field included; other tools' lines with a colon do not.
fn begins_elsewhere(key: &str) -> bool {
    !key.starts_with(|c: char| c.is_ascii_uppercase()) || key.contains(['=', '[', ','])
}

impl Fcstat {
    fn begin(&mut self, name: &str, out: &mut Out<'_>) {
        out.platform(Platform::Aix);
        self.adapter = Some(out.place(PlaceKind::Adapter, name));
        self.section = "";
    }

    fn adapter(&mut self, out: &mut Out<'_>) -> PlaceId {
        if let Some(adapter) = self.adapter {
            return adapter;
        }
        let name = self.asked.clone().unwrap_or_default();
        if name.is_empty() {
            out.remark("which adapter these statistics belong to is not told: the line 'FIBRE CHANNEL STATISTICS REPORT' is missing");
        }
        let section = self.section;
        self.begin(&name, out);
        self.section = section;
        self.adapter.unwrap_or_else(|| out.place(PlaceKind::Adapter, &name))
    }

    fn pair(&mut self, key: &str, value: &str, out: &mut Out<'_>) {
        let adapter = self.adapter(out);
        let known = fact_of(key);
        match known {
            // Sent and received stand side by side, the second perhaps with its name again.
            Fact::Both(name) => {
                let numbers: Vec<f64> = words(value).into_iter().filter_map(decimal).collect();
                if let [sent, received] = numbers.as_slice() {
                    out.fact(adapter, &format!("transmit_{name}"), *sent);
                    out.fact(adapter, &format!("receive_{name}"), *received);
                } else {
                    out.complain(&format!("two numbers of {name}"), value);
                }
            }
            Fact::Count(name) => {
                // A negative count is one that has gone past 2^31: it says nothing.
                match decimal(value).filter(|n| *n >= 0.0) {
                    Some(number) => out.fact(adapter, &format!("{}{name}", self.section), number),
                    None => out.complain(&format!("a number of {key}"), value),
                }
            }
            Fact::Speed(name) => match speed(value) {
                Some(bits) => out.fact(adapter, name, bits),
                None => out.complain("a speed such as '8 GBIT'", value),
            },
            Fact::Text(name) => out.fact(adapter, name, value),
            Fact::Other => {
                let name = format!("{}{}", self.section, snake(key));
                let number = decimal(value).or_else(|| super::lsattr::hexadecimal(value));
                match number.filter(|_| !is_identity(key)) {
                    Some(number) => out.fact(adapter, &name, number),
                    None if value.is_empty() => {}
                    None => out.fact(adapter, &name, Value::from(value)),
                }
            }
        }
    }
}

/// What a key stands for.
enum Fact {
    /// A count of the section.
    Count(&'static str),
    /// A pair of counts.
    Both(&'static str),
    /// A speed.
    Speed(&'static str),
    /// As written.
    Text(&'static str),
    /// Kept under its own name.
    Other,
}

fn fact_of(key: &str) -> Fact {
    match key {
        "No DMA Resource Count" => Fact::Count(facts::NO_DMA_RESOURCE),
        "No Adapter Elements Count" => Fact::Count(facts::NO_ADAPTER_ELEMENTS),
        "No Command Resource Count" => Fact::Count(facts::NO_COMMAND_RESOURCE),
        "Seconds Since Last Reset" => Fact::Count(facts::SINCE_RESET_S),
        "Frames" => Fact::Both("frames"),
        "Words" => Fact::Both("words"),
        "Port Speed (running)" => Fact::Speed(facts::PORT_SPEED_BITS_PER_S),
        "Port Speed (supported)" => Fact::Speed("port_speed_supported_bits_per_s"),
        "Node WWN" | "World Wide Node Name" => Fact::Text("node_wwn"),
        "Port WWN" | "World Wide Port Name" => Fact::Text(facts::WWID),
        "Device Type" => Fact::Text(facts::PRODUCT),
        "Supported" => Fact::Text("fc4_types_supported"),
        "Active" => Fact::Text("fc4_types_active"),
        "Port FC ID" => Fact::Text("port_fc_id"),
        "Input Requests" => Fact::Count("input_requests"),
        "Output Requests" => Fact::Count("output_requests"),
        "Control Requests" => Fact::Count("control_requests"),
        "Input Bytes" => Fact::Count("input_bytes"),
        "Output Bytes" => Fact::Count("output_bytes"),
        "Primitive Seq Protocol Err Count" | "Primitive Seq Protocol Error Count" => {
            Fact::Count("primitive_seq_protocol_error_count")
        }
        _ => Fact::Other,
    }
}

/// Keys whose value is no number even where it has only digits.
fn is_identity(key: &str) -> bool {
    ["Serial", "Version", "ZA", "ID", "Name", "WWN", "Supported", "Active", "FRU", "Part"]
        .iter()
        .any(|k| key.contains(k))
}

/// `8 GBIT`, `16 Gbit`, `100 MBIT`.
fn speed(text: &str) -> Option<f64> {
    let cells = words(text);
    let number = decimal(cells.first()?)?;
    let unit = cells.get(1)?.to_ascii_lowercase();
    let factor = if unit.starts_with('g') {
        1e9
    } else if unit.starts_with('m') {
        1e6
    } else {
        return None;
    };
    Some(number * factor)
}

/// `Loss of Sync Count` as the name of a fact: `loss_of_sync_count`.
pub(super) fn snake(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    name.trim_end_matches('_').to_owned()
}
