//! The answer first, then what it rests on.

use crate::number::{bytes, significant, standing, whole};
use crate::terminal::{Role, Sink, Style};
use crate::watch::cells::{safe, shortened};
use analyze::inspect::HowItDoesIo;
use record::{AskedDevice, Inspected, InspectedFile, InspectedProcess, SeenCall, SyncFlag};

/// Files and processes shown.
const SHOWN: usize = 12;

/// Sizes shown of one call.
const SIZES: usize = 3;

const MARGIN: usize = 11;

/// The report.
pub fn text(seen: &Inspected, how: &HowItDoesIo, style: Style) -> String {
    let mut out = Sink::new(style);
    out.line(Some(Role::Strong), &title(seen));
    out.gap();
    for sentence in super::sentences(how) {
        out.labelled(Some(Role::Good), "", 0, &sentence);
    }
    for way in &how.ways {
        for (at, evidence) in way.evidence.iter().enumerate() {
            out.labelled(None, if at == 0 { "seen" } else { "" }, MARGIN, evidence);
        }
    }
    for note in &how.notes {
        out.labelled(Some(Role::Warn), "note", MARGIN, note);
    }
    files(&mut out, seen);
    devices(&mut out, seen);
    counters(&mut out, seen);
    for unseen in &seen.unseen {
        out.labelled(Some(Role::Faint), "not seen", MARGIN, unseen);
    }
    out.finish()
}

fn title(seen: &Inspected) -> String {
    let name = seen.processes.first().map_or("?", |p| p.name.as_str());
    let others = match seen.processes.len().saturating_sub(1) {
        0 => String::new(),
        1 => " and 1 process below it".to_owned(),
        n => format!(" and {n} processes below it"),
    };
    let threads: u64 = seen.processes.iter().map(|p| p.threads).sum();
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    let name = safe(name);
    format!("{name} ({}){others}, {threads}: {} samples in {:.1} s", seen.pid, seen.samples, seen.length_s)
}

fn files(out: &mut Sink, seen: &Inspected) {
    if seen.files.is_empty() {
        return;
    }
    out.gap();
    out.line(Some(Role::Strong), "Open files on storage");
    let met = seen.files.iter().filter(|f| f.seen() > 0).count();
    let shown = met.clamp(SHOWN.min(seen.files.len()), 2 * SHOWN);
    let width = out.style().width.clamp(40, 160).saturating_sub(2);
    for file in &seen.files[..shown] {
        out.line(None, &format!("  {}", shortened(&file.path, width)));
        out.labelled(None, "", 4, &file_words(file));
    }
    let rest = &seen.files[shown..];
    if !rest.is_empty() || seen.files_not_listed > 0 {
        let direct = rest.iter().filter(|f| f.direct).count();
        let more = rest.len() as u64 + seen.files_not_listed;
        let words = format!("  and {more} more files ({direct} of {} with O_DIRECT)", rest.len());
        out.line(Some(Role::Faint), &words);
    }
}

fn file_words(file: &InspectedFile) -> String {
    let mut words = vec![if file.direct { "direct" } else { "buffered" }.to_owned()];
    match file.sync {
        SyncFlag::None => {}
        SyncFlag::Dsync => words.push("O_DSYNC".to_owned()),
        SyncFlag::Sync => words.push("O_SYNC".to_owned()),
    }
    words.push(if file.writable { "for writing" } else { "for reading" }.to_owned());
    match (&file.device, &file.filesystem) {
        (Some(device), Some(kind)) => words.push(format!("on {device} ({kind})")),
        (Some(device), None) => words.push(format!("device {device}")),
        (None, Some(kind)) => words.push(format!("on {kind}")),
        (None, None) => {}
    }
    if file.processes > 1 {
        words.push(format!("in {} processes", file.processes));
    }
    words.extend(file.calls.iter().map(call_words));
    if let Some(waiting) = file.waiting {
        words.push(format!("at least {} outstanding", standing(waiting)));
    }
    words.join(", ")
}

/// `pread64 met 412 times (8 KiB)`, sizes by how often they were asked for.
fn call_words(call: &SeenCall) -> String {
    let mut sizes: Vec<(u64, u64)> = call.sizes.iter().map(|(size, times)| (*size, *times)).collect();
    sizes.sort_by_key(|(size, times)| (std::cmp::Reverse(*times), *size));
    let more = if sizes.len() > SIZES { ", ..." } else { "" };
    let shown: Vec<String> = sizes.iter().take(SIZES).map(|(size, _)| bytes(*size)).collect();
    let sizes = if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) };
    format!("{} met {} times{sizes}", call.call, call.seen)
}

fn devices(out: &mut Sink, seen: &Inspected) {
    let Some(devices) = &seen.devices else { return };
    out.gap();
    out.line(Some(Role::Strong), "At the devices (traced)");
    if devices.is_empty() {
        out.line(None, "  no I/O was asked for (write-back of the page cache counts as the kernel's)");
    }
    for device in devices {
        out.labelled(None, &format!("  {}", device.device), MARGIN, &device_words(device));
    }
}

fn device_words(d: &AskedDevice) -> String {
    let mut words = Vec::new();
    if let Some(iops) = d.iops {
        words.push(format!("{} IOPS", whole(iops)));
    }
    if let Some(rate) = d.mib_per_s {
        words.push(format!("{} MiB/s", significant(rate)));
    }
    for (what, count, size) in
        [("reads", d.reads, d.read_size_bytes), ("writes", d.writes, d.write_size_bytes)]
    {
        if let Some(size) = size {
            words.push(format!(
                "{} {what} of {} on average",
                whole(count as f64),
                bytes(size.round() as u64)
            ));
        }
    }
    if let (Some(outstanding), Some(share)) = (d.outstanding, d.share) {
        let of = if share > 0.995 { String::new() } else { format!(" ({:.0} % of its I/Os)", share * 100.0) };
        words.push(format!("{} outstanding{of}", standing(outstanding)));
    }
    words.join(", ")
}

fn counters(out: &mut Sink, seen: &Inspected) {
    let mut busy: Vec<&InspectedProcess> = seen.processes.iter().filter(|p| weight(p) > 0).collect();
    if busy.is_empty() || seen.length_s <= 0.0 {
        return;
    }
    busy.sort_by_key(|p| std::cmp::Reverse(weight(p)));
    out.gap();
    out.line(Some(Role::Strong), "Counters of the processes");
    for process in busy.iter().take(SHOWN) {
        let Some(io) = process.io else { continue };
        let rate = |bytes: u64| significant(bytes as f64 / f64::from(1 << 20) / seen.length_s);
        let name = process.command.as_ref().filter(|_| seen.tree).unwrap_or(&process.name);
        let words = format!(
            "{}: storage read {} and written {} MiB/s; by calls that wait {} and {} MiB/s, {} calls per s",
            shortened(name, 40),
            rate(io.read_bytes),
            rate(io.write_bytes),
            rate(io.read_call_bytes),
            rate(io.write_call_bytes),
            whole((io.read_calls + io.write_calls) as f64 / seen.length_s),
        );
        out.labelled(None, &format!("  {}", process.pid), MARGIN, &words);
    }
    if busy.len() > SHOWN {
        out.line(Some(Role::Faint), &format!("  and {} more processes", busy.len() - SHOWN));
    }
}

fn weight(process: &InspectedProcess) -> u64 {
    process.io.map_or(0, |io| io.read_bytes + io.write_bytes + io.read_call_bytes + io.write_call_bytes)
}
