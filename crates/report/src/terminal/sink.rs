//! Collects lines: wraps words, cleans foreign text, adds colour last.

use super::{Color, Style};

/// Roles a text may play; each is also told by its words or place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A heading or label.
    Strong,
    /// The good news: the load line.
    Good,
    /// Doubts.
    Warn,
    /// Less important.
    Faint,
}

/// Text under construction.
pub struct Sink {
    text: String,
    style: Style,
}

impl Sink {
    /// Empty.
    pub fn new(style: Style) -> Self {
        Self { text: String::new(), style }
    }

    /// How the terminal wants it.
    pub fn style(&self) -> Style {
        self.style
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// One line as it is, cleaned, without trailing blanks, optionally in a role.
    pub fn line(&mut self, role: Option<Role>, text: &str) {
        self.paint(role, clean(text).trim_end());
        self.text.push('\n');
    }

    /// A label in the margin and words beside it, wrapped at the width under each other.
    pub fn labelled(&mut self, role: Option<Role>, label: &str, margin: usize, words: &str) {
        let room = self.style.columns().saturating_sub(margin).max(20);
        for (index, part) in wrap(&clean(words), room).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.paint(label_role(label), &pad(label, margin));
            self.paint(role, part);
            self.text.push('\n');
        }
    }

    fn paint(&mut self, role: Option<Role>, text: &str) {
        let code = match (self.style.color, role) {
            (Color::Never, _) | (_, None) => None,
            (Color::Ansi, Some(Role::Strong)) => Some("1"),
            (Color::Ansi, Some(Role::Good)) => Some("1;32"),
            (Color::Ansi, Some(Role::Warn)) => Some("33"),
            (Color::Ansi, Some(Role::Faint)) => Some("2"),
        };
        match code {
            Some(code) if !text.trim().is_empty() => {
                self.text.push_str(&format!("\x1b[{code}m{text}\x1b[0m"));
            }
            _ => self.text.push_str(text),
        }
    }
}

fn label_role(label: &str) -> Option<Role> {
    (!label.is_empty()).then_some(Role::Strong)
}

/// Names of targets and texts of the kernel come from outside: control characters could move the cursor or recolour
/// what follows, so they are shown as what they are.
pub fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    text.chars().map(shown).collect()
}

/// Pads to the right to a number of characters.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// Words in lines of at most `width` characters; a longer word is broken.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace().flat_map(|w| pieces(w, width)) {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is always a line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(&word);
        used += length;
    }
    lines
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(width.max(1)).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_within_the_width() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\r\n"), "a\\u{1b}[31mb\\r\\n");
    }

    #[test]
    fn colour_only_when_asked() {
        let show = |color| {
            let mut sink = Sink::new(Style { color, ..Style::default() });
            sink.labelled(Some(Role::Good), "Load line", 12, "1 IOPS");
            sink.finish()
        };
        assert_eq!(show(Color::Never), "Load line   1 IOPS\n");
        assert_eq!(show(Color::Ansi), "\x1b[1mLoad line   \x1b[0m\x1b[1;32m1 IOPS\x1b[0m\n");
    }
}
