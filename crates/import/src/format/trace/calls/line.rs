//! One line: process, time, call, result.

use crate::clock::time_of_day;
use crate::text::number::decimal;

/// A number before the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stamp {
    /// Seconds since 1970.
    Epoch(f64),
    /// Seconds since midnight.
    TimeOfDay(f64),
    /// Seconds since the start, or since the call before.
    Seconds(f64),
}

/// A call that has returned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call<'l> {
    pub name: &'l str,
    pub arguments: Vec<&'l str>,
    /// What it returned, where that is a number.
    pub result: f64,
    pub failed: bool,
    /// How long it took, microseconds; NaN when not told.
    pub us: f64,
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What<'l> {
    /// A call with its result.
    Whole(Call<'l>),
    /// The first part of a call that others interrupt.
    Begun(&'l str),
    /// Name and rest of it.
    Resumed((&'l str, &'l str)),
    /// Signals, exits, calls that sleep.
    Nothing,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line<'l> {
    /// Process, or process and thread, as written; empty when not told.
    pub process: &'l str,
    pub stamp: Option<Stamp>,
    pub what: What<'l>,
}

impl<'l> Line<'l> {
    /// Reads a line; absent when it is none of a trace.
    pub fn read(line: &'l str) -> Option<Self> {
        let mut rest = line.trim();
        let mut process = "";
        let mut stamp = None;
        if let Some(after) = rest.strip_prefix("[pid") {
            let (number, after) = after.split_once(']')?;
            process = number.trim();
            rest = after.trim_start();
        } else if let Some((before, after)) = truss_prefix(rest) {
            (process, rest) = (before, after);
        }
        // strace -o -f begins with a bare process number; then come times.
        while let Some((word, after)) = rest.split_once([' ', '\t']) {
            if !word.starts_with(|c: char| c.is_ascii_digit()) {
                break;
            }
            if let (true, Some(seconds)) = (word.contains(':'), time_of_day(word)) {
                stamp = stamp.or(Some(Stamp::TimeOfDay(seconds)));
            } else if word.bytes().all(|b| b.is_ascii_digit()) && process.is_empty() && stamp.is_none() {
                process = word;
            } else if let Some(seconds) = decimal(word.trim_end_matches(':')) {
                let read = if seconds > 1e8 { Stamp::Epoch(seconds) } else { Stamp::Seconds(seconds) };
                stamp = stamp.or(Some(read));
            } else {
                break;
            }
            rest = after.trim_start();
        }
        let what = what(rest)?;
        Some(Self { process, stamp, what })
    }

    /// The call of a whole line.
    pub fn call(&self) -> Option<&Call<'l>> {
        if let What::Whole(call) = &self.what { Some(call) } else { None }
    }

    /// `2213/1:` or `2213:` or `/1:`.
    pub fn has_truss_prefix(line: &str) -> bool {
        truss_prefix(line.trim()).is_some_and(|(_, rest)| !rest.is_empty())
    }
}

fn truss_prefix(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(':')?;
    let numbers = !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit() || b == b'/');
    // Not the time of day.
    let is_time = after.starts_with(|c: char| c.is_ascii_digit());
    (numbers && !is_time).then_some((before, after.trim_start()))
}

fn what(text: &str) -> Option<What<'_>> {
    if text.starts_with("+++ ") || text.starts_with("--- ") || text.starts_with("Received signal") {
        return Some(What::Nothing);
    }
    if let Some(resumed) = text.strip_prefix("<... ") {
        let (name, rest) = resumed.split_once(" resumed>")?;
        return Some(What::Resumed((name.trim(), rest)));
    }
    let open = text.find('(')?;
    let is_name = |n: &str| {
        n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && n.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
    };
    if !is_name(text.get(..open)?) {
        return None;
    }
    if let Some(begun) = text.strip_suffix("<unfinished ...>") {
        return Some(What::Begun(begun.trim_end()));
    }
    if text.ends_with("(sleeping...)")
        || text.ends_with("(returning as new lwp ...)")
        || text.ends_with(") = ?")
    {
        return Some(What::Nothing);
    }
    // These never come back.
    const LAST: [&str; 7] =
        ["_exit", "exit", "exit_group", "setcontext", "lwp_exit", "sigreturn", "rt_sigreturn"];
    let is_last = text.get(..open).is_some_and(|n| LAST.contains(&n));
    whole(text, None).map(What::Whole).or(if is_last { Some(What::Nothing) } else { None })
}

