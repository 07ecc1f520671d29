//! Lists of devices in JSON: read element by element, so that a text that was cut off keeps the complete ones.

use crate::out::Out;
use crate::source::DocumentInput;
use serde_json::Value;
use struson::reader::{JsonReader, JsonStreamReader, ReaderError, ValueType};

/// Elements of one list that are read; what has more is no inventory of a host.
const ELEMENTS_MAX: usize = 1_000_000;
/// Characters of JSON in one element: more is no device.
const VALUES_MAX: usize = 4_000_000;

/// Calls `each` for every element of the list of this name in the outermost object. Complains about what cannot be read.
pub(super) fn elements(
    input: &mut DocumentInput<'_>,
    list: &str,
    out: &mut Out<'_>,
    each: &mut dyn FnMut(&Value, &mut Out<'_>),
) {
    if !matches!(input.skip_to(b"{"), Ok(Some(_))) {
        return out.complain("a JSON object", "none");
    }
    let line = input.line();
    let mut reader = JsonStreamReader::new(input);
    if let Err(error) = list_of(&mut reader, list, &mut |value| {
        out.at_line(line.get());
        each(value, out);
    }) {
        out.complain_at(line.get(), &format!("JSON with a list '{list}'"), &short(&error));
    }
}

fn short(error: &ReaderError) -> String {
    let text = error.to_string();
    if text.contains("end of") || text.contains("EndOfStream") || text.contains("UnexpectedEndOfStream") {
        "the text ends before the list does".to_owned()
    } else {
        text
    }
}

fn list_of(
    reader: &mut impl JsonReader,
    list: &str,
    each: &mut dyn FnMut(&Value),
) -> Result<(), ReaderError> {
    reader.begin_object()?;
    while reader.has_next()? {
        if reader.next_name()? != list || reader.peek()? != ValueType::Array {
            reader.skip_value()?;
            continue;
        }
        reader.begin_array()?;
        let mut count = 0;
        while reader.has_next()? {
            if count < ELEMENTS_MAX {
                each(&value(reader, &mut VALUES_MAX.clone())?);
            } else {
                reader.skip_value()?;
            }
            count += 1;
        }
        reader.end_array()?;
    }
    reader.end_object()
}

/// One value. The reader itself refuses more than 128 levels.
fn value(reader: &mut impl JsonReader, left: &mut usize) -> Result<Value, ReaderError> {
    *left = left.saturating_sub(1);
    Ok(match reader.peek()? {
        _ if *left == 0 => {
            reader.skip_value()?;
            Value::Null
        }
        ValueType::Array => {
            let mut array = Vec::new();
            reader.begin_array()?;
            while reader.has_next()? {
                array.push(value(reader, left)?);
            }
            reader.end_array()?;
            Value::Array(array)
        }
        ValueType::Object => {
            let mut object = serde_json::Map::new();
            reader.begin_object()?;
            while reader.has_next()? {
                let name = reader.next_name_owned()?;
                let inner = value(reader, left)?;
                object.insert(name, inner);
            }
            reader.end_object()?;
            Value::Object(object)
        }
        ValueType::String => Value::String(reader.next_string()?),
        ValueType::Number => {
            let number = reader.next_number_as_string()?;
            serde_json::from_str(&number).unwrap_or(Value::String(number))
        }
        ValueType::Boolean => Value::Bool(reader.next_bool()?),
        ValueType::Null => {
            reader.next_null()?;
            Value::Null
        }
    })
}

/// A plain value as text: numbers as written, booleans as 1 and 0, which is what older versions print. Absent for null,
/// for lists of nothing, and for objects.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(if *yes { "1" } else { "0" }.to_owned()),
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().filter_map(plain).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        Value::Null | Value::Object(_) => None,
    }
}
