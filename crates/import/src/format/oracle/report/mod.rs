//! What the tables of AWR and Statspack mean, whether they stand in text or HTML.
//!
//! The reader of text and the one of HTML only find titles, columns and cells; they give them to a [`Report`], which knows
//! the sections by their titles and the columns by their names: other releases have other columns in another order.

mod cluster;
mod events;
mod heading;
mod histogram;
mod io;
mod names;
mod parameters;
mod profile;
pub(crate) mod value;

use crate::out::Out;
use heading::Heading;
use record::imported::Origin;
use std::collections::{BTreeSet, HashMap};

/// A section of which something is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Section {
    /// None of them.
    #[default]
    Other,
    LoadProfile,
    HostCpu,
    OsStatistics,
    TopEvents,
    ForegroundEvents,
    BackgroundEvents,
    Histogram,
    IoFunction,
    /// By function and type of file: the name stands above its numbers.
    IoDetail,
    Tablespaces,
    Files,
    FileHistogram,
    Parameters,
    /// Of a cluster's report.
    Instances,
    /// Of a cluster's report.
    InstanceRates,
}

impl Section {
    /// Of a title of a section, or the summary of an HTML table.
    pub(crate) fn of(title: &str) -> Self {
        let title = title.trim().to_ascii_lowercase();
        let title = title.strip_prefix("this table displays ").unwrap_or(&title);
        let begins = |start: &str| title.starts_with(start);
        if begins("top timed ") && title.contains("event") && title.contains("background") {
            return Self::BackgroundEvents;
        }
        if begins("top ") && title.contains("event") {
            let number = title.split_ascii_whitespace().nth(1).unwrap_or("");
            let is_list = number.bytes().all(|b| b.is_ascii_digit());
            let is_waits =
                ["timed", "wait event", "foreground", "background"].iter().any(|w| title.contains(w));
            let is_list = is_list || begins("top timed ");
            return if is_list && is_waits { Self::TopEvents } else { Self::Other };
        }
        match title {
            _ if begins("load profile") => Self::LoadProfile,
            _ if begins("host cpu") || begins("system load statistics") => Self::HostCpu,
            _ if title.contains("- detail") || begins("some detailed") => Self::Other,
            _ if begins("operating system") || begins("os statistics") => Self::OsStatistics,
            _ if begins("foreground wait events") => Self::ForegroundEvents,
            _ if begins("wait events") && !begins("wait events statistics") => Self::ForegroundEvents,
            _ if begins("background wait events") => Self::BackgroundEvents,
            _ if begins("wait event histogram") => Self::Histogram,
            _ if begins("iostat by function/file") => Self::IoDetail,
            _ if begins("iostat by function") || begins("iostat by file") => Self::IoFunction,
            _ if begins("tablespace io stats") => Self::Tablespaces,
            _ if begins("file io stats") => Self::Files,
            _ if begins("file read histogram") => Self::FileHistogram,
            _ if parameters::is_parameters(title) => Self::Parameters,
            _ if begins("database instances included") => Self::Instances,
            _ if begins("system statistics - per second") => Self::InstanceRates,
            _ => Self::Other,
        }
    }

    /// Whether rows have their name on a line of its own, above the numbers.
    pub(crate) fn has_names_above(self) -> bool {
        matches!(self, Self::Tablespaces | Self::Files | Self::FileHistogram | Self::IoDetail)
    }
}

/// A label as it is compared: lower case, without white space.
pub(crate) fn normal(label: &str) -> String {
    label.chars().filter(|c| !c.is_whitespace() && *c != '\u{a0}').flat_map(char::to_lowercase).collect()
}

/// Whether cells that tabs divide are the headings of a table that is read.
pub(crate) fn is_table(line: &str) -> bool {
    let columns: Vec<String> = line.split('\t').take(64).map(normal).collect();
    events::is_events(&columns) || io::is_files(&columns) || histogram::is_histogram(&columns)
}

/// The table that is being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Normalised labels.
    pub columns: Vec<String>,
    /// Characters that the columns are wide; none in HTML, where nothing is cut.
    pub widths: Vec<usize>,
    /// The remarks above it say that it has microseconds.
    pub legend_us: bool,
}

/// A report of one instance over one period.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) heading: Heading,
    pub(crate) section: Section,
    title: String,
    pub(crate) table: Table,
    profile: profile::Profile,
    profile_told: bool,
    names: names::Names,
    /// Waits by event of the top list.
    top: HashMap<String, f64>,
    /// Its rows whose time is rounded.
    held: Vec<events::TopRow>,
    /// Whether the top list is of foreground and background together (Statspack, 10g).
    is_top_of_all: bool,
    pub(crate) cluster: cluster::Cluster,
    histograms: histogram::Histograms,
    is_fine: bool,
    unread: BTreeSet<String>,
}

impl Report {
    /// A section begins.
    pub(crate) fn title(&mut self, title: &str, out: &mut Out<'_>) {
        let section = Section::of(title);
        self.end_section(out);
        if section == Section::TopEvents && !title.to_ascii_lowercase().contains("foreground") {
            self.is_top_of_all = true;
        }
        self.section = section;
        title.trim().clone_into(&mut self.title);
        self.table = Table::default();
    }

    /// A remark above a table.
    pub(crate) fn legend(&mut self, line: &str) {
        self.table.legend_us |= line.contains("us is microseconds") || line.contains("1024 microseconds");
    }

