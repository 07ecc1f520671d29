//! Prints what is read from files: `cargo run -p import --example show -- FILE...` (`-q` for a line per file).

use record::imported::Gathered;

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let is_short = files.first().is_some_and(|f| f == "-q");
    if is_short {
        files.remove(0);
    }
    for file in files {
        let mut all = Gathered::default();
        let reading = import::read(&[&file], &mut all);
        for refused in &reading.refused {
            println!("{}: refused: {}", refused.path, refused.reason);
        }
        let (rows, facts, events) = (all.rows.len(), all.facts.len(), all.events.len());
        for (path, formats) in &reading.read {
            println!(
                "{path}: {} ({} rows, {facts} facts, {events} events, {} complaints)",
                formats.join(", "),
                rows,
                all.complaints.len()
            );
        }
        for (source, complaint) in &all.complaints {
            let path = &all.sources[*source as usize].path;
            println!(
                "  {path}:{}: expected {}, found '{}'",
                complaint.line, complaint.expected, complaint.found
            );
        }
        for (_, remark) in &all.remarks {
            println!("  remark: {remark}");
        }
        if is_short {
            continue;
        }
        for source in &all.sources {
            println!("  {}: {}", source.format, source.why);
        }
        for host in &all.hosts {
            println!("  {host:?}");
        }
        for row in &all.rows {
            let place = &all.places[row.place as usize];
            let values: Vec<String> = row.values.iter().map(|(q, v)| format!("{q}={v}")).collect();
            println!(
                "  {}: {:?} {:?} at {} length {} ({:?}): {}",
                row.origin.line,
                place.kind,
                place.name,
                row.interval.at_s,
                row.interval.length_s,
                row.interval.kind,
                values.join(" ")
            );
        }
        for fact in &all.facts {
            let place = &all.places[fact.place as usize];
            println!(
                "  {}: fact {:?} {:?} {} = {}",
                fact.origin.line,
                place.kind,
                place.name,
                fact.name,
                fact.value.text()
            );
        }
        for event in &all.events {
            let place = &all.places[event.place as usize];
            println!(
                "  {}: event {:?} {:?} {:?} at {}: {}",
                event.origin.line, place.kind, place.name, event.kind, event.at_s, event.text
            );
        }
        for d in &all.distributions {
            println!(
                "  distribution {:?} {} {:?}: {:?}",
                all.places[d.place as usize], d.quantity, d.class, d.buckets
            );
        }
    }
}
