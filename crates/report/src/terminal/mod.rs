//! The terminal report: the answer first, the evidence after, then what to do next.

mod bars;
mod cores;
mod doctor;
mod points;
mod probe;
mod sink;

pub use doctor::{DoctorRow, DoctorState, doctor};
pub(crate) use probe::limit_words;
pub use probe::probe;
pub(crate) use sink::wrap as wrapped;
pub(crate) use sink::{Role, Sink};

/// How a terminal wants its text. The caller finds out (tty, NO_COLOR, locale, width); nothing here looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    /// Whether to use ANSI colours. They never carry a meaning of their own.
    pub color: Color,
    /// Which characters may be used for bars.
    pub charset: Charset,
}

/// Whether to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// No escape sequences at all.
    Never,
    /// ANSI colours.
    Ansi,
}

/// Characters a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// ASCII alone.
    Ascii,
    /// Block elements too.
    Unicode,
}

impl Default for Style {
    /// What any terminal and any pipe bears: 80 columns, no colour, block elements.
    fn default() -> Self {
        Self { width: 80, color: Color::Never, charset: Charset::Unicode }
    }
}

impl Style {
    /// The width in use: at least 40, so that words fit beside their labels; at most 160, so that lines stay readable.
    fn columns(&self) -> usize {
        self.width.clamp(40, 160)
    }
}
