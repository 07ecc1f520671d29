//! Exit codes, one mapping for the whole command.

use std::process::ExitCode;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The answer is no: a limit not held, a finding at or above the level asked for.
    No = 1,
    /// Wrong usage or bad input.
    Usage = 2,
    /// Not permitted, or refused for safety.
    Refused = 3,
    /// The environment cannot do it.
    Environment = 4,
    /// Interrupted, with everything undone.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A failure with its exit code: what was being done, why it failed, what to try.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub exit: Exit,
    /// The message, causes included.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Self {
        Self { exit, message: message.to_string(), hint: None }
    }

    /// Adds what to try.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the error to standard error.
    pub fn print(&self) {
        eprintln!("error: {}", self.message);
        if let Some(hint) = &self.hint {
            eprintln!("hint: {hint}");
        }
    }
}

/// An error and its causes on one line each.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        // Some errors already quote their cause.
        if !text.contains(&words) {
            text.push_str(&format!("\n  caused by: {words}"));
        }
        source = cause.source();
    }
    text
}
