//! Takes the JSON of sysstat apart into the elements of its `statistics` arrays, one at a time, without parsing what stands
//! around: documents are cut off when a run was interrupted (before 12.1.x every time), and some releases (11.6.1, 12.0.5
//! with -y) put commas where none belong.

use std::io::Read;

/// Bytes of one element or of what stands between arrays; what is longer is dropped.
const PIECE_MAX_BYTES: usize = 32 << 20;

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// What stands around the arrays (the host, restarts and comments), and the line it begins on.
    Around(String, u64),
    /// One element of `statistics`, and the line it begins on.
    Element(String, u64),
    /// An element that is not whole, because the document ends or it is too long: what stands in it up to the last complete
    /// object, closed.
    Cut(String, u64),
}

/// Splits a stream.
pub(super) struct Scan<R> {
    from: R,
    chunk: Vec<u8>,
    at: usize,
    line: u64,
    piece: Vec<u8>,
    began: u64,
    depth: usize,
    is_inside: bool,
    in_string: bool,
    is_escaped: bool,
    /// The string that ended last, while outside.
    string: Vec<u8>,
    too_long: bool,
    ended: bool,
}

impl<R: Read> Scan<R> {
    /// Over a stream.
    pub fn new(from: R) -> Self {
        Self {
            from,
            chunk: Vec::new(),
            at: 0,
            line: 1,
            piece: Vec::new(),
            began: 1,
            depth: 0,
            is_inside: false,
            in_string: false,
            is_escaped: false,
            string: Vec::new(),
            too_long: false,
            ended: false,
        }
    }

    /// The next piece; `None` at the end.
    pub fn next_piece(&mut self) -> Option<Piece> {
        loop {
            if self.at >= self.chunk.len() {
                if self.ended || !self.fill() {
                    return self.finish();
                }
                continue;
            }
            let byte = self.chunk[self.at];
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
            }
            let piece = if self.is_inside { self.inside(byte) } else { self.outside(byte) };
            if piece.is_some() {
                return piece;
            }
        }
    }

    fn fill(&mut self) -> bool {
        self.chunk.resize(64 << 10, 0);
        self.at = 0;
        let filled = self.from.read(&mut self.chunk).unwrap_or(0);
        self.chunk.truncate(filled);
        filled > 0
    }

    fn finish(&mut self) -> Option<Piece> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let text = std::mem::take(&mut self.piece);
        if self.is_inside {
            return (self.depth > 0).then(|| Piece::Cut(closed(&text), self.began));
        }
        Some(Piece::Around(String::from_utf8_lossy(&text).into_owned(), self.began))
    }

    /// Keeps a byte of the piece. Strings are followed so that braces in them do not count.
    fn keep(&mut self, byte: u8) -> bool {
        if self.piece.len() < PIECE_MAX_BYTES {
            self.piece.push(byte);
        } else {
            self.too_long = true;
        }
        if self.in_string {
            if self.is_escaped {
                self.is_escaped = false;
            } else if byte == b'\\' {
                self.is_escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
            } else if !self.is_inside && self.string.len() < 64 {
                self.string.push(byte);
            }
            return true;
        }
        if byte == b'"' {
            self.in_string = true;
            self.string.clear();
        }
        byte == b'"'
    }

    fn outside(&mut self, byte: u8) -> Option<Piece> {
        if self.keep(byte) {
            return None;
        }
        if byte == b'[' && self.string == b"statistics" {
            self.is_inside = true;
            self.depth = 0;
            self.too_long = false;
            let text = String::from_utf8_lossy(&self.piece).into_owned();
            self.piece.clear();
            return Some(Piece::Around(text, self.began));
        }
        None
    }

    fn inside(&mut self, byte: u8) -> Option<Piece> {
        if self.depth == 0 {
            match byte {
                b'{' => {
                    self.depth = 1;
                    self.began = self.line;
                    self.piece.clear();
                    self.piece.push(byte);
                    (self.too_long, self.in_string) = (false, false);
                }
                b']' => {
                    self.is_inside = false;
                    self.began = self.line;
                    self.string.clear();
                    self.piece.clear();
                }
                _ => {}
            }
            return None;
        }
        if self.keep(byte) {
            return None;
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        if self.depth > 0 {
            return None;
        }
        let text = std::mem::take(&mut self.piece);
        if self.too_long {
            return Some(Piece::Cut(closed(&text), self.began));
        }
        Some(Piece::Element(String::from_utf8_lossy(&text).into_owned(), self.began))
    }
}

