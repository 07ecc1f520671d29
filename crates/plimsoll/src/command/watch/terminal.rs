//! The terminal while the screen is up, and as it was before, however the screen ends.

use crate::exit::{Exit, Failure};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{Stdout, stdout};
use std::sync::Once;

/// The screen on the terminal; dropping it puts the terminal back.
pub struct Shown {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Shown {
    /// Takes the terminal.
    pub fn enter() -> Result<Self, Failure> {
        put_back_on_panic();
        take().map_err(refused)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(|cause| {
            put_back();
            refused(cause)
        })?;
        Ok(Self { terminal })
    }

    /// Draws.
    pub fn draw(&mut self, screen: &::report::watch::screen::Screen) -> Result<(), Failure> {
        self.terminal.draw(|frame| ::report::watch::screen::draw(frame, screen)).map_err(refused)?;
        Ok(())
    }

    /// Puts the terminal back, is suspended, and takes it again when the process goes on.
    pub fn suspend(&mut self) -> Result<(), Failure> {
        put_back();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP).map_err(refused)?;
        self.resume()
    }

    /// Takes the terminal again and draws all of it: others wrote on it meanwhile.
    pub fn resume(&mut self) -> Result<(), Failure> {
        take().map_err(refused)?;
        self.terminal.clear().map_err(refused)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        put_back();
    }
}

fn refused(cause: std::io::Error) -> Failure {
    Failure::new(Exit::Environment, format!("the terminal refuses the screen: {cause}"))
        .hint("--plain prints lines instead")
}

fn take() -> std::io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen)
}

fn put_back() {
    // A terminal that is gone needs nothing put back.
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
}

/// The message of a panic must not vanish with the screen.
fn put_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            put_back();
            before(panic);
        }));
    });
}
