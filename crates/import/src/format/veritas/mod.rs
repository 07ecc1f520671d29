//! Veritas Volume Manager: vxstat, vxtrace.

mod vxstat;
mod vxtrace;

use super::Format;
use record::imported::PlaceKind;

/// The formats of this family.
pub static FORMATS: &[Format] = &[vxstat::FORMAT, vxtrace::FORMAT];

/// What a record describes, by the word that both tools print for its type. One write to a volume of two plexes is an
/// operation of the volume, of both plexes and of both subdisks: rows of several types are never added.
fn kind(of: &str) -> Option<PlaceKind> {
    match of {
        "vol" | "vdev" | "volume" | "pl" | "plex" | "vs" | "vset" | "co" | "cache" => Some(PlaceKind::Volume),
        "sd" | "subdisk" => Some(PlaceKind::Partition),
        "dm" | "disk" | "da" => Some(PlaceKind::Device),
        _ => None,
    }
}
