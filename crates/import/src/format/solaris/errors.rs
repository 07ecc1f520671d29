//! `iostat -E` and `-En` of Solaris and illumos: what each disk is, and its errors since boot. Facts only.

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::{PlaceId, Platform, facts};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "solaris-iostat-errors",
    title: "iostat -E and -En of Solaris and illumos",
    recognise,
    reads: Reads::Lines { new: || Box::new(Errors::default()), begins },
};

/// Labels in a line, and the facts they become. Counts are since boot.
const LABELS: [(&str, &str); 19] = [
    ("Soft Errors:", facts::SOFT_ERRORS),
    ("Hard Errors:", facts::HARD_ERRORS),
    ("Transport Errors:", facts::TRANSPORT_ERRORS),
    ("Vendor:", facts::VENDOR),
    ("Product:", facts::PRODUCT),
    // Of IDE disks, which have no vendor.
    ("Model:", facts::PRODUCT),
    ("Revision:", "revision"),
    ("Serial No:", "serial"),
    ("Device Id:", "device_id"),
    ("Size:", facts::SIZE_BYTES),
    ("Media Error:", "media_errors"),
    ("Device Not Ready:", "device_not_ready_errors"),
    ("No Device:", "no_device_errors"),
    ("Recoverable:", "recoverable_errors"),
    ("Illegal Request:", "illegal_requests"),
    ("Predictive Failure Analysis:", "predictive_failures"),
    ("Non-Aligned Writes:", "non_aligned_writes"),
    // Solaris 2.6.
    ("RPM:", "rpm"),
    ("Heads:", "heads"),
];

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(94, "errors of a disk", head.find(begins)?)
}

fn begins(line: &str) -> bool {
    line.len() < 400 && ["Soft Errors:", "Hard Errors:", "Transport Errors:"].iter().all(|l| line.contains(l))
}

/// The reader.
#[derive(Default)]
struct Errors {
    /// The disk that lines belong to.
    disk: Option<PlaceId>,
}

impl LineFormat for Errors {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() {
            return Took::Yes;
        }
        let fields = fields(line);
        let Some(&(first, _, _)) = fields.first() else { return Took::No };
        if begins(line) {
            let name = line.get(..first).unwrap_or("").trim();
            if name.is_empty() {
                out.complain("the name of a disk before its errors", line);
                self.disk = None;
                return Took::Yes;
            }
            out.platform(Platform::Solaris);
            self.disk = Some(out.place(super::device::kind(name), name));
        } else if first > 0 {
            return Took::No;
        }
        let Some(disk) = self.disk else {
            out.complain("the name of a disk before what is told of it", line);
            return Took::Yes;
        };
        for (_, name, text) in fields {
            tell(disk, name, text, out);
        }
        Took::Yes
    }
}

fn tell(disk: PlaceId, name: &str, text: &str, out: &mut Out<'_>) {
    match name {
        facts::VENDOR | facts::PRODUCT | "revision" | "serial" | "device_id" => {
            if !text.is_empty() {
                out.fact(disk, name, text);
            }
        }
        facts::SIZE_BYTES => {
            // `73.41GB <73407865856 bytes>`; a disk without medium has -1 or 0.
            let bytes = text.split_once('<').and_then(|(_, b)| decimal(b.split(' ').next()?));
            match bytes {
                Some(bytes) if bytes > 0.0 => out.fact(disk, name, bytes),
                Some(_) => {}
                None => out.complain("a size with its bytes in angle brackets", text),
            }
        }
        _ => match decimal(text) {
            Some(count) => out.fact(disk, name, count),
            None => out.complain(&format!("a count of {}", name.replace('_', " ")), text),
        },
    }
}

/// Where each label begins, its fact, and the text up to the next label.
fn fields(line: &str) -> Vec<(usize, &'static str, &str)> {
    let mut found: Vec<(usize, usize, &'static str)> = LABELS
        .iter()
        .filter_map(|(label, name)| line.find(label).map(|at| (at, at + label.len(), *name)))
        .collect();
    found.sort_unstable();
    let ends: Vec<usize> = found.iter().skip(1).map(|f| f.0).chain([line.len()]).collect();
    let text = |from: usize, to: usize| line.get(from..to).unwrap_or("").trim();
    found.iter().zip(ends).map(|((at, from, name), end)| (*at, *name, text(*from, end))).collect()
}