/// A whole call. `name` is given where the text begins within the arguments.
pub(super) fn whole<'l>(text: &'l str, name: Option<&'l str>) -> Option<Call<'l>> {
    let (name, inside) = match name {
        Some(name) => (name, text),
        None => text.split_once('(')?,
    };
    let end = result_at(inside)?;
    let (arguments, result) = (inside.get(..end)?, inside.get(end + 1..)?.trim_start());
    let failed = !result.starts_with('=') && !result.starts_with("argc");
    let value = result.split_once('=').map_or("", |(_, v)| v.trim_start());
    let value = value.split([' ', '\t', '<']).next().unwrap_or("");
    let number = integer(value).unwrap_or(f64::NAN);
    let failed = failed || number < 0.0;
    let time =
        text.trim_end().strip_suffix('>').and_then(|t| t.rsplit_once('<')).and_then(|(_, t)| decimal(t));
    let us = time.map_or(f64::NAN, |s| s * 1e6);
    Some(Call { name: name.trim(), arguments: split(arguments), result: number, failed, us })
}

/// Where the arguments end: the last parenthesis that a result follows, and that stands in no string.
fn result_at(inside: &str) -> Option<usize> {
    let is_end = |at: usize| {
        let after = inside.get(at + 1..).unwrap_or("").trim_start();
        ["=", "Err#", "ERR#", "argc ="].iter().any(|result| after.starts_with(result))
    };
    let (mut quoted, mut escaped, mut found) = (false, false, None);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b')' if !quoted && is_end(at) => found = Some(at),
            _ => {}
        }
        escaped = quoted && !escaped && byte == b'\\';
    }
    // A string without an end: the line was shortened by someone.
    let last = || memchr::memrchr_iter(b')', inside.as_bytes()).find(|at| is_end(*at));
    if quoted { last() } else { found }
}

/// Arguments: commas within strings, braces, brackets and parentheses do not part them.
fn split(arguments: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut depth, mut start, mut quoted, mut escaped) = (0u32, 0, false, false);
    for (at, byte) in arguments.bytes().enumerate() {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                all.push(arguments.get(start..at).unwrap_or("").trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = arguments.get(start..).unwrap_or("").trim();
    if !last.is_empty() || !all.is_empty() {
        all.push(last);
    }
    all
}

/// A whole number, decimal, hexadecimal or octal.
pub(super) fn integer(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |d| (-1.0, d));
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok().map(|n| sign * n as f64);
    }
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<f64>().ok()).flatten().map(|n| sign * n)
}

/// What the tools say besides, and what people put between excerpts.
pub(super) fn is_noise(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "strace: ",
        "truss: ",
        "Process ",
        "Base time stamp:",
        "----",
        "****",
        "*** process",
        "Received signal",
    ];
    STARTS.iter().any(|s| line.starts_with(s))
        || line.ends_with("attached")
        || line == "<unfinished ...>"
        || line.chars().all(|c| c == '.')
}

/// Whether a line that is none was meant as a call.
pub(super) fn is_meant(line: &str) -> bool {
    let rest = truss_prefix(line).map_or(line, |(_, rest)| rest);
    let rest = rest.strip_prefix("[pid").and_then(|r| r.split_once("] ")).map_or(rest, |(_, r)| r);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ':' | ' ' | '\t'));
    let name = rest.split('(').next().unwrap_or("");
    rest.contains('(') && super::meaning::is_kept(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_results() {
        let line = "1234  12:00:01.5 pread64(3, \"a, (b) = 1\\\"\", 8192, 4096) = 8192 <0.000123>";
        let read = Line::read(line).unwrap();
        let call = read.call().unwrap();
        assert_eq!((read.process, read.stamp), ("1234", Some(Stamp::TimeOfDay(43_201.5))));
        assert_eq!(call.arguments, ["3", "\"a, (b) = 1\\\"\"", "8192", "4096"]);
        assert_eq!((call.result, call.failed, call.us.round()), (8192.0, false, 123.0));
        let failed = Line::read("19/1:\t5.2\topen(\"/x\", O_RDONLY)\t\tErr#2 ENOENT").unwrap();
        assert!(failed.call().unwrap().failed);
        assert_eq!((failed.process, failed.stamp), ("19/1", Some(Stamp::Seconds(5.2))));
        for foreign in ["sda 1 2 3", "f(x) is 3", "", "(a) = 1", "12:00:01 up 3 days"] {
            assert_eq!(Line::read(foreign), None, "{foreign}");
        }
    }
}
