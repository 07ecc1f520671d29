//! From paths to what the sink takes: recognises each text and drives its reader.

use crate::format::{DocumentFormat, Format, LineFormat, Reads, Took, all};
use crate::out::Out;
use crate::recognise::{HEAD_BYTES, Head, Likeness, recognise, what_else};
use crate::source::{DocumentInput, walk};
use crate::text::blocks::Blocks;
use crate::text::plain_blanks;
use record::imported::{Sink, Source, SourceId};
use std::io::Read;
use std::path::Path;

/// A text that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What was done with the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Texts that were read, with the formats found in each.
    pub read: Vec<(String, Vec<&'static str>)>,
    /// Texts that were not.
    pub refused: Vec<Refused>,
}

/// Reads files, folders, archives, and `-` for standard input, into a sink.
pub fn read(paths: &[impl AsRef<Path>], sink: &mut dyn Sink) -> Reading {
    let mut reading = Reading::default();
    let mut out = Out::new(sink);
    for path in paths {
        walk(path.as_ref(), &mut |path, stream| match stream {
            Ok(stream) => one(path, stream, &mut out, &mut reading),
            Err(reason) => reading.refused.push(Refused { path: path.to_owned(), reason }),
        });
    }
    reading
}

/// Reads one stream, already decompressed, into a sink.
pub fn read_stream(path: &str, stream: &mut dyn Read, sink: &mut dyn Sink) -> Reading {
    let mut reading = Reading::default();
    one(path, stream, &mut Out::new(sink), &mut reading);
    reading
}

/// Reads one stream as a format that is known beforehand, whatever it looks like: for tests and fuzzing.
pub fn read_stream_as(format: &'static Format, path: &str, stream: &mut dyn Read, sink: &mut dyn Sink) {
    let mut out = Out::new(sink);
    with(format, Likeness { score: 100, why: "as told".to_owned(), ambiguity: None }, path, stream, &mut out);
}

fn one(path: &str, stream: &mut dyn Read, out: &mut Out<'_>, reading: &mut Reading) {
    let mut refuse = |reason: String| reading.refused.push(Refused { path: path.to_owned(), reason });
    let (head, error) = crate::source::head(stream, HEAD_BYTES);
    if let (Some(error), true) = (&error, head.is_empty()) {
        return refuse(format!("cannot be read: {error}"));
    }
    let head = crate::source::as_text(head);
    let whole = head.len() < HEAD_BYTES;
    let text = plain_blanks(String::from_utf8_lossy(&head));
    let cut = if whole { text.len() } else { text.rfind('\n').map_or(text.len(), |end| end + 1) };
    let Some((format, likeness)) = recognise(&Head::new(&text[..cut], whole)) else {
        return refuse(what_else(&head));
    };
    drop(text);
    let formats = with(format, likeness, path, &mut std::io::Cursor::new(head).chain(stream), out);
    reading.read.push((path.to_owned(), formats));
}

/// Reads a stream that begins as this format; the formats that were met in it.
fn with(
    format: &'static Format,
    likeness: Likeness,
    path: &str,
    stream: &mut dyn Read,
    out: &mut Out<'_>,
) -> Vec<&'static str> {
    let source = Source { path: path.to_owned(), format: format.name.to_owned(), why: likeness.why };
    let formats = match format.reads {
        Reads::Document { new } => {
            document(format, &source, likeness.ambiguity, new(), stream, out);
            vec![format.name]
        }
        Reads::Lines { new, .. } => {
            let first = Part::begin(format, new(), source, out);
            if let Some(ambiguity) = likeness.ambiguity {
                out.remark(&ambiguity);
            }
            let (parts, command, banner, aside) = (vec![first], None, None, None);
            Lines { parts, current: 0, command, banner, aside, line: 0 }.read(stream, out)
        }
    };
    out.end_complaints();
    formats
}

