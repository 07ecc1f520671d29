//! Oracle: AWR as text and HTML, Statspack, SLOB, Orion, tables of AWR figures; ASH and ADDM are recognised and refused.

mod comparison;
mod html;
mod orion;
mod refused;
mod report;
mod slob;
mod text;

use super::{Format, Reads, all};

/// The formats of this family.
pub static FORMATS: &[Format] = &[
    text::AWR_FORMAT,
    text::STATSPACK_FORMAT,
    html::AWR_HTML,
    slob::AWR_INFO,
    slob::CONF,
    orion::ORION,
    comparison::COMPARISON,
    refused::ASH,
    refused::ADDM,
    refused::COMPARE,
    refused::SQL,
];

/// Whether another format than these begins with a line. Reports have many sections that are not read: a line that is not
/// known is theirs unless it begins something else.
fn is_foreign(line: &str, own: &[&str]) -> bool {
    all().any(|f| match f.reads {
        Reads::Lines { begins, .. } => !own.contains(&f.name) && begins(line),
        Reads::Document { .. } => false,
    })
}
