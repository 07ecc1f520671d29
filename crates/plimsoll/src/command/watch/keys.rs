//! Keys to what they ask for.

use ::report::watch::screen::Action;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Something of the screen.
    Screen(Action),
    /// Quit.
    Quit,
    /// Interrupt (Ctrl-C).
    Interrupt,
    /// Be suspended (Ctrl-Z).
    Suspend,
    /// Draw everything anew (Ctrl-L).
    Redraw,
}

/// `typing`: letters belong to the filter.
pub fn asked(key: KeyEvent, typing: bool) -> Option<Asked> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Asked::Interrupt),
            KeyCode::Char('z') => Some(Asked::Suspend),
            KeyCode::Char('l') => Some(Asked::Redraw),
            _ => None,
        };
    }
    let action = match key.code {
        KeyCode::Up => Action::Up,
        KeyCode::Down => Action::Down,
        KeyCode::PageUp => Action::PageUp,
        KeyCode::PageDown => Action::PageDown,
        KeyCode::Home => Action::First,
        KeyCode::End => Action::Last,
        KeyCode::Esc => Action::Escape,
        KeyCode::Backspace => Action::Erase,
        KeyCode::Enter if typing => Action::Accept,
        KeyCode::Char(c) if typing => Action::Letter(c),
        KeyCode::Char('q') => return Some(Asked::Quit),
        KeyCode::Enter | KeyCode::Right | KeyCode::Left => Action::Expand,
        KeyCode::Char('e') => Action::ExpandAll,
        KeyCode::Char('o' | 's') => Action::Order,
        KeyCode::Char('/' | 'f') => Action::Filter,
        KeyCode::Char('p' | ' ') => Action::Pause,
        KeyCode::Char('+' | '=') => Action::Slower,
        KeyCode::Char('-') => Action::Faster,
        KeyCode::Char('u') => Action::Unused,
        KeyCode::Char('?' | 'h') => Action::Help,
        KeyCode::Char('k') => Action::Up,
        KeyCode::Char('j') => Action::Down,
        _ => return None,
    };
    Some(Asked::Screen(action))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn letters_are_commands_until_a_filter_is_typed() {
        let q = key(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(asked(q, false), Some(Asked::Quit));
        assert_eq!(asked(q, true), Some(Asked::Screen(Action::Letter('q'))));
        let enter = key(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(asked(enter, false), Some(Asked::Screen(Action::Expand)));
        assert_eq!(asked(enter, true), Some(Asked::Screen(Action::Accept)));
    }

    #[test]
    fn control_c_interrupts_even_while_typing() {
        let c = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!((asked(c, false), asked(c, true)), (Some(Asked::Interrupt), Some(Asked::Interrupt)));
    }
}
