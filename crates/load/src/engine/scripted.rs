//! An engine that moves nothing and completes as told: for tests of everything above the engines.

use super::{Completion, Engine, Setup, Wait};
use record::IoClass;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

/// What happens to I/Os, chosen by the setup's seed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Script {
    Complete,
    Hang,
    Fail,
    Short,
}

/// Seed that makes every I/O complete.
pub const COMPLETE: u64 = 0;
/// Seed that makes I/Os hang from the tenth on.
pub const HANG: u64 = 1;
/// Seed that makes every I/O fail.
pub const FAIL: u64 = 2;
/// Seed that makes every I/O come back short.
pub const SHORT: u64 = 3;

/// The engine.
pub struct ScriptedEngine {
    script: Script,
    block_bytes: i32,
    waiting: VecDeque<u32>,
    started: u64,
    buffers: super::Buffers,
}

impl Engine for ScriptedEngine {
    fn new(setup: &Setup, worker: u32) -> io::Result<Self> {
        let script = match setup.seed {
            HANG => Script::Hang,
            FAIL => Script::Fail,
            SHORT => Script::Short,
            _ => Script::Complete,
        };
        Ok(Self {
            script,
            block_bytes: setup.block_bytes as i32,
            waiting: VecDeque::new(),
            started: 0,
            buffers: super::Buffers::new(setup, worker),
        })
    }

    fn reserve(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn queue(&mut self, slot: u32, _: IoClass, _: u64) {
        self.started += 1;
        if self.script != Script::Hang || self.started < 10 {
            self.waiting.push_back(slot);
        }
    }

    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        match wait {
            Wait::Nanoseconds(ns) if self.waiting.is_empty() => std::thread::sleep(Duration::from_nanos(ns)),
            Wait::Completion if self.waiting.is_empty() => std::thread::sleep(Duration::from_secs(3600)),
            _ => std::thread::sleep(Duration::from_micros(200)),
        }
        Ok(())
    }

    fn reap(&mut self, into: &mut [Completion]) -> usize {
        let result = match self.script {
            Script::Fail => -libc::EIO,
            Script::Short => 0,
            _ => self.block_bytes,
        };
        let mut taken = 0;
        while let (Some(to), Some(&slot)) = (into.get_mut(taken), self.waiting.front()) {
            *to = Completion { slot, result };
            self.waiting.pop_front();
            taken += 1;
        }
        taken
    }

    fn notes(&self) -> &[String] {
        &[]
    }

    fn buffers(&self) -> &super::Buffers {
        &self.buffers
    }
}
