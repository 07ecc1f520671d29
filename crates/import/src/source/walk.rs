//! Finds texts: walks folders, opens archives, decompresses. What something is, its first bytes say.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

/// Archives within archives: more is a trap.
const NESTING_MAX: usize = 4;
/// Folders within folders.
const FOLDERS_MAX: usize = 32;
/// A tar header.
const TAR_BLOCK: usize = 512;

type Visit<'v> = &'v mut dyn FnMut(&str, Result<&mut dyn Read, String>);

/// Calls `visit` for each text below a path, in the order of names; with the reason for what cannot be opened.
pub(crate) fn walk(path: &Path, visit: Visit<'_>) {
    if path.as_os_str() == "-" {
        return stream("-", &mut std::io::stdin().lock(), 0, visit);
    }
    below(path, 0, visit);
}

fn below(path: &Path, depth: usize, visit: Visit<'_>) {
    let name = path.display().to_string();
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(e) => return visit(&name, Err(format!("cannot be opened: {e}"))),
    };
    if about.is_dir() {
        if depth >= FOLDERS_MAX {
            return visit(&name, Err(format!("more than {FOLDERS_MAX} folders within each other")));
        }
        let mut inside: Vec<_> = match std::fs::read_dir(path) {
            Ok(entries) => entries.filter_map(Result::ok).collect(),
            Err(e) => return visit(&name, Err(format!("cannot be listed: {e}"))),
        };
        inside.sort_by_key(std::fs::DirEntry::file_name);
        for entry in inside {
            // A link below a folder may lead anywhere, and round in a circle.
            if !entry.file_type().is_ok_and(|t| t.is_symlink() && entry.path().is_dir()) {
                below(&entry.path(), depth + 1, visit);
            }
        }
    } else if about.is_file() || depth == 0 {
        match File::open(path) {
            Ok(mut file) => stream(&name, &mut file, 0, visit),
            Err(e) => visit(&name, Err(format!("cannot be opened: {e}"))),
        }
    } else {
        visit(&name, Err("neither a file nor a folder".to_owned()));
    }
}

fn stream(name: &str, from: &mut dyn Read, nested: usize, visit: Visit<'_>) {
    let (start, error) = super::head(from, TAR_BLOCK);
    if let (true, Some(error)) = (start.is_empty(), error) {
        return visit(name, Err(format!("cannot be read: {error}")));
    }
    let is_gzip = start.starts_with(&[0x1f, 0x8b]);
    let is_zstd = start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let is_tar = start.get(257..262) == Some(b"ustar".as_slice());
    let mut whole = Cursor::new(start).chain(from);
    if !(is_gzip || is_zstd || is_tar) {
        return visit(name, Ok(&mut whole));
    }
    if nested >= NESTING_MAX {
        return visit(name, Err(format!("more than {NESTING_MAX} archives within each other")));
    }
    if is_gzip {
        let mut plain = flate2::read::MultiGzDecoder::new(BufReader::new(whole));
        stream(name, &mut plain, nested + 1, visit);
    } else if is_zstd {
        match ruzstd::decoding::StreamingDecoder::new(BufReader::new(whole)) {
            Ok(mut plain) => stream(name, &mut plain, nested + 1, visit),
            Err(e) => visit(name, Err(format!("a damaged zstd stream: {e}"))),
        }
    } else {
        members(name, &mut whole, nested, visit);
    }
}

fn members(name: &str, from: &mut dyn Read, nested: usize, visit: Visit<'_>) {
    let mut archive = tar::Archive::new(from);
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(e) => return visit(name, Err(format!("a damaged tar archive: {e}"))),
    };
    for entry in entries {
        let mut entry = match entry {
            Ok(entry) => entry,
            // After a torn header nothing can be found again.
            Err(e) => return visit(name, Err(format!("a damaged tar archive: {e}"))),
        };
        if entry.header().entry_type().is_file() {
            let inner = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            stream(&format!("{name}/{inner}"), &mut entry, nested + 1, visit);
        }
    }
}
