//! `blkparse`, its default output: events of the block layer, and the summary below them.
//!
//! A request is put together from its events: queued (Q), issued to the driver (D), completed (C). What lies between Q and
//! D is the host's, what lies between D and C the driver's and the device's.

mod event;
mod requests;
mod summary;

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use event::Event;
use record::imported::{PlaceKind, Platform};
use requests::Requests;
use summary::Summary;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "blkparse",
    title: "blkparse, default output (Linux)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Blkparse::default()), begins: |line| Event::read(line).is_some() },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| Event::read(l).is_some()) {
        return Likeness::by_line(94, "event", line);
    }
    let queued = head.find(|l| l.contains("Reads Queued:") && l.contains("Writes Queued:"))?;
    Likeness::by_line(92, "line of the summary", queued)
}

/// The reader.
#[derive(Default)]
struct Blkparse {
    requests: Requests,
    summary: Summary,
    begun: bool,
}

impl LineFormat for Blkparse {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if !self.begun {
            self.begun = true;
            out.platform(Platform::Linux);
        }
        if let Some(event) = Event::read(line) {
            self.requests.take(&event, out);
            return Took::Yes;
        }
        let trimmed = line.trim();
        if trimmed.is_empty() || self.summary.line(trimmed, out) || is_noise(trimmed) {
            return Took::Yes;
        }
        if Event::is_meant(trimmed) {
            out.complain("device, processor, number, time, process, action and what follows", trimmed);
            return Took::Yes;
        }
        Took::No
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let named = self.requests.named();
        self.requests.end(out);
        self.summary.end(&named, out);
    }
}

/// What blktrace and blkparse say besides.
fn is_noise(line: &str) -> bool {
    line.starts_with("Input file ")
        || line.starts_with("=== ")
        || line.starts_with("CPU") && line.contains("events,")
}

/// The kind of a device by its numbers: partitions of SCSI disks are known by them.
pub(super) fn kind(device: (u32, u32)) -> PlaceKind {
    let is_partition = is_scsi(device.0) && !device.1.is_multiple_of(16);
    if is_partition { PlaceKind::Partition } else { PlaceKind::Device }
}

fn is_scsi(major: u32) -> bool {
    matches!(major, 8 | 65..=71 | 128..=135)
}

/// The kernel's name of a SCSI disk (`8,64` is `sde`); Linux fixes their numbers, and no others that matter.
fn kernel_name(device: (u32, u32)) -> Option<String> {
    let sixteen = match device.0 {
        8 => 0,
        major @ 65..=71 => major - 64,
        major @ 128..=135 => major - 120,
        _ => return None,
    };
    let mut number = sixteen * 16 + device.1.min(255) / 16;
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (number % 26) as u8));
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    let partition = match device.1 % 16 {
        0 => String::new(),
        number => number.to_string(),
    };
    Some(format!("sd{}{partition}", letters.iter().rev().collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_scsi_disks() {
        for (device, name) in [((8, 64), "sde"), ((8, 1), "sda1"), ((65, 160), "sdaa"), ((128, 0), "sddy")] {
            assert_eq!(kernel_name(device).as_deref(), Some(name));
        }
        assert_eq!(kernel_name((253, 0)), None);
    }
}
