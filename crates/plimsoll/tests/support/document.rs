//! Reading the document of `plimsoll probe --json`.

use serde_json::Value;

/// A number at a path like `/load_line/iops`; fails when it is absent or no number.
pub fn number(document: &Value, pointer: &str) -> f64 {
    let found = document.pointer(pointer);
    found.and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} is no number but {found:?}"))
}

/// A number, or nothing where it is null; fails when the field is missing.
pub fn known(document: &Value, pointer: &str) -> Option<f64> {
    let found = document.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is missing"));
    assert!(found.is_null() || found.is_number(), "{pointer} is neither null nor a number: {found}");
    found.as_f64()
}

/// A text at a path.
pub fn text<'d>(document: &'d Value, pointer: &str) -> &'d str {
    let found = document.pointer(pointer);
    found.and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} is no text but {found:?}"))
}

/// A list at a path.
pub fn list<'d>(document: &'d Value, pointer: &str) -> &'d [Value] {
    let found = document.pointer(pointer);
    found.and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer} is no list but {found:?}"))
}

/// The steps, which a measured run has.
pub fn steps(document: &Value) -> &[Value] {
    let steps = list(document, "/steps");
    assert!(!steps.is_empty(), "no steps: {document:#}");
    steps
}

/// The layer that stops the path.
pub fn layer(document: &Value) -> &str {
    text(document, "/bound_by/layer")
}

/// Ids of the warnings.
pub fn warnings(document: &Value) -> Vec<&str> {
    list(document, "/warnings").iter().map(|w| text(w, "/id")).collect()
}
