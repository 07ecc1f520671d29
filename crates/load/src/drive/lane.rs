//! One worker's slots: what each holds, and what to do when it completes.

use super::meter::{Control, Meter};
use crate::engine::{Completion, Engine};
use crate::workload::{Picker, SyncMode};
use record::{Arrival, IoClass};
use std::io;

/// This worker's part of the demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaneDemand {
    /// Keep this many I/Os outstanding.
    Closed {
        /// How many.
        slots: u32,
    },
    /// Start I/Os when they are due.
    Open {
        /// Arrivals per second of this worker.
        rate_iops: f64,
        /// Their spacing.
        arrival: Arrival,
        /// The most outstanding.
        slots: u32,
        /// First arrival, as a share of the mean gap, so that workers take turns when gaps are constant.
        phase: f64,
    },
}

impl LaneDemand {
    /// Slots needed.
    pub fn slots(&self) -> u32 {
        match *self {
            Self::Closed { slots } | Self::Open { slots, .. } => slots,
        }
    }
}

/// One slot's I/O.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Start of the I/O (its due time in an open loop).
    start_ns: u64,
    /// Start of its fdatasync.
    flush_start_ns: u64,
    offset: u64,
    class: IoClass,
}

/// What became of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The slot is free.
    Free,
    /// The slot goes on with the flush of its write.
    Flushing,
}

/// An engine at work for one step.
pub struct Lane<'a, E> {
    /// The engine.
    pub engine: &'a mut E,
    /// Counts.
    pub meter: Meter<'a>,
    /// Shared by the step's workers.
    pub control: &'a Control,
    picker: Picker,
    sync: SyncMode,
    block_bytes: i32,
    slots: Vec<Slot>,
    /// Room for one batch of completions.
    pub done: Vec<Completion>,
}

impl<'a, E: Engine> Lane<'a, E> {
    /// A lane with `slots` slots, all free. The engine has them reserved.
    pub fn new(
        engine: &'a mut E,
        meter: Meter<'a>,
        control: &'a Control,
        picker: Picker,
        sync: SyncMode,
        block_bytes: u64,
        slots: u32,
    ) -> Self {
        let free = Slot { start_ns: 0, flush_start_ns: 0, offset: 0, class: IoClass::Read };
        Self {
            engine,
            meter,
            control,
            picker,
            sync,
            block_bytes: block_bytes as i32,
            slots: vec![free; slots as usize],
            done: vec![Completion::default(); slots as usize],
        }
    }

    /// Queues the next I/O in a free slot, as started at `start_ns`.
    #[inline]
    pub fn issue(&mut self, slot: u32, start_ns: u64) {
        let next = self.picker.next_io();
        let state = &mut self.slots[slot as usize];
        state.start_ns = start_ns;
        state.class = next.class;
        state.offset = next.offset;
        self.engine.queue(slot, next.class, next.offset);
    }

    /// Counts a completion seen at `now_ns`.
    #[inline]
    pub fn complete(&mut self, completion: Completion, now_ns: u64) -> After {
        let slot = self.slots[completion.slot as usize];
        let expected = if slot.class == IoClass::Flush { 0 } else { self.block_bytes };
        if completion.result != expected {
            self.fail(slot, completion.result);
            return After::Free;
        }
        match (slot.class, self.sync) {
            (IoClass::Write, SyncMode::Fdatasync) => {
                let state = &mut self.slots[completion.slot as usize];
                state.class = IoClass::Flush;
                state.flush_start_ns = now_ns;
                self.engine.queue(completion.slot, IoClass::Flush, 0);
                return After::Flushing;
            }
            (IoClass::Flush, _) => {
                self.meter.record(IoClass::Flush, now_ns.saturating_sub(slot.flush_start_ns));
                self.meter.record(IoClass::Write, now_ns.saturating_sub(slot.start_ns));
            }
            (IoClass::Write, SyncMode::Dsync) => {
                let latency_ns = now_ns.saturating_sub(slot.start_ns);
                self.meter.record(IoClass::Flush, latency_ns);
                self.meter.record(IoClass::Write, latency_ns);
            }
            (class, _) => self.meter.record(class, now_ns.saturating_sub(slot.start_ns)),
        }
        After::Free
    }

    #[cold]
    fn fail(&mut self, slot: Slot, result: i32) {
        if result < 0 {
            self.meter.record_error(slot.class, -result, slot.offset);
        } else {
            self.meter.record_short(slot.class, result as u32, self.block_bytes as u32, slot.offset);
        }
    }

    /// Of a closed loop, where every slot is in flight: I/Os passed over in the window, and how long they waited in it, ns.
    /// None after a window that was cut short.
    pub fn starved(&self) -> (u64, u64) {
        let Some((start_ns, end_ns)) = self.meter.window_over_ns() else { return (0, 0) };
        let waited = self.slots.iter().map(|slot| end_ns.saturating_sub(slot.start_ns.max(start_ns)));
        let half_ns = end_ns.saturating_sub(start_ns) / 2;
        waited.filter(|ns| *ns >= half_ns).fold((0, 0), |(ios, sum_ns), ns| (ios + 1, sum_ns + ns))
    }

    /// Takes what is in flight until nothing is, starting nothing but the flushes of writes.
    pub fn drain(&mut self, mut in_flight: u32, note_in_flight: impl Fn(u32)) -> io::Result<()> {
        while in_flight > 0 {
            note_in_flight(in_flight);
            self.engine.enter(crate::engine::Wait::Completion)?;
            let taken = self.engine.reap(&mut self.done);
            let now_ns = crate::clock::now_ns();
            for i in 0..taken {
                let completion = self.done[i];
                if self.complete(completion, now_ns) == After::Free {
                    in_flight -= 1;
                }
            }
        }
        note_in_flight(0);
        self.meter.drained();
        Ok(())
    }
}
