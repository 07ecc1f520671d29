//! `lsattr -El NAME` of AIX: attributes of a disk, an adapter or another device: name, value, description, and whether it
//! can be changed. Also `-D` and texts whose blanks were lost in copying.
//!
//! The text does not name the device: the command at the prompt above does, or a line with nothing but its name.

use super::device::{arguments, is_name, kind, runs};
use super::fcstat::snake;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::{PlaceId, PlaceKind, Platform, Value, facts};
use std::collections::HashSet;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-lsattr",
    title: "lsattr -El of AIX (disks, adapters, sys0)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Lsattr::default()), begins },
};

/// Attributes that show what they belong to: a disk or an adapter. Sorted.
const OF_DISKS: [&str; 22] = [
    "algorithm",
    "clr_q",
    "dist_err_pcnt",
    "hcheck_cmd",
    "hcheck_interval",
    "hcheck_mode",
    "lun_id",
    "lun_reset_spt",
    "max_coalesce",
    "max_retry_delay",
    "max_transfer",
    "node_name",
    "pvid",
    "q_err",
    "q_type",
    "qfull_dly",
    "queue_depth",
    "reassign_to",
    "reserve_policy",
    "rw_timeout",
    "scsi_id",
    "start_timeout",
];
const OF_ADAPTERS: [&str; 14] = [
    "bus_intr_lvl",
    "bus_mem_addr",
    "dyntrk",
    "fc_err_recov",
    "init_link",
    "intr_priority",
    "lg_term_dma",
    "link_speed",
    "max_xfer_size",
    "num_cmd_elems",
    "num_io_queues",
    "pref_alpa",
    "sw_fc_class",
    "tme",
];

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let known = |l: &str| is_known(words(l).first().copied().unwrap_or("")) && words(l).len() >= 3;
    let attributes = head.count(known);
    let line = head.find(known)?;
    let ended = head.count(|l| known(l) && is_ended(l));
    match (attributes, ended) {
        (_, 1..) => Likeness::by_line(92, "attribute", line),
        (2.., 0) => Likeness::by_line(70, "attribute", line),
        _ => None,
    }
}

fn begins(line: &str) -> bool {
    let is_attribute = |w: &&str| w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let in_columns = || line.trim_end().contains("  ") && words(line).first().is_some_and(is_attribute);
    is_ended(line) && (words(line).first().is_some_and(|w| is_known(w)) || in_columns())
}

fn is_known(name: &str) -> bool {
    OF_DISKS.contains(&name) || OF_ADAPTERS.contains(&name)
}

/// Whether the last word says if the attribute can be changed. `True+`: also while the device is in use.
fn is_ended(line: &str) -> bool {
    matches!(line.split_ascii_whitespace().next_back(), Some("True" | "False" | "True+" | "False+"))
}

/// A hexadecimal number: `0x100000`.
pub(super) fn hexadecimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok().map(|n| n as f64)
}

/// The reader.
#[derive(Default)]
pub(crate) struct Lsattr {
    device: Option<(String, PlaceId)>,
    /// Name told by the command line or a line above, not yet used.
    named: Option<String>,
    seen: HashSet<String>,
    /// Lines of this text lack the last column, so that any attribute has to be trusted.
    unended: bool,
    /// Byte at which values begin in this table.
    value_at: Option<usize>,
    platform_told: bool,
}

impl LineFormat for Lsattr {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        let cells = words(trimmed);
        let Some(name) = cells.first().copied() else { return Took::Yes };
        // The heading of option -H.
        if cells.starts_with(&["attribute", "value"]) {
            return Took::Yes;
        }
        if let Some(device) = heading(trimmed) {
            self.name(device);
            return Took::Yes;
        }
        let is_attribute = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && (is_ended(trimmed)
                || is_known(name)
                || self.unended && name.starts_with(|c: char| c.is_ascii_lowercase()));
        if !is_attribute {
            return Took::No;
        }
        // Without a value the description stands in its place: there are two more words at least.
        let Some(value) = cells.get(1).filter(|_| cells.len() >= 3) else {
            out.complain("an attribute, its value, its description", trimmed);
            return Took::Yes;
        };
        self.unended |= is_known(name) && !is_ended(trimmed);
        let value = if self.has_no_value(line, value) { "" } else { value };
        self.attribute(name, value, out);
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        if runs(command, "lsattr") {
            self.named = None;
            self.device = None;
            self.seen.clear();
            if let Some(device) = device_of(command) {
                self.name(device);
            }
        }
    }
}

/// The device of `lsattr -El hdisk4`, `lsattr -E -l hdisk4 -a queue_depth`, `lsattr -l hdisk4 -E`.
fn device_of(command: &str) -> Option<&str> {
    let mut words = arguments(command);
    while let Some(word) = words.next() {
        if let Some(flags) = word.strip_prefix('-')
            && let Some(at) = flags.find('l')
        {
            let glued = flags.get(at + 1..).filter(|rest| !rest.is_empty());
            return glued.or_else(|| words.next()).filter(|name| !name.starts_with(['$', '-']));
        }
    }
    None
}