fn document(
    format: &Format,
    source: &Source,
    ambiguity: Option<String>,
    mut reader: Box<dyn DocumentFormat>,
    stream: &mut dyn Read,
    out: &mut Out<'_>,
) {
    let id = out.begin_source(source, true);
    if let Some(ambiguity) = ambiguity {
        out.remark(&ambiguity);
    }
    reader.read(&mut DocumentInput::new(stream), out);
    out.assume(format.platform());
    out.flush("");
    out.end_source(id);
}

/// One format within a text, which may come back after another.
struct Part {
    format: &'static Format,
    reader: Box<dyn LineFormat>,
    source: SourceId,
    path: String,
}

impl Part {
    fn begin(
        format: &'static Format,
        reader: Box<dyn LineFormat>,
        source: Source,
        out: &mut Out<'_>,
    ) -> Self {
        let id = out.begin_source(&source, false);
        Self { format, reader, source: id, path: source.path }
    }
}

/// Drives line formats over a text.
struct Lines {
    parts: Vec<Part>,
    current: usize,
    /// The command at the last shell prompt.
    command: Option<String>,
    /// The last first line of a tool of sysstat: who reads what follows it is known only at the header below.
    banner: Option<String>,
    /// What the last line that belongs to no format was about.
    aside: Option<String>,
    line: u64,
}

impl Lines {
    fn read(mut self, stream: &mut dyn Read, out: &mut Out<'_>) -> Vec<&'static str> {
        let mut blocks = Blocks::new(stream);
        loop {
            match blocks.next_block() {
                Ok(Some(block)) => self.block(&plain_blanks(block), out),
                Ok(None) => break,
                Err(error) => {
                    out.complain_at(self.line + 1, "more text", &format!("reading failed: {error}"));
                    break;
                }
            }
        }
        if blocks.cut() > 0 {
            out.remark(&format!("{} lines of more than 16 MiB were cut off", blocks.cut()));
        }
        for part in &mut self.parts {
            out.again(part.source);
            part.reader.end(out);
            out.assume(part.format.platform());
            out.flush("");
            out.end_source(part.source);
        }
        self.parts.iter().map(|p| p.format.name).collect()
    }

    fn block(&mut self, block: &str, out: &mut Out<'_>) {
        let bytes = block.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let newline = memchr::memchr(b'\n', &bytes[start..]).map(|n| start + n);
            let next = newline.map_or(bytes.len(), |n| n + 1);
            let mut end = newline.unwrap_or(bytes.len());
            if end > start && bytes[end - 1] == b'\r' {
                end -= 1;
            }
            self.line += 1;
            out.at(self.line, start, end);
            let line = &block[start..end];
            let line = if self.line == 1 { line.trim_start_matches('\u{feff}') } else { line };
            if line.starts_with("Linux ") && crate::format::sysstat::is_banner(line) {
                self.banner = Some(line.to_owned());
            }
            // What fstyp prints could pass for a row of a table.
            if line.starts_with("bsize ") && crate::aside::take(line, &mut self.aside, out) {
                start = next;
                continue;
            }
            if self.parts[self.current].reader.line(line, out) == Took::No {
                self.foreign(line, out);
            }
            start = next;
        }
        out.flush(block);
    }

