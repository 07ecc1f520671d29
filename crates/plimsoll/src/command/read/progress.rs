//! Which text is being read and how far: long archives take seconds. Only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use record::imported::{
    Complaint, Distribution, Event, Fact, Host, HostId, Place, PlaceId, Rows, Sink, Source, SourceId,
};
use std::time::Duration;

/// A line on standard error, cleared at the end.
pub struct Shown {
    bar: ProgressBar,
    path: String,
    samples: u64,
}

impl Shown {
    /// Nothing is shown unless `visible`.
    pub fn new(visible: bool) -> Self {
        let bar = if visible { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(
            ProgressStyle::with_template("{spinner} {wide_msg}")
                .expect("the template is a constant that indicatif accepts"),
        );
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, path: String::new(), samples: 0 }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&self) {
        self.bar.set_message(format!("reading {}: {} samples so far", self.path, self.samples));
    }
}

impl Sink for Shown {
    fn source(&mut self, _: SourceId, source: &Source) {
        self.path.clone_from(&source.path);
        self.say();
    }
    fn rows(&mut self, rows: &Rows, _: &str) {
        self.samples += rows.len() as u64;
        self.say();
    }
    fn host(&mut self, _: HostId, _: &Host) {}
    fn place(&mut self, _: PlaceId, _: &Place) {}
    fn fact(&mut self, _: &Fact, _: &str) {}
    fn event(&mut self, _: &Event, _: &str) {}
    fn distribution(&mut self, _: &Distribution) {}
    fn complaint(&mut self, _: SourceId, _: &Complaint) {}
    fn remark(&mut self, _: SourceId, _: &str) {}
    fn end(&mut self, _: SourceId) {}
}
