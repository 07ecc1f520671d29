//! Lines, numbers and columns of text.

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

/// Words, separated by spaces and tabs.
pub fn words(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

/// Words with the byte at which each begins.
pub fn words_at(line: &str) -> Vec<(usize, &str)> {
    let start = line.as_ptr() as usize;
    line.split_ascii_whitespace().map(|w| (w.as_ptr() as usize - start, w)).collect()
}
