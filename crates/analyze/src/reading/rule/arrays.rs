//! What arrays take at once (`data/array-limits.toml`), and which LUNs of a host belong to which of them.

use crate::reading::case::ReadCase;
use record::imported::{HostId, Origin, Value, facts};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// An array as its maker describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Array {
    /// Its name.
    pub name: String,
    vendor: String,
    products: Vec<String>,
    /// Commands that a port (or what `unit` says) takes at once.
    pub per_port: f64,
    /// Commands that a LUN takes at once.
    pub per_lun: Option<f64>,
    #[serde(default = "port")]
    pub unit: String,
    /// What was taken for granted.
    pub assumed: String,
}

fn port() -> String {
    "port".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    array: Vec<Array>,
}

/// All arrays of which a limit is published.
pub(super) fn arrays() -> &'static [Array] {
    static ARRAYS: OnceLock<Vec<Array>> = OnceLock::new();
    ARRAYS.get_or_init(|| {
        let table: Result<Table, _> = toml::from_str(include_str!("../../../data/array-limits.toml"));
        table.map(|t| t.array).unwrap_or_else(|e| panic!("data/array-limits.toml: {e}"))
    })
}

fn array_of(vendor: &str, product: &str) -> Option<usize> {
    let begins =
        |text: &str, start: &str| text.get(..start.len()).is_some_and(|t| t.eq_ignore_ascii_case(start));
    let fits = |a: &Array| {
        vendor.trim().eq_ignore_ascii_case(&a.vendor) && a.products.iter().any(|p| begins(product.trim(), p))
    };
    arrays().iter().position(fits)
}

/// One way to a LUN.
pub(super) struct Way {
    /// Its queue depth.
    pub depth: f64,
    /// Where that is told.
    pub origin: Origin,
    /// Adapter and target of its SCSI address: what stands for the port it goes to.
    pub port: Option<String>,
}

/// A LUN of a known array.
pub(super) struct Lun {
    /// Its name: of the map, where there is one.
    pub name: String,
    /// Index into [`arrays`].
    pub array: usize,
    /// World-wide identifier, where told.
    pub wwid: Option<String>,
    /// Paths with a queue each; one where the operating system has one queue for all (AIX).
    pub ways: Vec<Way>,
}

/// LUNs of a host that belong to a known array and whose depth is told.
pub(super) fn luns(case: &ReadCase<'_>, host: HostId) -> Vec<Lun> {
    let vendors = case.told(host, facts::VENDOR);
    let products = case.told(host, facts::PRODUCT);
    let parents = case.told(host, facts::PART_OF);
    let addresses = case.told(host, facts::SCSI_ADDRESS);
    let wwids = case.told(host, facts::WWID);
    let mut luns: BTreeMap<String, Lun> = BTreeMap::new();
    for (disk, (depth, origin)) in case.numbers(host, facts::QUEUE_DEPTH) {
        let name = parents.get(disk).map_or_else(|| disk.to_owned(), |(map, _)| map.text());
        let told = |of: &BTreeMap<&str, (&Value, Origin)>| {
            of.get(disk).or_else(|| of.get(name.as_str())).map(|(v, _)| v.text())
        };
        let (Some(vendor), Some(product)) = (told(&vendors), told(&products)) else { continue };
        let Some(array) = array_of(&vendor, &product) else { continue };
        let port = addresses.get(disk).and_then(|(a, _)| target_of(&a.text()));
        let way = Way { depth, origin, port };
        let lun = luns.entry(name.clone()).or_insert_with(|| Lun {
            name: name.clone(),
            array,
            wwid: told(&wwids),
            ways: Vec::new(),
        });
        lun.ways.push(way);
    }
    luns.into_values().collect()
}

/// `2:0:1:5` without its LUN: `2:0:1`.
fn target_of(address: &str) -> Option<String> {
    let address = address.trim().trim_start_matches('[').trim_end_matches(']');
    let (target, _) = address.rsplit_once(':')?;
    (target.matches(':').count() == 2).then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_by_vendor_and_product() {
        let name = |v, p| array_of(v, p).map(|n| arrays()[n].name.as_str());
        assert_eq!(name("HITACHI ", "DF600F          "), Some("Hitachi AMS, WMS or 9500V"));
        assert_eq!(name("DGC", "RAID 5"), Some("EMC CLARiiON or VNX"));
        assert_eq!(name("IBM", "2145"), Some("IBM SVC, Storwize or FlashSystem"));
        assert_eq!((name("EMC", "SYMMETRIX"), name("ATA", "ST31000524AS"), name("", "")), (None, None, None));
        assert!(arrays().iter().all(|a| a.per_port > 0.0 && !a.assumed.is_empty()));
        assert_eq!(target_of("[2:0:1:5]").as_deref(), Some("2:0:1"));
        assert_eq!(target_of("5"), None);
    }
}
