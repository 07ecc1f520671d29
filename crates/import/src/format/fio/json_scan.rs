//! Finds the parts of a JSON text that may be cut off, stand between other text, or follow one another.

/// Walks over a text.
pub(super) struct Scan<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    /// Up to where lines were counted.
    counted: usize,
}

impl<'t> Scan<'t> {
    /// Over a text.
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 1, counted: 0 }
    }

    /// The line of what is next, from 1.
    pub fn line(&mut self) -> u64 {
        if self.peek() == Some(b',') {
            self.at += 1;
            self.peek();
        }
        let passed = self.text.as_bytes().get(self.counted..self.at).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.counted = self.at.max(self.counted);
        self.line
    }

    /// Goes into the next object whose first key follows its brace; false when there is none.
    pub fn enter_object(&mut self) -> bool {
        while let Some(brace) = memchr::memchr(b'{', self.rest()) {
            self.at += brace + 1;
            if self.peek() == Some(b'"') {
                return true;
            }
        }
        false
    }

    /// The next key of the object that the walk is in; `None` at its end, or where it is cut off or damaged.
    pub fn key(&mut self) -> Option<&'t str> {
        if self.peek()? == b',' {
            self.at += 1;
        }
        if self.peek()? != b'"' {
            return None;
        }
        let key = self.value()?;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        Some(key.trim_matches('"'))
    }

    /// Goes into the array that is next, if one is.
    pub fn enter_array(&mut self) -> bool {
        let is_array = self.peek() == Some(b'[');
        self.at += usize::from(is_array);
        is_array
    }

    /// The next element of the array that the walk is in; `Ok(None)` at its end, an error where the text is cut off.
    pub fn element(&mut self) -> Result<Option<&'t str>, ()> {
        if self.peek() == Some(b',') {
            self.at += 1;
        }
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                Ok(None)
            }
            Some(_) => self.value().map(Some).ok_or(()),
            None => Err(()),
        }
    }

    /// Goes past the end of the object that the walk is in, if it stands there.
    pub fn end(&mut self) -> bool {
        let is_end = self.peek() == Some(b'}');
        self.at += usize::from(is_end);
        is_end
    }

    /// The next value, as it is written; `None` when it does not end.
    pub fn value(&mut self) -> Option<&'t str> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    let marks = |b: &u8| matches!(b, b'"' | b'{' | b'}' | b'[' | b']');
                    self.at += self.rest().iter().position(marks)?;
                    match self.text.as_bytes().get(self.at)? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        _ => depth = depth.checked_sub(1)?,
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b'\n' | b'\r');
                let length = self.rest().iter().position(ends)?;
                if length == 0 {
                    return None;
                }
                self.at += length;
            }
        }
        self.text.get(start..self.at).map(str::trim)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let step = memchr::memchr2(b'"', b'\\', self.rest())?;
            self.at += step;
            if self.text.as_bytes().get(self.at) == Some(&b'"') {
                self.at += 1;
                return Some(());
            }
            self.at = (self.at + 2).min(self.text.len());
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        let blank = self.rest().iter().position(|b| !b.is_ascii_whitespace());
        self.at = blank.map_or(self.text.len(), |n| self.at + n);
        self.rest().first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_between_other_text_and_where_it_ends() {
        let mut scan = Scan::new(
            "job {1}\n{ \"a\" : \"x{\\\"\", \"b\" : [ {\"c\": [1, 2]},\n {\"c\": 3} ], \"d\": 7 } rest",
        );
        assert!(scan.enter_object());
        assert_eq!((scan.key(), scan.value()), (Some("a"), Some("\"x{\\\"\"")));
        assert_eq!((scan.key(), scan.enter_array()), (Some("b"), true));
        assert_eq!(scan.element(), Ok(Some("{\"c\": [1, 2]}")));
        assert_eq!((scan.element(), scan.line()), (Ok(Some("{\"c\": 3}")), 3));
        assert_eq!((scan.element(), scan.key(), scan.value()), (Ok(None), Some("d"), Some("7")));
        assert_eq!((scan.key(), scan.end(), scan.enter_object()), (None, true, false));
        let mut cut = Scan::new("{\"jobs\" : [ {\"a\": 1}, {\"a\":");
        assert!(cut.enter_object() && cut.key() == Some("jobs") && cut.enter_array());
        assert_eq!((cut.element(), cut.element()), (Ok(Some("{\"a\": 1}")), Err(())));
    }
}