/// The beginning of an object up to the last object that is complete in it, closed.
fn closed(text: &[u8]) -> String {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    let mut good = (0, Vec::new());
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
                // Objects are not nested deeply here; a text that pretends so is of no use.
                if byte == b'}' && open.len() < 16 {
                    good = (at + 1, open.clone());
                }
            }
            _ => {}
        }
    }
    let (end, rest) = good;
    let mut whole = text[..end].to_vec();
    whole.extend(rest.iter().rev());
    String::from_utf8_lossy(&whole).into_owned()
}

/// The same text with what some releases got wrong put right: a comma as decimal separator, `nan`, commas that lack or that
/// stand before a closing brace.
pub(super) fn repaired(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len() + 64);
    let (mut in_string, mut at) = (false, 0);
    let (mut seen, mut last) = (0, None);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if in_string {
            out.push(byte);
            match byte {
                b'\\' => {
                    out.extend(bytes.get(at));
                    at += 1;
                }
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        if byte.is_ascii_whitespace() {
            out.push(byte);
            continue;
        }
        // The last byte that is no white space, and where it stands.
        while seen < out.len() {
            if !out[seen].is_ascii_whitespace() {
                last = Some((seen, out[seen]));
            }
            seen += 1;
        }
        let before = last.map(|(_, byte)| byte);
        let next = bytes.get(at).copied();
        match byte {
            b',' if out.last().is_some_and(u8::is_ascii_digit)
                && next.is_some_and(|b| b.is_ascii_digit()) =>
            {
                out.push(b'.');
            }
            b',' if matches!(before, Some(b',' | b'{' | b'[')) => {}
            b'}' | b']' if before == Some(b',') => {
                if let Some((comma, _)) = last {
                    // White space in its place keeps the lines and costs nothing.
                    out[comma] = b' ';
                }
                out.push(byte);
            }
            b'"' | b'{' | b'[' => {
                let ends_value =
                    before.is_some_and(|b| matches!(b, b'}' | b']' | b'"') || b.is_ascii_digit());
                if ends_value {
                    out.push(b',');
                }
                in_string = byte == b'"';
                out.push(byte);
            }
            b'-' if bytes.get(at..at + 3) == Some(b"nan") || bytes.get(at..at + 3) == Some(b"inf") => {}
            b'n' | b'i' if matches!(bytes.get(at..at + 2), Some(b"an" | b"nf")) => {
                out.extend_from_slice(b"null");
                at += 2;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<Piece> {
        let mut scan = Scan::new(text.as_bytes());
        std::iter::from_fn(|| scan.next_piece()).collect()
    }

    #[test]
    fn elements_are_taken_out_one_by_one() {
        let got = pieces(
            "{\"a\": \"statistics\", \"statistics\": [\n{\"x\": \"}\\\"\"},\n,{\"y\": [{}]}\n], \"b\": 1}",
        );
        assert_eq!(got.len(), 4);
        assert_eq!(got[1], Piece::Element("{\"x\": \"}\\\"\"}".to_owned(), 2));
        assert_eq!(got[2], Piece::Element("{\"y\": [{}]}".to_owned(), 3));
        assert_eq!(got[3], Piece::Around(", \"b\": 1}".to_owned(), 4));
        assert_eq!(
            pieces("{\"statistics\": [{\"x\": 1}, {\"y\"").last(),
            Some(&Piece::Cut(String::new(), 1))
        );
        assert_eq!(pieces("{\"statistics\": [{\"x\": 1},").len(), 2);
        let cut = pieces("{\"statistics\": [{\"x\": [{\"}\": 1}, {\"y\": 2");
        assert_eq!(cut.last(), Some(&Piece::Cut("{\"x\": [{\"}\": 1}]}".to_owned(), 1)));
    }

    #[test]
    fn known_mistakes_are_put_right() {
        let broken = "{, \"a\": 1,50, \"b\": -nan, \"c\": [{\"d\": \"1,5\"} {\"e\": 2}], \"f\": 3, }";
        let value: serde_json::Value = serde_json::from_str(&repaired(broken)).unwrap();
        assert_eq!(value["a"], 1.5);
        assert!(value["b"].is_null());
        let long = format!("{{\"a\": 1,{}}}", " ".repeat(1 << 20));
        assert!(serde_json::from_str::<serde_json::Value>(&repaired(&long)).is_ok());
        assert_eq!((value["c"][0]["d"].as_str(), value["c"][1]["e"].as_i64()), (Some("1,5"), Some(2)));
    }
}
