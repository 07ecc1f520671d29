//! The block layout (`-D` without `-l`): per disk four pairs of lines, names above figures.

use super::columns::Group;
use super::rulers::Named;
use super::table::{About, Table, is_sum};
use super::{Iostat, device};
use crate::format::Took;
use crate::out::Out;
use crate::text::words;
use record::imported::{Origin, PlaceKind, Platform, Quantity};

/// The block that is being read.
#[derive(Default)]
pub(super) struct Blocks {
    /// The disk or adapter; empty before the first.
    name: String,
    /// Names that await their figures.
    names: Option<Table>,
    values: Vec<(Quantity, f64)>,
    time_s: Option<f64>,
    origin: Origin,
    is_adapter: bool,
}

impl Blocks {
    /// Whether figures are awaited.
    pub fn is_open(&self) -> bool {
        self.names.is_some()
    }
}

/// `hdisk0   xfer:  %tm_act  bps ...`, `read: rps avgserv ...`: the disk where told, the group, the names.
pub(super) fn group_line(line: &str) -> Option<(&str, Group, Vec<&str>)> {
    let words = words(line);
    let at = words.iter().take(2).position(|w| w.ends_with(':') && Group::titled(w).is_some())?;
    let group = Group::titled(words[at])?;
    let names = words.get(at + 1..)?.to_vec();
    let fits = |n: &&str| {
        matches!(
            *n,
            "%tm_act" | "bps" | "Kbps" | "tps" | "rps" | "wps" | "avgserv" | "avgtime" | "avgwqsz" | "sqfull"
        )
    };
    names.iter().any(fits).then(|| (if at == 1 { words[0] } else { "" }, group, names))
}

/// Whether a line begins a block: it names the disk.
pub(super) fn is_first(line: &str) -> bool {
    group_line(line).is_some_and(|(name, group, _)| group == Group::Transfers && !name.is_empty())
}

impl Iostat {
    /// Names of a group.
    pub(super) fn block_header(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some((name, group, names)) = group_line(line) else { return Took::No };
        out.platform(Platform::Aix);
        if group == Group::Transfers {
            self.finish_block(out);
            self.table = None;
            name.clone_into(&mut self.blocks.name);
            self.blocks.origin = out.origin();
            self.blocks.is_adapter = !names.contains(&"%tm_act");
        }
        let named: Vec<Named> = names.into_iter().map(|n| (group, n.to_owned())).collect();
        let (table, unread) = Table::new(About::Processors, &named, out);
        self.blocks.names = Some(table);
        if !unread.is_empty() && !std::mem::replace(&mut self.unread_told, true) {
            out.remark(&format!("columns that are not known here were left unread: {}", unread.join(" ")));
        }
        Took::Yes
    }

    /// The figures under the names; false when the line is something else.
    pub(super) fn block_values(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some(table) = self.blocks.names.take() else { return false };
        let Some(row) = table.row(line) else {
            if !table.looks_like_row(line) {
                return false;
            }
            out.complain(&format!("{} figures", table.width()), line);
            return true;
        };
        self.complain_cell(&row, line, out);
        self.blocks.time_s = self.blocks.time_s.or(row.time_s);
        for (quantity, value) in table.pairs(&row) {
            match self.blocks.values.iter_mut().find(|(q, _)| *q == quantity) {
                Some((_, sum)) if is_sum(quantity) => *sum += value,
                Some(_) => {}
                None => self.blocks.values.push((quantity, value)),
            }
        }
        true
    }

    /// Hands over the block read so far.
    pub(super) fn finish_block(&mut self, out: &mut Out<'_>) {
        self.blocks.names = None;
        let values = std::mem::take(&mut self.blocks.values);
        let time_s = self.blocks.time_s.take();
        if values.is_empty() {
            return;
        }
        let name = std::mem::take(&mut self.blocks.name);
        if name.is_empty() {
            return out.complain("the name of a disk above its figures", "figures of no disk");
        }
        let (about, place) = if self.blocks.is_adapter {
            (About::Adapters, out.place(PlaceKind::Adapter, &name))
        } else {
            match name.strip_prefix("Path").filter(|_| !self.disk.is_empty()) {
                Some(number) => (About::Paths, out.place(PlaceKind::Path, &device::path(&self.disk, number))),
                None => {
                    name.clone_into(&mut self.disk);
                    (About::Disks, out.place(device::disk_kind(&name), &name))
                }
            }
        };
        self.report(about, place, time_s, out);
        let mut origin = self.blocks.origin;
        if origin.block != out.origin().block {
            // Its text has gone with the block before.
            (origin.start, origin.end) = (0, 0);
        }
        out.put_from(origin, place, &values);
    }
}
