//! What a text is, from its content.

use crate::format::{Format, all};

/// Bytes that recognition looks at.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// The beginning of a text.
pub struct Head<'a> {
    /// As far as it was looked at, always whole lines unless the text is a single long one.
    pub text: &'a str,
    /// Its lines, without their ends.
    pub lines: Vec<&'a str>,
    /// Whether this is all of the text.
    pub whole: bool,
}

impl<'a> Head<'a> {
    /// Of a text.
    pub fn new(text: &'a str, whole: bool) -> Self {
        Self { text, lines: text.lines().collect(), whole }
    }

    /// The first line that is not blank.
    pub fn first(&self) -> &'a str {
        self.lines.iter().find(|l| !l.trim().is_empty()).copied().unwrap_or("")
    }

    /// First character that is not white space, past a byte order mark.
    pub fn first_char(&self) -> Option<char> {
        self.text.trim_start_matches('\u{feff}').trim_start().chars().next()
    }

    /// Number (from 1) and text of the first line that fits.
    pub fn find(&self, fits: impl Fn(&str) -> bool) -> Option<(usize, &'a str)> {
        self.lines.iter().enumerate().find(|(_, l)| fits(l)).map(|(n, l)| (n + 1, *l))
    }

    /// How many lines fit.
    pub fn count(&self, fits: impl Fn(&str) -> bool) -> usize {
        self.lines.iter().filter(|l| fits(l)).count()
    }
}

/// How much a text looks like a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// 0 to 100. 90 and more: it cannot be anything else (a banner, a header unique to it). 60: a shape that is rare
    /// elsewhere. 30: it could be this.
    pub score: u32,
    /// The evidence, with its line: `header 'rrqm/s ... %util' in line 3`.
    pub why: String,
    /// What else it could be, and what decided; said to the user.
    pub ambiguity: Option<String>,
}

impl Likeness {
    /// Without doubt about variants.
    pub fn new(score: u32, why: impl Into<String>) -> Option<Self> {
        Some(Self { score, why: why.into(), ambiguity: None })
    }

    /// By a line of the head.
    pub fn by_line(score: u32, what: &str, (number, line): (usize, &str)) -> Option<Self> {
        Self::new(score, format!("{what} '{}' in line {number}", crate::text::shortened(line.trim(), 60)))
    }

    /// Names what else it could have been.
    pub fn with_ambiguity(mut self, ambiguity: impl Into<String>) -> Self {
        self.ambiguity = Some(ambiguity.into());
        self
    }
}

/// The format that a text looks most like; the earlier in the list where two are equal.
pub fn recognise(head: &Head<'_>) -> Option<(&'static Format, Likeness)> {
    let mut best: Option<(&'static Format, Likeness)> = None;
    for format in all() {
        let Some(likeness) = (format.recognise)(head) else { continue };
        if best.as_ref().is_none_or(|(_, b)| likeness.score > b.score) {
            best = Some((format, likeness));
        }
    }
    best
}

/// Why a text that no format knows cannot be read; by its first bytes where these tell what it is.
pub(crate) fn what_else(bytes: &[u8]) -> String {
    const MAGIC: [(&[u8], &str); 11] = [
        (b"\x7fELF", "a program (ELF)"),
        (b"%PDF", "a PDF document; save the report as text or HTML"),
        (b"PK\x03\x04", "a ZIP archive or an office document; unpack it, or export it as text"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it"),
        (b"BZh", "bzip2; decompress it"),
        (b"\xfd7zXZ\x00", "xz; decompress it"),
        (b"\x89PNG", "a picture; the text it shows is needed"),
        (b"\xff\xd8\xff", "a picture; the text it shows is needed"),
        (b"SQLite format 3", "an SQLite database"),
        (b"PAR1", "a Parquet file; a run of Plimsoll is shown by `plimsoll report`"),
        (b"\x07eaa", "a blktrace file; print it with blkparse"),
    ];
    if bytes.is_empty() {
        return "empty".to_owned();
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return (*what).to_owned();
    }
    if bytes.starts_with(&[0x96, 0xd5]) || bytes.starts_with(&[0xd5, 0x96]) {
        return "a data file of sar (binary); print it with `sadf -j FILE -- -A` of the same version"
            .to_owned();
    }
    if bytes.get(4..8) == Some(b"eaa\x07".as_slice()) || bytes.starts_with(&[0x07, 0x41, 0x61, 0x65]) {
        return "a blktrace file; print it with blkparse".to_owned();
    }
    let control = |b: &u8| *b < 9 || (14..32).contains(b) && *b != 27;
    let controls = bytes.iter().filter(|b| control(b)).count();
    if controls * 50 > bytes.len() {
        return "binary".to_owned();
    }
    "text of no format known here".to_owned()
}
