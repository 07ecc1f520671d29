//! The first line of every sysstat text: kernel, host, date, processors.

use crate::clock::{DateOrder, date};
use crate::text::words;
use jiff::civil::Date;
use record::imported::{Host, Platform};
use std::borrow::Cow;

/// What a banner says: `Linux 3.10.0-1062.el7.x86_64 (db1.example.com)  02/10/2020  _x86_64_  (8 CPU)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Banner {
    pub host: Host,
    /// The date as written; its order may be known only later.
    pub date: Option<String>,
    /// Bytes of a page, where the architecture has one size.
    pub page_bytes: Option<f64>,
}

impl Banner {
    /// Reads a banner; absent when the line is none.
    pub fn read(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("Linux ")?;
        let (release, rest) = rest.trim_start().split_once(' ')?;
        let rest = rest.trim_start().strip_prefix('(')?;
        let (name, rest) = rest.split_once(')')?;
        let processors = rest.rsplit_once('(').and_then(|(_, cpus)| {
            let mut of = cpus.split_ascii_whitespace();
            let number = of.next()?.parse().ok()?;
            of.next()?.starts_with("CPU").then_some(number)
        });
        let is_date =
            |w: &&str| w.contains(['/', '-', '.', '年', '년']) && w.starts_with(|c: char| c.is_ascii_digit());
        let date = words(rest).into_iter().find(is_date).map(plain_date);
        let machine = words(rest).into_iter().find_map(|w| w.strip_prefix('_')?.strip_suffix('_'));
        let host = Host {
            name: Some(name.to_owned()).filter(|n| !n.is_empty()),
            platform: Platform::Linux,
            release: Some(release.to_owned()),
            processors,
        };
        let page_bytes = machine.and_then(page_bytes);
        Some(Self { host, date: date.map(Cow::into_owned), page_bytes })
    }

    /// Whether the date could as well be read in the other order: `02/03/24`.
    pub fn is_ambiguous(&self) -> bool {
        self.date_in(DateOrder::MonthFirst) != self.date_in(DateOrder::DayFirst)
    }

    /// The date, read in this order.
    pub fn date_in(&self, order: DateOrder) -> Option<Date> {
        self.date.as_deref().and_then(|text| date(text, order))
    }
}

/// `2013年05月20日` as `2013-05-20`; anything else as it is.
pub(crate) fn plain_date(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain = text.chars().map(|c| if c.is_ascii_digit() { c } else { '-' });
    Cow::Owned(plain.collect::<String>().trim_matches('-').to_owned())
}

/// Bytes of a page of a machine that `uname -m` names so; ARM and POWER have several sizes.
pub(crate) fn page_bytes(machine: &str) -> Option<f64> {
    matches!(machine, "x86_64" | "i386" | "i486" | "i586" | "i686" | "s390" | "s390x").then_some(4096.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners_old_and_new() {
        let new = Banner::read("Linux 5.4.0-7 (db1.example.com) \t02/10/20 \t_x86_64_\t(8 CPU)").unwrap();
        assert_eq!((new.host.name.as_deref(), new.host.processors), (Some("db1.example.com"), Some(8)));
        assert_eq!(new.date_in(DateOrder::MonthFirst), Some(jiff::civil::date(2020, 2, 10)));
        let old = Banner::read("Linux 2.6.18-8.el5 (host1)  \t01.02.2009").unwrap();
        assert_eq!(
            (old.host.processors, old.date_in(DateOrder::MonthFirst)),
            (None, Some(jiff::civil::date(2009, 2, 1)))
        );
        let east = Banner::read("Linux 2.6.32 (db1) \t2013年05月20日 \t_x86_64_\t(2 CPU)").unwrap();
        assert_eq!(east.date_in(DateOrder::MonthFirst), Some(jiff::civil::date(2013, 5, 20)));
        assert_eq!((east.is_ambiguous(), new.is_ambiguous(), east.page_bytes), (false, true, Some(4096.0)));
        assert_eq!(Banner::read("Linux is fine"), None);
        assert_eq!(Banner::read("SunOS tus1 5.9 Generic sun4u 01/02/2009"), None);
    }
}