    /// The table's columns; whether they are of a table that is read.
    pub(crate) fn columns(&mut self, labels: &[String], widths: Vec<usize>, out: &mut Out<'_>) {
        self.table.columns = labels.iter().map(|l| normal(l)).collect();
        self.table.widths = widths;
        self.usual_columns(out);
        let columns = &self.table.columns;
        if self.section == Section::Other {
            // An excerpt may lack the title.
            self.section = if histogram::is_histogram(columns) {
                Section::Histogram
            } else if events::is_events(columns) {
                let is_background = columns.iter().any(|c| c == "%bgtime");
                if is_background { Section::BackgroundEvents } else { Section::ForegroundEvents }
            } else if io::is_files(columns) {
                if columns.iter().any(|c| c == "filename") { Section::Files } else { Section::Tablespaces }
            } else {
                Section::Other
            };
        }
        let unknown = match self.section {
            Section::TopEvents | Section::ForegroundEvents | Section::BackgroundEvents
                if events::is_events(columns) =>
            {
                events::unknown(columns)
            }
            Section::Tablespaces | Section::Files if io::is_files(columns) => io::unknown(columns),
            _ => Vec::new(),
        };
        for column in unknown {
            if self.unread.len() < 100 && self.unread.insert(column.to_owned()) {
                out.remark(&format!("column '{column}' of '{}' is not known and stays unread", self.title));
            }
        }
        if self.section == Section::Histogram {
            let title = self.title.clone();
            self.begin_histogram(&title);
        }
    }

    /// Where the spaces of a text were lost, headings do not stand over their columns: a list of events has always had the
    /// same ones.
    fn usual_columns(&mut self, out: &mut Out<'_>) {
        const USUAL: [&str; 6] = ["event", "waits", "time(s)", "avgwait", "%dbtime", "waitclass"];
        let columns = &self.table.columns;
        let all = columns.concat();
        let is_lost = self.section == Section::TopEvents
            && !events::is_events(columns)
            && ["event", "waits", "time"].iter().all(|label| all.contains(label));
        if is_lost && (5..=6).contains(&columns.len()) {
            self.table.columns = USUAL.iter().take(columns.len()).map(|c| (*c).to_owned()).collect();
            self.table.widths.clear();
            out.remark("headings do not stand over their columns: event, waits, time (s), average, % are taken as usual");
        }
    }

    /// A row of the table: its cells, and the line where there is one.
    pub(crate) fn row(&mut self, origin: Origin, line: Option<&str>, cells: &[&str], out: &mut Out<'_>) {
        match self.section {
            Section::TopEvents | Section::ForegroundEvents | Section::BackgroundEvents => {
                if events::is_events(&self.table.columns) {
                    self.event(line, cells, out);
                }
            }
            Section::Histogram => self.histogram(line, cells, out),
            Section::HostCpu => self.host_cpu(cells, out),
            Section::OsStatistics => self.os_statistic(cells, out),
            Section::Tablespaces | Section::Files if io::is_files(&self.table.columns) => {
                self.file(origin, line, cells, out);
            }
            Section::FileHistogram => self.file_histogram(origin, cells, out),
            Section::IoFunction => {
                let name = cells.first().copied().unwrap_or("");
                self.function(origin, line, name, cells, out);
            }
            // With no type in parentheses it is the sum over types, which stands in a table of its own.
            Section::IoDetail => {
                let name = cells.first().copied().unwrap_or("");
                if name.contains('(') {
                    self.function(origin, line, name, cells, out);
                }
            }
            Section::Parameters => self.parameter(cells, out),
            Section::Instances => self.instance(cells, out),
            Section::InstanceRates => self.instance_rates(cells, out),
            Section::LoadProfile => self.profile_line(&cells.join(" "), out),
            Section::Other | Section::Tablespaces | Section::Files => {
                if self.section == Section::Other {
                    let columns = std::mem::take(&mut self.table.columns);
                    self.heading.row(&columns, line, cells, out);
                    self.table.columns = columns;
                }
            }
        }
    }

    /// Whether rows of the current table are read.
    pub(crate) fn wants_rows(&self) -> bool {
        let has = |wanted: &str| self.table.columns.iter().any(|c| c == wanted);
        self.section != Section::Other || has("dbid") || has("platform") || has("instance")
    }

    /// The section has ended.
    pub(crate) fn end_section(&mut self, out: &mut Out<'_>) {
        match self.section {
            Section::LoadProfile => self.end_profile(false, out),
            Section::OsStatistics => self.end_os_statistics(out),
            _ => {}
        }
        self.section = Section::Other;
    }

    /// The report has ended.
    pub(crate) fn end(&mut self, out: &mut Out<'_>) {
        self.end_section(out);
        self.end_cluster(out);
        self.end_events(out);
        self.end_histograms(out);
        self.end_profile(true, out);
        self.heading.end(out);
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_many_versions() {
        let wanted = [
            ("Top 5 Timed Events", Section::TopEvents),
            ("Top 10 Foreground Events by Total Wait Time", Section::TopEvents),
            ("This table displays top 10 wait events by total wait time", Section::TopEvents),
            ("Top Events", Section::Other),
            ("Top 10 Channel Waits", Section::Other),
            ("Top SQL with Top Events", Section::Other),
            ("Wait Events", Section::ForegroundEvents),
            ("Wait Events Statistics", Section::Other),
            ("Background Wait Events", Section::BackgroundEvents),
            ("Wait Event Histogram (up to 64 us)", Section::Histogram),
            ("Operating System Statistics - Detail", Section::Other),
            ("OS Statistics", Section::OsStatistics),
            ("IOStat by Function/Filetype summary", Section::IoDetail),
            ("IOStat by Filetype summary", Section::IoFunction),
            ("Host CPU (CPUs:    2 Cores:", Section::HostCpu),
            ("init.ora Parameters            ", Section::Parameters),
            ("This table displays name and value of init.ora parameters", Section::Parameters),
        ];
        for (title, section) in wanted {
            assert_eq!(Section::of(title), section, "{title}");
        }
    }
}
