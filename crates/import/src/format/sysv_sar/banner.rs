//! The first line of a report: system, host, release, date.

use crate::clock::{DateOrder, date};
use crate::text::words;
use jiff::civil::Date;
use record::imported::{Host, Platform};

/// What a banner says: `SunOS db1 5.10 Generic_150400-40 sun4v    08/19/2010`, `HP-UX db2 B.11.31 U ia64    03/21/18`,
/// `AIX db3 2 7 00F00000AC00    04/20/20` (release before version, as uname -a has it).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Banner {
    pub host: Host,
    pub date: Option<Date>,
}

impl Banner {
    /// Reads a banner; absent when the line is none.
    pub fn read(line: &str) -> Option<Self> {
        let (platform, rest) =
            [("SunOS ", Platform::Solaris), ("HP-UX ", Platform::HpUx), ("AIX ", Platform::Aix)]
                .iter()
                .find_map(|(name, platform)| Some((*platform, line.strip_prefix(name)?)))?;
        let words = words(rest);
        let [name, release, third, ..] = words.as_slice() else { return None };
        let text = words
            .last()
            .filter(|w| w.contains(['/', '.', '-']) && w.starts_with(|c: char| c.is_ascii_digit()))?;
        let order = DateOrder::shown_by([*text]).unwrap_or_default();
        let date = date(text, order)?;
        let release = match platform {
            Platform::Aix => format!("{third}.{release}"),
            _ => (*release).to_owned(),
        };
        let host =
            Host { name: Some((*name).to_owned()), platform, release: Some(release), processors: None };
        Some(Self { host, date: Some(date) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners_of_three_systems() {
        let sun = Banner::read("SunOS db1 5.9 Generic_100000-01 sun4u 01/02/2009").unwrap();
        assert_eq!((sun.host.release.as_deref(), sun.host.platform), (Some("5.9"), Platform::Solaris));
        let aix = Banner::read("AIX db3 2 7 00F00000AC00    04/20/20").unwrap();
        assert_eq!(
            (aix.host.release.as_deref(), aix.date),
            (Some("7.2"), Some(jiff::civil::date(2020, 4, 20)))
        );
        let hp = Banner::read("HP-UX db2 B.11.31 U ia64    21/03/18").unwrap();
        assert_eq!(hp.date, Some(jiff::civil::date(2018, 3, 21)));
        for bad in
            ["SunOS db1 5.10 Generic sun4u sparc SUNW,Ultra-4", "AIX is fine", "Linux 2.6 (h) 01/02/2009"]
        {
            assert_eq!(Banner::read(bad), None, "{bad}");
        }
    }
}
