//! `sadf`: sar's data as semicolons (-d), tabs (-p), JSON (-j) and XML (-x).

mod line;
mod semicolons;
mod tabs;
pub(super) mod time;
mod xml;

pub(super) use semicolons::FORMAT as SEMICOLONS;
pub(super) use tabs::FORMAT as TABS;
pub(super) use xml::FORMAT as XML;
