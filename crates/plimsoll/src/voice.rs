//! How to speak: the answer on standard output, progress and errors on standard error.

use crate::args::Voice as Asked;
use report::terminal::{Charset, Color, Style};
use std::io::{IsTerminal, Write};

/// What the terminal is and what the user wants.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// One JSON document instead of text.
    pub json: bool,
    /// Whether progress may be shown.
    pub progress: bool,
    /// Whether notes may not be shown either; errors always are.
    pub quiet: bool,
    style: Style,
}

impl Voice {
    /// From the flags and the environment.
    pub fn new(asked: Asked) -> Self {
        let plain = asked.no_color
            || std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
            || std::env::var_os("TERM").is_none_or(|t| t == "dumb")
            || !std::io::stdout().is_terminal();
        let style = Style {
            width: width(),
            color: if plain { Color::Never } else { Color::Ansi },
            charset: if utf8() { Charset::Unicode } else { Charset::Ascii },
        };
        let progress = !asked.quiet && std::io::stderr().is_terminal();
        Self { json: asked.json, progress, quiet: asked.quiet, style }
    }

    /// How to draw text.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Prints the answer. A reader that went away (`| head`) is no error.
    pub fn say(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // Nobody is left to hear about it.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Columns of the terminal that the answer goes to; 80 when it goes elsewhere.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|s| usize::from(s.ws_col));
    size.filter(|w| *w > 0).unwrap_or(80).min(100)
}

/// Whether the locale can show more than ASCII; unset means a plain pipe, which can.
fn utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    locale.is_none_or(|l| {
        l.to_lowercase().replace('-', "").contains("utf8") || !std::io::stdout().is_terminal()
    })
}
