//! A scanner of tags that does not ask for well-formed markup: AWR's HTML leaves elements open and quotes as it likes.

use crate::source::DocumentInput;
use std::io::Read;

/// What the scanner meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `<name attributes>`, the name in lower case.
    Open(String, String),
    /// `</name>`.
    Close(String),
    /// Characters between tags, entities resolved.
    Text(String),
}

/// Characters of a text or tag that are kept; what goes beyond is no cell.
const KEPT_BYTES: usize = 16 << 10;

/// Reads tokens from a stream.
pub(super) struct Scanner<'i, 's> {
    input: &'i mut DocumentInput<'s>,
    chunk: Vec<u8>,
    filled: usize,
    at: usize,
    line: u64,
    /// What reading failed with.
    pub(super) error: Option<std::io::Error>,
}

impl<'i, 's> Scanner<'i, 's> {
    pub(super) fn new(input: &'i mut DocumentInput<'s>) -> Self {
        let line = input.line().get();
        Self { input, chunk: vec![0; 64 << 10], filled: 0, at: 0, line, error: None }
    }

    /// The line that has been reached, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    fn peek(&mut self) -> Option<u8> {
        if self.at == self.filled {
            self.at = 0;
            self.filled = match self.input.read(&mut self.chunk) {
                Ok(n) => n,
                Err(error) => {
                    self.error = Some(error);
                    0
                }
            };
        }
        (self.at < self.filled).then(|| self.chunk[self.at])
    }

    fn next_byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        self.line += u64::from(byte == b'\n');
        Some(byte)
    }

    /// The next token; none at the end. A tag that the end cuts off is dropped.
    pub(super) fn next_token(&mut self) -> Option<Token> {
        if self.peek()? != b'<' {
            let mut text = Vec::new();
            while let Some(byte) = self.peek().filter(|b| *b != b'<') {
                self.next_byte();
                if text.len() < KEPT_BYTES {
                    text.push(byte);
                }
            }
            return Some(Token::Text(entities(&String::from_utf8_lossy(&text))));
        }
        self.next_byte();
        let first = self.peek()?;
        // A lone `<` in a text.
        if !(first.is_ascii_alphabetic() || matches!(first, b'/' | b'!' | b'?')) {
            return Some(Token::Text("<".to_owned()));
        }
        let mut tag = Vec::new();
        let mut quote = None;
        loop {
            let byte = self.next_byte()?;
            match quote {
                None if byte == b'>' => break,
                // Quotes are those of an attribute's value: a stray one does not swallow the text.
                None if matches!(byte, b'"' | b'\'') && tag.last() == Some(&b'=') => quote = Some(byte),
                Some(q) if byte == q => quote = None,
                _ => {}
            }
            if tag.len() < KEPT_BYTES {
                tag.push(byte);
            } else {
                quote = None;
            }
        }
        let tag = String::from_utf8_lossy(&tag).into_owned();
        let is_close = tag.starts_with('/');
        let body = tag.trim_start_matches('/');
        let end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
        let name = body[..end].to_ascii_lowercase();
        Some(if is_close { Token::Close(name) } else { Token::Open(name, body[end..].to_owned()) })
    }

    /// Skips to the end of an element whose content is no text (`script`, `style`).
    pub(super) fn skip_element(&mut self, name: &str) {
        let end = format!("</{name}");
        let mut seen = Vec::new();
        while let Some(byte) = self.next_byte() {
            seen.push(byte.to_ascii_lowercase());
            if seen.len() > end.len() {
                seen.remove(0);
            }
            if seen == end.as_bytes() {
                return;
            }
        }
    }
}

/// The value of an attribute.
pub(super) fn attribute(attributes: &str, name: &str) -> Option<String> {
    let lower = attributes.to_ascii_lowercase();
    let at = lower.find(&format!("{name}="))?;
    let rest = &attributes[at + name.len() + 1..];
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest.split(|c: char| c.is_whitespace()).next()?,
    };
    Some(entities(value).split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// Resolves entities; a no-break space becomes a space.
fn entities(text: &str) -> String {
    if !text.contains('&') {
        return text.replace('\u{a0}', " ");
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        let resolved = end.and_then(|end| {
            let name = &rest[1..end];
            let c = match name {
                "nbsp" => ' ',
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                _ => {
                    let digits = name.strip_prefix('#')?;
                    let code = match digits.strip_prefix(['x', 'X']) {
                        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                        None => digits.parse().ok()?,
                    };
                    char::from_u32(code).map(|c| if c == '\u{a0}' { ' ' } else { c })?
                }
            };
            Some((c, end + 1))
        });
        let (c, used) = resolved.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[used..];
    }
    out.push_str(rest);
    out.replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut bytes = text.as_bytes();
        let mut input = DocumentInput::new(&mut bytes);
        let mut scanner = Scanner::new(&mut input);
        std::iter::from_fn(|| scanner.next_token()).collect()
    }

    #[test]
    fn tags_texts_and_entities() {
        let open = |n: &str, a: &str| Token::Open(n.to_owned(), a.to_owned());
        assert_eq!(
            tokens("<TD class='a>b'>&lt;1ms&#160;&amp;&nosuch; 3 < 4</td><p"),
            [
                open("td", " class='a>b'"),
                Token::Text("<1ms &&nosuch; 3 ".to_owned()),
                Token::Text("<".to_owned()),
                Token::Text(" 4".to_owned()),
                Token::Close("td".to_owned()),
            ]
        );
    }

    #[test]
    fn attributes_over_lines() {
        let wanted = Some("sizes for different types".to_owned());
        assert_eq!(attribute(" border=0 summary=\"sizes for\n   different types\"", "summary"), wanted);
        assert_eq!(attribute(" border=0", "border"), Some("0".to_owned()));
        assert_eq!(attribute(" border=0", "summary"), None);
    }
}
