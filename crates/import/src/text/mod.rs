//! Lines, numbers and columns of text.

use std::borrow::Cow;

pub mod blocks;
pub mod number;

/// At most `length` characters, with `...` where something was left out, and no control characters.
pub fn shortened(text: &str, length: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().nth(length).is_none() {
        return text.chars().map(plain).collect();
    }
    let mut short: String = text.chars().take(length.saturating_sub(3)).map(plain).collect();
    short.push_str("...");
    short
}

/// No-break spaces, which web pages put between columns, become spaces.
pub(crate) fn plain_blanks(text: Cow<'_, str>) -> Cow<'_, str> {
    const NO_BREAK: &str = "\u{a0}";
    if memchr::memmem::find(text.as_bytes(), NO_BREAK.as_bytes()).is_none() {
        return text;
    }
    Cow::Owned(text.replace(NO_BREAK, " "))
}

/// Words, separated by spaces and tabs.
pub fn words(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

/// Words with the byte at which each begins.
pub fn words_at(line: &str) -> Vec<(usize, &str)> {
    let start = line.as_ptr() as usize;
    line.split_ascii_whitespace().map(|w| (w.as_ptr() as usize - start, w)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_web_page_are_parted_by_spaces() {
        assert_eq!(plain_blanks(Cow::Borrowed("sda \u{a0} 1.0")), "sda   1.0");
    }
}