    /// A line that the current format does not know.
    fn foreign(&mut self, line: &str, out: &mut Out<'_>) {
        if line.trim().is_empty() || self.banner.as_deref() == Some(line) {
            return;
        }
        if crate::aside::take(line, &mut self.aside, out) {
            return;
        }
        if let Some(command) = prompted(line) {
            self.parts[self.current].reader.command(command);
            self.command = Some(command.to_owned());
            return;
        }
        if is_bare_prompt(line) {
            return;
        }
        let current = self.parts[self.current].format;
        let begins = |f: &&'static Format| match f.reads {
            Reads::Lines { begins, .. } => f.name != current.name && begins(line),
            Reads::Document { .. } => false,
        };
        if let Some(format) = all().find(begins) {
            self.change_to(format, line, out);
            // Host and date of the text that begins; a format that has no such line does not take it.
            if let Some(banner) = self.banner.take() {
                self.parts[self.current].reader.line(&banner, out);
            }
            if let Some(command) = self.command.take() {
                self.parts[self.current].reader.command(&command);
            }
            if self.parts[self.current].reader.line(line, out) == Took::Yes {
                return;
            }
        }
        out.complain(&format!("a line of {}", self.parts[self.current].format.name), line);
    }

    fn change_to(&mut self, format: &'static Format, line: &str, out: &mut Out<'_>) {
        self.parts[self.current].reader.end(out);
        if let Some(known) = self.parts.iter().position(|p| p.format.name == format.name) {
            self.current = known;
            out.again(self.parts[known].source);
            return;
        }
        let Reads::Lines { new, .. } = format.reads else { return };
        let path = self.parts[self.current].path.clone();
        let why = format!("'{}' in line {}", crate::text::shortened(line.trim(), 60), self.line);
        let origin = out.origin();
        let source = Source { path, format: format.name.to_owned(), why };
        self.parts.push(Part::begin(format, new(), source, out));
        out.at(origin.line, origin.start as usize, origin.end as usize);
        self.current = self.parts.len() - 1;
    }
}

/// The command of a line that shows a shell prompt and a command that is known here: `root@db1:/# iostat -xn 5`.
pub(crate) fn prompted(line: &str) -> Option<&str> {
    const COMMANDS: [&str; 30] = [
        "iostat",
        "sar",
        "sadf",
        "mpstat",
        "pidstat",
        "vmstat",
        "fcstat",
        "lsattr",
        "lspv",
        "lslv",
        "lsvg",
        "lvmstat",
        "errpt",
        "lsmpio",
        "gstat",
        "zpool",
        "vxstat",
        "vxtrace",
        "blkparse",
        "btt",
        "fio",
        "multipath",
        "lsscsi",
        "lsblk",
        "nvme",
        "cat",
        "pmap",
        "strace",
        "truss",
        "uname",
    ];
    let line = line.trim_end();
    let at = line.find(['#', '$', '>', '%']).filter(|at| *at < 80)?;
    let mut command = line[at + 1..].trim_start();
    for before in ["sudo ", "time "] {
        command = command.strip_prefix(before).unwrap_or(command);
    }
    let program = command.split_ascii_whitespace().next()?;
    let program = program.rsplit('/').next()?;
    COMMANDS.contains(&program).then_some(command)
}

/// Whether a line is a shell prompt with nothing after it, as stands at the end of many a pasted text: `root@db1:/#`.
fn is_bare_prompt(line: &str) -> bool {
    let line = line.trim();
    let named = line.contains('@') || line.starts_with('[') || line.contains(":/");
    line.ends_with(['#', '$', '>', '%'])
        && (line.len() == 1 || named && line.len() < 80 && line.split_ascii_whitespace().count() <= 3)
}

#[cfg(test)]
mod tests {
    use super::{is_bare_prompt, prompted};

    #[test]
    fn prompts_without_a_command() {
        for line in ["$", "root@db1:/#", "[oracle@db1 ~]$ ", "user@host:~>"] {
            assert!(is_bare_prompt(line), "{line}");
        }
        for line in ["sda 99%", "busy%", "", "/dev/sda #"] {
            assert!(!is_bare_prompt(line), "{line}");
        }
    }

    #[test]
    fn commands_at_prompts() {
        assert_eq!(prompted("root@db1:/# iostat -xn 5"), Some("iostat -xn 5"));
        assert_eq!(prompted("mk@host:> /usr/sbin/sar -d |more"), Some("/usr/sbin/sar -d |more"));
        assert_eq!(prompted("$ sudo multipath -ll"), Some("multipath -ll"));
        assert_eq!(prompted("sda  0.0 99%"), None);
        assert_eq!(prompted("# a remark"), None);
    }
}
