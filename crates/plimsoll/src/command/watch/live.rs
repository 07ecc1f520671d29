//! The live screen: samples, keys and signals until somebody ends it.

use super::Beat;
use super::keys::{Asked, asked};
use super::notice::{Notice, Notices};
use super::source::Observed;
use super::terminal::Shown;
use crate::args::watch::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use ::report::watch::View;
use ::report::watch::screen::Screen;
use analyze::Happenings;
use ratatui::crossterm::event::{self, Event};
use std::time::Duration;

/// Longest wait for a key before signals are looked at.
const PATIENCE: Duration = Duration::from_millis(100);

/// The first interval is short, so that the screen shows something at once.
const FIRST: Duration = Duration::from_millis(300);

/// Runs the screen.
pub fn run(args: &WatchArgs, voice: &Voice, view: View, observed: Observed) -> Result<Exit, Failure> {
    let notices = Notices::listen(true)?;
    let style = voice.style();
    let host = host::facts::read(&host::Root::system()).hostname.unwrap_or_default();
    let screen = Screen::new(host, args.interval, view, style.color, style.charset);
    let interval = Duration::from_secs_f64(args.interval);
    let mut watch = Watch {
        shown: Shown::enter()?,
        happenings: Happenings::default(),
        beat: Beat::new(interval.min(FIRST)),
        observed,
        screen,
    };
    watch.happenings.look(watch.observed.sample());
    watch.run(&notices)
}

struct Watch {
    shown: Shown,
    screen: Screen,
    observed: Observed,
    happenings: Happenings,
    beat: Beat,
}

impl Watch {
    fn run(&mut self, notices: &Notices) -> Result<Exit, Failure> {
        self.shown.draw(&self.screen)?;
        loop {
            while let Some(notice) = notices.poll() {
                match notice {
                    Notice::Stop => return Ok(Exit::Interrupted),
                    Notice::Suspend => self.shown.suspend()?,
                    Notice::Resume => self.shown.resume()?,
                }
                self.shown.draw(&self.screen)?;
            }
            if self.beat.left().is_zero() {
                self.sample()?;
                self.shown.draw(&self.screen)?;
            }
            let input =
                |cause: std::io::Error| Failure::new(Exit::Environment, format!("reading keys: {cause}"));
            if event::poll(self.beat.left().min(PATIENCE)).map_err(input)? {
                if let Some(exit) = self.event(event::read().map_err(input)?)? {
                    return Ok(exit);
                }
                self.shown.draw(&self.screen)?;
            }
        }
    }

    fn sample(&mut self) -> Result<(), Failure> {
        self.beat.next(Duration::from_secs_f64(self.screen.interval_s));
        let sample = self.observed.next()?;
        let happened = self.happenings.look(sample);
        self.screen.take(sample, happened);
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<Option<Exit>, Failure> {
        let Event::Key(key) = event else { return Ok(None) };
        match asked(key, self.screen.is_typing()) {
            None => {}
            Some(Asked::Quit) => return Ok(Some(Exit::Done)),
            Some(Asked::Interrupt) => return Ok(Some(Exit::Interrupted)),
            Some(Asked::Suspend) => self.shown.suspend()?,
            Some(Asked::Redraw) => self.shown.resume()?,
            Some(Asked::Screen(action)) => {
                let before = self.screen.interval_s;
                self.screen.act(action);
                if self.screen.interval_s != before {
                    self.beat = Beat::new(Duration::from_secs_f64(self.screen.interval_s));
                }
            }
        }
        Ok(None)
    }
}