/// A line that only names a device: `hdisk4`, `hdisk4:`, `==== hdisk4 ====`.
fn heading(line: &str) -> Option<&str> {
    let bare = line.trim_matches(|c: char| matches!(c, '=' | '-' | '*' | '#' | ':' | ' '));
    is_name(bare).then_some(bare)
}

impl Lsattr {
    /// Values stand in a column of their own: where it is empty, the description follows further to the right.
    fn has_no_value(&mut self, line: &str, second: &str) -> bool {
        /// Where no line above shows the column: a gap that no name leaves before its value.
        const GAP: usize = 24;
        let at = second.as_ptr() as usize - line.as_ptr() as usize;
        let gap = at - line[..at].trim_end().len();
        match self.value_at {
            // A single blank follows a long name, or stands where blanks were lost.
            Some(column) => at > column && gap > 1,
            None => {
                if gap <= GAP {
                    self.value_at = Some(at);
                }
                gap > GAP
            }
        }
    }

    fn name(&mut self, device: &str) {
        self.named = Some(device.to_owned());
        (self.value_at, self.unended) = (None, false);
        self.device = None;
        self.seen.clear();
    }

    /// The device that an attribute belongs to.
    fn device(&mut self, attribute: &str, out: &mut Out<'_>) -> PlaceId {
        let again = self.named.is_none() && !self.seen.insert(attribute.to_owned());
        if again {
            // The same attribute again: another device, whose name is not told.
            self.device = None;
            self.seen.clear();
            self.seen.insert(attribute.to_owned());
        }
        if let Some((_, place)) = &self.device {
            return *place;
        }
        if !std::mem::replace(&mut self.platform_told, true) {
            out.platform(Platform::Aix);
        }
        let name = self.named.clone().unwrap_or_default();
        let place = if name.is_empty() {
            let kind = if OF_ADAPTERS.contains(&attribute) { PlaceKind::Adapter } else { PlaceKind::Device };
            out.remark(
                "which device these attributes belong to is not told: no 'lsattr -El NAME' stands above them",
            );
            out.place(kind, "")
        } else if name == "sys0" {
            out.place(PlaceKind::Host, "")
        } else {
            match kind(&name) {
                // `aio0`, `inet0`: neither disks nor volumes.
                PlaceKind::Volume if !name.starts_with("hdiskpower") => out.place(PlaceKind::Other, &name),
                kind => out.place(kind, &name),
            }
        };
        self.device = Some((name, place));
        place
    }

    fn attribute(&mut self, name: &str, value: &str, out: &mut Out<'_>) {
        let place = self.device(name, out);
        let number = decimal(value).or_else(|| hexadecimal(value));
        let fact = match name {
            "queue_depth" => facts::QUEUE_DEPTH,
            "num_cmd_elems" => facts::ADAPTER_COMMANDS,
            "max_transfer" | "max_xfer_size" => facts::MAX_TRANSFER_BYTES,
            "max_coalesce" => "max_coalesce_bytes",
            "lg_term_dma" => "lg_term_dma_bytes",
            "hcheck_interval" | "qfull_dly" | "rw_timeout" | "start_timeout" | "reassign_to" => {
                return self.seconds(place, name, number, value, out);
            }
            _ => return out.fact(place, text_name(name).as_str(), kept(name, value)),
        };
        match number {
            Some(number) => out.fact(place, fact, number),
            None => out.complain(&format!("a number as the value of {name}"), value),
        }
    }

    fn seconds(&self, place: PlaceId, name: &str, number: Option<f64>, value: &str, out: &mut Out<'_>) {
        match number {
            Some(number) => out.fact(place, &format!("{name}_s"), number),
            None => out.complain(&format!("seconds as the value of {name}"), value),
        }
    }
}

/// The name of a fact whose value is kept as written.
fn text_name(attribute: &str) -> String {
    match attribute {
        "algorithm" => facts::PATH_SELECTOR.to_owned(),
        "unique_id" => facts::WWID.to_owned(),
        "ww_name" => "target_wwn".to_owned(),
        _ => snake(attribute),
    }
}

/// Identifiers stay text also where they have only digits.
fn kept(name: &str, value: &str) -> Value {
    let is_identity =
        name.ends_with("_id") || name.ends_with("id") || name.ends_with("name") || name.ends_with("addr");
    match decimal(value).filter(|_| !is_identity && !value.contains(',')) {
        Some(number) => Value::Number(number),
        None => Value::from(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_commands() {
        assert_eq!(device_of("lsattr -El hdisk4"), Some("hdisk4"));
        assert_eq!(device_of("/usr/sbin/lsattr -E -l fcs0 -a max_xfer_size"), Some("fcs0"));
        assert_eq!(device_of("lsattr -lhdisk7 -E"), Some("hdisk7"));
        assert_eq!(device_of("lsattr -El $d"), None);
        assert_eq!(heading("==== hdisk3 ===="), Some("hdisk3"));
        assert_eq!(heading("rootvg:"), None);
        assert_eq!(hexadecimal("0x100000"), Some(1_048_576.0));
    }
}
