//! Values of a table and how the data model becomes them.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit integers.
    Int,
    /// Doubles.
    Float,
    /// UTF-8 text.
    Text,
    /// Bytes.
    Bytes,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Absent.
    Null,
    /// An integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Whether a cell may stand in a column of this kind; null may stand anywhere.
pub(crate) fn fits(kind: Kind, cell: &Cell) -> bool {
    matches!(
        (kind, cell),
        (_, Cell::Null)
            | (Kind::Int, Cell::Int(_))
            | (Kind::Float, Cell::Float(_))
            | (Kind::Text, Cell::Text(_))
            | (Kind::Bytes, Cell::Bytes(_))
    )
}

impl From<Option<f64>> for Cell {
    /// A number that is not finite is no number: it becomes null, as in JSON.
    fn from(value: Option<f64>) -> Self {
        value.filter(|v| v.is_finite()).map_or(Self::Null, Self::Float)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Some(value).into()
    }
}

impl From<u64> for Cell {
    /// Parquet's common integer is signed; no count of a run comes near its end.
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<Option<u32>> for Cell {
    fn from(value: Option<u32>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Cell {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}
