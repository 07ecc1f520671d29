//! Which kernel package apt offers, and its download.

use crate::error::{Error, Result};
use crate::rig::Kernel;
use crate::tool;
use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

/// Packages that depend on the kernel of their suite.
const META: [&str; 2] = ["linux-image-amd64", "linux-image-6.12-amd64"];

/// The newest image package of a series that apt offers.
///
/// The metapackages name it; on distributions that lack them, any plain image package of the series will do.
pub fn on_offer(series: Kernel) -> Result<String> {
    let mut found: Vec<String> = Vec::new();
    for meta in META {
        let said = tool::output("apt-cache", &["depends", meta], None)?;
        found.extend(dependencies(&String::from_utf8_lossy(&said.stdout)));
    }
    if !found.iter().any(|package| image_of(package, series)) {
        let said = tool::output("apt-cache", &["pkgnames", "linux-image-"], None)?;
        found.extend(String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned));
    }
    found.retain(|package| image_of(package, series));
    found.sort_by(|a, b| compare_releases(a, b));
    found.pop().ok_or_else(|| {
        let source = match series {
            Kernel::V6_1 => "bookworm (Debian 12)",
            Kernel::V6_12 => "bookworm-security or bookworm-backports (Debian 12), or trixie (Debian 13)",
        };
        Error::Environment(format!(
            "apt offers no Debian kernel {}: it stands in {source}; add that suite for amd64 and run apt-get update",
            series.name()
        ))
    })
}

/// Names in the output of `apt-cache depends`.
fn dependencies(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned).collect()
}

fn image_of(package: &str, series: Kernel) -> bool {
    package.strip_prefix("linux-image-").is_some_and(|release| belongs(release, series))
}

/// A plain amd64 kernel of this series (not a cloud, real-time or debug build).
pub fn belongs(release: &str, series: Kernel) -> bool {
    let Some(rest) = release.strip_prefix(series.name()).and_then(|rest| rest.strip_prefix('.')) else {
        return false;
    };
    rest.strip_suffix("-amd64").is_some_and(|middle| !middle.contains("cloud") && !middle.contains("rt"))
}

/// Compares the numbers in two names from left to right.
pub fn compare_releases(a: &str, b: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    numbers(a).cmp(&numbers(b))
}

/// Downloads one package into a folder and gives the file.
pub fn download(package: &str, into: &Path) -> Result<PathBuf> {
    // Downloading is done as the user who asks: root's download as the user _apt fails in folders it cannot enter.
    tool::run("apt-get", &["-q", "-o", "APT::Sandbox::User=root", "download", package], Some(into)).map_err(
        |error| {
            Error::Environment(format!(
                "{error}\nhint: when the version is no longer on the server: apt-get update"
            ))
        },
    )?;
    let found = fs::read_dir(into).map_err(|e| Error::file("read", into, e))?.flatten().find(|entry| {
        entry.file_name().to_str().is_some_and(|n| n.starts_with(package) && n.ends_with(".deb"))
    });
    found.map(|entry| entry.path()).ok_or_else(|| {
        Error::Environment(format!("apt-get download {package} left no file in {}", into.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_belongs_to_one_series() {
        assert!(belongs("6.1.0-56-amd64", Kernel::V6_1));
        assert!(!belongs("6.1.0-56-amd64", Kernel::V6_12));
        assert!(belongs("6.12.117+deb12-amd64", Kernel::V6_12));
        assert!(!belongs("6.12.117+deb12-amd64", Kernel::V6_1), "6.1 is not the beginning of 6.12");
        assert!(!belongs("6.1.0-56-cloud-amd64", Kernel::V6_1));
        assert!(!belongs("6.1.0-56-rt-amd64", Kernel::V6_1));
        assert!(!belongs("6.1.0-56-amd64-dbg", Kernel::V6_1));
    }

    #[test]
    fn the_newest_is_found_by_numbers_not_by_letters() {
        assert_eq!(compare_releases("6.1.0-9-amd64", "6.1.0-56-amd64"), Ordering::Less);
        assert_eq!(compare_releases("6.12.117+deb12-amd64", "6.12.86+deb12-amd64"), Ordering::Greater);
    }

    #[test]
    fn dependencies_are_read_from_apt() {
        let text =
            "linux-image-amd64\n  Depends: linux-image-6.1.0-56-amd64\n  Suggests: firmware-linux-free\n";
        assert_eq!(dependencies(text), ["linux-image-6.1.0-56-amd64"]);
    }
}
