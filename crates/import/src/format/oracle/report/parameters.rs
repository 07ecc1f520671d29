//! Initialisation parameters (`init.ora Parameters`): those that say how the database does I/O.

use super::{Report, value};
use crate::out::Out;
use record::imported::facts;

/// Parameters that are kept. Each is a fact of the instance under its own name.
const KEPT: [&str; 15] = [
    "async_io_buffer_size",
    "db_block_size",
    "db_file_multiblock_read_count",
    "db_writer_processes",
    "dbwr_io_slaves",
    "disk_asynch_io",
    "filesystemio_options",
    "fast_start_mttr_target",
    "memory_target",
    "pga_aggregate_target",
    "processes",
    "sga_max_size",
    "sga_target",
    "tape_asynch_io",
    "use_large_pages",
];

/// Whether the title of a section, or the summary of a table, in lower case, is that of parameters.
pub(super) fn is_parameters(title: &str) -> bool {
    title.starts_with("init.ora param")
        || title.starts_with("name and value of init.ora param")
        || title.starts_with("modified parameters")
}

impl Report {
    /// A row: name, value at the begin, value at the end where it differs.
    pub(super) fn parameter(&mut self, cells: &[&str], out: &mut Out<'_>) {
        let column = |start: &str| self.table.columns.iter().position(|c| c.starts_with(start));
        let cell =
            |at: Option<usize>| at.and_then(|at| cells.get(at)).map(|c| c.trim()).filter(|c| !c.is_empty());
        let Some(name) = cell(column("parametername").or(Some(0))) else { return };
        let name = name.trim_end_matches('*').to_ascii_lowercase();
        let begun = cell(column("beginvalue").or(Some(1)));
        let (Some(value), true) = (cell(column("endvalue")).or(begun), KEPT.contains(&name.as_str())) else {
            return;
        };
        let name = if name == "db_block_size" { facts::DATABASE_BLOCK_BYTES } else { name.as_str() };
        let database = self.heading.database(out);
        match value::plain(value).filter(|n| n.is_finite()) {
            Some(number) => out.fact(database, name, number),
            None => out.fact(database, name, value),
        }
    }
}
