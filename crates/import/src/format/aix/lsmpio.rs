//! `lsmpio` of AIX 7: the paths of each disk, with their state and the port and LUN that they lead to.

use super::device;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::words;
use record::imported::{PlaceKind, Platform, facts};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-lsmpio",
    title: "lsmpio of AIX, table of paths",
    recognise,
    reads: Reads::Lines { new: || Box::new(Lsmpio::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "header", head.find(begins)?)
}

fn begins(line: &str) -> bool {
    let words = words(line);
    words.first() == Some(&"name") && words.contains(&"path_id") && words.contains(&"path_status")
}

/// The reader.
#[derive(Default)]
struct Lsmpio {
    columns: Vec<String>,
}

impl Lsmpio {
    fn cell<'l>(&self, cells: &[&'l str], name: &str) -> Option<&'l str> {
        let at = self.columns.iter().position(|c| c == name)?;
        cells.get(at).copied().filter(|c| !matches!(*c, "-" | "N/A"))
    }
}

impl LineFormat for Lsmpio {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.bytes().all(|b| b == b'=' || b == b'-') {
            return Took::Yes;
        }
        if begins(trimmed) {
            out.platform(Platform::Aix);
            self.columns = words(trimmed).into_iter().map(str::to_owned).collect();
            return Took::Yes;
        }
        let mut cells = words(trimmed);
        if self.columns.is_empty()
            || !device::is_name(cells.first().unwrap_or(&"")) && cells.len() != self.columns.len()
        {
            return Took::No;
        }
        // A path that is out of use has no `path_status`; the cells after it are then told apart by what they hold.
        if cells.len() + 1 == self.columns.len()
            && let Some(at) = self.columns.iter().position(|c| c == "path_status")
        {
            cells.insert(at.min(cells.len()), "-");
        }
        let (Some(disk), Some(number), true) =
            (self.cell(&cells, "name"), self.cell(&cells, "path_id"), cells.len() == self.columns.len())
        else {
            out.complain(&format!("{} columns of a path", self.columns.len()), trimmed);
            return Took::Yes;
        };
        if number.parse::<u32>().is_err() {
            out.complain("a number of a path", trimmed);
            return Took::Yes;
        }
        let path = out.place(PlaceKind::Path, &device::path(disk, number));
        out.fact(path, facts::PART_OF, disk);
        for (column, fact) in [
            ("status", facts::PATH_STATE),
            ("path_status", "path_status"),
            ("parent", "adapter"),
            ("connection", "connection"),
        ] {
            if let Some(value) = self.cell(&cells, column) {
                out.fact(path, fact, value);
            }
        }
        Took::Yes
    }
}
