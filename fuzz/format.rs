//! Fuzzes one format: the target's name is the format's, or `FUZZ_FORMAT` names it, so that one build serves all. Any bytes may be complained about; none may panic, hang or
//! fill memory, and every row must have a place and an interval.
#![no_main]

use import::format::all;
use libfuzzer_sys::fuzz_target;
use record::imported::Gathered;
use std::sync::LazyLock;

fuzz_target!(|bytes: &[u8]| {
    static NAME: LazyLock<String> =
        LazyLock::new(|| std::env::var("FUZZ_FORMAT").unwrap_or_else(|_| env!("CARGO_BIN_NAME").to_owned()));
    let name = NAME.as_str();
    let mut gathered = Gathered::default();
    let mut stream = bytes;
    match all().find(|f| f.name == name) {
        Some(format) => import::read_stream_as(format, "fuzz", &mut stream, &mut gathered),
        None => {
            import::read_stream("fuzz", &mut stream, &mut gathered);
        }
    }
    for row in &gathered.rows {
        assert!((row.place as usize) < gathered.places.len(), "a row without a place");
        assert!(row.values.iter().all(|(_, v)| !v.is_infinite()), "{:?}", row.values);
    }
});
