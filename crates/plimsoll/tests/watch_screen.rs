//! The live screen in a real terminal (tmux): it draws, answers keys and sizes, and leaves the terminal as it was.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use std::process::Command;
use std::time::Duration;
use support::command::BINARY;
use support::{folder, program, wait_until};

const PATIENCE: Duration = Duration::from_secs(15);

/// A tmux server of our own with one window; ended when dropped.
struct Tmux {
    socket: String,
    _folder: tempfile::TempDir,
}

impl Tmux {
    /// A shell in a window of 100 by 30.
    fn new() -> Option<Self> {
        program("tmux")?;
        let folder = folder();
        let socket = folder.path().join("tmux").to_string_lossy().into_owned();
        let tmux = Self { socket, _folder: folder };
        tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "env PS1='$ ' sh"]);
        Some(tmux)
    }

    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env("LC_ALL", "C.UTF-8").env_remove("TMUX").env_remove("NO_COLOR");
        let done = command.arg("-S").arg(&self.socket).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    fn line(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
        self.keys(&["Enter"]);
    }

    fn seen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    #[track_caller]
    fn shows(&self, what: &str) -> String {
        let met = wait_until(PATIENCE, || self.seen().contains(what));
        let seen = self.seen();
        assert!(met, "'{what}' never came:\n{seen}");
        seen
    }

    #[track_caller]
    fn shows_not(&self, what: &str) {
        assert!(wait_until(PATIENCE, || !self.seen().contains(what)), "'{what}' stays:\n{}", self.seen());
    }

    fn watch(&self, flags: &str) {
        // The settings of the terminal before and after are compared by the shell itself.
        self.line(&format!(
            "stty -g >{0}.a; {BINARY} watch {flags}; echo ended-$?; stty -g >{0}.b; cmp {0}.a {0}.b && echo terminal-as-before",
            self.socket
        ));
        self.shows("q quit");
    }

    /// The command ended with this code, the screen is gone, and the terminal is as it was.
    fn ended(&self, code: i32) {
        self.shows(&format!("ended-{code}"));
        let seen = self.shows("terminal-as-before\n");
        assert!(!seen.contains("q quit  ? help"), "the screen is still there:\n{seen}");
        assert_eq!(self.run(&["display", "-p", "#{alternate_on} #{cursor_flag}"]).trim(), "0 1");
    }

    fn pid(&self) -> rustix::process::Pid {
        let shell = self.run(&["display", "-p", "#{pane_pid}"]);
        let children = format!("/proc/{0}/task/{0}/children", shell.trim());
        let mut pid = None;
        wait_until(PATIENCE, || {
            let text = std::fs::read_to_string(&children).unwrap_or_default();
            pid = text.split_whitespace().next().and_then(|p| p.parse().ok());
            pid.is_some()
        });
        rustix::process::Pid::from_raw(pid.unwrap()).unwrap()
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

#[test]
fn keys_and_sizes_are_answered_and_quitting_leaves_the_terminal_as_it_was() {
    let Some(tmux) = Tmux::new() else { skip!("tmux is needed") };
    tmux.watch("--all --interval 500ms");
    let seen = tmux.shows("device q");
    assert!(seen.contains("plimsoll watch") && seen.contains("every 0.5 s"), "{seen}");
    tmux.keys(&["?"]);
    tmux.shows("not yet sent to the device");
    tmux.keys(&["Escape"]);
    tmux.shows_not("not yet sent to the device");
    tmux.keys(&["o"]);
    tmux.shows("by host queue");
    tmux.keys(&["/"]);
    tmux.keys(&["-l", "nosuchdisk"]);
    tmux.shows("no device matches the filter");
    tmux.keys(&["Escape"]);
    tmux.shows_not("no device matches");
    tmux.keys(&["p"]);
    tmux.shows("PAUSED");
    tmux.keys(&["+"]);
    tmux.shows("every 1 s");
    tmux.run(&["resize-window", "-x", "60", "-y", "10"]);
    tmux.shows("plimsoll watch");
    tmux.run(&["resize-window", "-x", "130", "-y", "40"]);
    tmux.shows("trend");
    tmux.keys(&["q"]);
    tmux.ended(0);
}

#[test]
fn signals_end_it_with_130_and_a_clean_terminal() {
    let Some(tmux) = Tmux::new() else { skip!("tmux is needed") };
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
        tmux.watch("--all");
        tmux.signal(signal);
        tmux.ended(130);
        tmux.line("clear; tput rmcup 2>/dev/null");
        tmux.shows_not("ended-");
    }
    tmux.watch("--all");
    tmux.keys(&["C-c"]);
    tmux.ended(130);
}

#[test]
fn it_is_suspended_and_comes_back() {
    let Some(tmux) = Tmux::new() else { skip!("tmux is needed") };
    tmux.line(&format!("{BINARY} watch --all"));
    tmux.shows("q quit");
    tmux.keys(&["C-z"]);
    tmux.shows("Stopped");
    tmux.shows_not("q quit");
    tmux.line("echo still-$((40+2))");
    tmux.shows("still-42");
    tmux.line("fg");
    tmux.shows("q quit");
    // From outside: the shell sees the job stop as after the key.
    tmux.signal(rustix::process::Signal::TSTP);
    tmux.shows("still-42");
    tmux.line("fg");
    tmux.shows("q quit");
    tmux.keys(&["q"]);
    tmux.shows_not("q quit");
}

#[test]
fn without_colours_no_colour_is_sent() {
    let Some(tmux) = Tmux::new() else { skip!("tmux is needed") };
    let colours = |tmux: &Tmux| {
        let text = tmux.run(&["capture-pane", "-p", "-e"]);
        ["\x1b[31m", "\x1b[33m", "\x1b[36m", "[33", "[36"].iter().any(|c| text.contains(c))
    };
    tmux.line(&format!("NO_COLOR=1 {BINARY} watch --all"));
    tmux.shows("device q");
    std::thread::sleep(Duration::from_millis(800));
    assert!(!colours(&tmux));
    tmux.keys(&["q"]);
}

#[test]
fn lines_instead_of_the_screen_where_it_was_asked_for_or_cannot_be() {
    let Some(tmux) = Tmux::new() else { skip!("tmux is needed") };
    tmux.line(&format!("{BINARY} watch --once --all --interval 100ms; echo ended-$?"));
    let seen = tmux.shows("ended-0");
    assert!(seen.contains("mean time, ms") && !seen.contains("q quit"), "{seen}");
    tmux.line(&format!("clear; TERM=dumb {BINARY} watch --count 1 --all --interval 100ms; echo again-$?"));
    tmux.shows("again-0");
}
