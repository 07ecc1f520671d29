//! `plimsoll.inspect/1`.

use analyze::inspect::HowItDoesIo;
use record::Inspected;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    at: String,
    answer: Vec<String>,
    #[serde(flatten)]
    how: &'a HowItDoesIo,
    #[serde(flatten)]
    seen: &'a Inspected,
}

/// The document.
pub fn document(seen: &Inspected, how: &HowItDoesIo) -> serde_json::Value {
    let at = jiff::Timestamp::from_microsecond((seen.at_s * 1e6) as i64).unwrap_or_default();
    let document = Document {
        schema: "plimsoll.inspect/1",
        at: at.to_string(),
        answer: super::sentences(how),
        how,
        seen,
    };
    // Numbers, texts and lists of these: nothing that JSON cannot hold.
    serde_json::to_value(document).unwrap_or_default()
}
