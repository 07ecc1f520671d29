//! What was measured, each with its one unit.

use serde::{Deserialize, Serialize};

macro_rules! quantities {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A measured quantity. Its unit stands in its name; readers convert to it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Quantity {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl Quantity {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name, with the unit.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

quantities! {
    // Block devices, paths, volumes, adapters: rates.
    /// Reads completed per second.
    ReadIops = "read_iops",
    /// Writes completed per second.
    WriteIops = "write_iops",
    /// Discards completed per second.
    DiscardIops = "discard_iops",
    /// Flushes completed per second.
    FlushIops = "flush_iops",
    /// I/Os completed per second, of all classes that the tool counts as transfers.
    Iops = "iops",
    /// Bytes read per second.
    ReadBytesPerS = "read_bytes_per_s",
    /// Bytes written per second.
    WriteBytesPerS = "write_bytes_per_s",
    /// Bytes discarded per second.
    DiscardBytesPerS = "discard_bytes_per_s",
    /// Bytes per second, all classes together.
    BytesPerS = "bytes_per_s",
    /// Reads merged into others per second.
    ReadMergesPerS = "read_merges_per_s",
    /// Writes merged into others per second.
    WriteMergesPerS = "write_merges_per_s",
    /// Discards merged into others per second.
    DiscardMergesPerS = "discard_merges_per_s",
    /// Reads and writes merged per second, told together.
    MergesPerS = "merges_per_s",

    // Sizes.
    /// Mean bytes of a read.
    ReadSizeBytes = "read_size_bytes",
    /// Mean bytes of a write.
    WriteSizeBytes = "write_size_bytes",
    /// Mean bytes of a discard.
    DiscardSizeBytes = "discard_size_bytes",
    /// Mean bytes of an I/O; of one request in a trace.
    RequestBytes = "request_bytes",

    // Queues: numbers of I/Os.
    /// Mean number in host queue and device together (Linux `aqu-sz`, Solaris sar `avque`).
    Outstanding = "outstanding",
    /// Mean number in the host queue (Solaris `wait`, AIX `avgwqsz`).
    HostQueue = "host_queue",
    /// Mean number sent to the device and not completed (Solaris `actv`, AIX `avgsqsz`).
    DeviceQueue = "device_queue",
    /// Number outstanding at one instant (FreeBSD `qlen`, `L(q)`): no mean.
    OutstandingInstant = "outstanding_instant",
    /// Queue as HP-UX sar prints it: conditioned on busy time, and no time mean.
    QueueWhenBusy = "queue_when_busy",

    // Times per I/O, microseconds.
    /// Mean from acceptance by the host to completion: host wait and service.
    ResponseUs = "response_us",
    /// The same of reads.
    ReadResponseUs = "read_response_us",
    /// The same of writes.
    WriteResponseUs = "write_response_us",
    /// The same of discards.
    DiscardResponseUs = "discard_response_us",
    /// The same of flushes.
    FlushResponseUs = "flush_response_us",
    /// Mean time in the host queue.
    HostWaitUs = "host_wait_us",
    /// Mean time in the host queue of those I/Os that waited at all (AIX sar `avwait`).
    HostWaitOfWaitersUs = "host_wait_of_waiters_us",
    /// Shortest time in the host queue.
    HostWaitMinUs = "host_wait_min_us",
    /// Longest time in the host queue.
    HostWaitMaxUs = "host_wait_max_us",
    /// Mean time at the device, queueing inside it included (Solaris `asvc_t`, AIX `avgserv`).
    ServiceUs = "service_us",
    /// The same of reads.
    ReadServiceUs = "read_service_us",
    /// Shortest of reads.
    ReadServiceMinUs = "read_service_min_us",
    /// Longest of reads.
    ReadServiceMaxUs = "read_service_max_us",
    /// Mean time at the device of writes.
    WriteServiceUs = "write_service_us",
    /// Shortest of writes.
    WriteServiceMinUs = "write_service_min_us",
    /// Longest of writes.
    WriteServiceMaxUs = "write_service_max_us",
    /// Shortest response.
    ResponseMinUs = "response_min_us",
    /// Half of the responses were at most this.
    ResponseP50Us = "response_p50_us",
    /// 95 % of the responses were at most this.
    ResponseP95Us = "response_p95_us",
    /// 99 % of the responses were at most this.
    ResponseP99Us = "response_p99_us",
    /// 99.9 % of the responses were at most this.
    ResponseP999Us = "response_p999_us",
    /// Longest response.
    ResponseMaxUs = "response_max_us",
    /// Time from the application's call to submission (fio `slat`).
    SubmitUs = "submit_us",

    // Shares of time, percent.
    /// Share of time with at least one I/O outstanding. Says nothing about what more a device could do.
    BusyPercent = "busy_percent",
    /// Share of time with at least one I/O in the host queue (Solaris `%w`).
    HostQueueBusyPercent = "host_queue_busy_percent",

    // Trouble, as rates or counts of the interval.
    /// Times per second that the device queue was full when an I/O came (AIX `sqfull`).
    QueueFullPerS = "queue_full_per_s",
    /// I/Os that timed out in the interval.
    Timeouts = "timeouts",
    /// I/Os that failed in the interval.
    Failures = "failures",

    // Totals of the row's interval, or since boot.
    /// Reads.
    Reads = "reads",
    /// Writes.
    Writes = "writes",
    /// Discards.
    Discards = "discards",
    /// Flushes.
    Flushes = "flushes",
    /// I/Os.
    Ios = "ios",
    /// Bytes read.
    ReadBytes = "read_bytes",
    /// Bytes written.
    WriteBytes = "write_bytes",
    /// Bytes discarded.
    DiscardBytes = "discard_bytes",
    /// Reads merged.
    ReadMerges = "read_merges",
    /// Writes merged.
    WriteMerges = "write_merges",
    /// Discards merged.
    DiscardMerges = "discard_merges",
    /// Time that reads took, summed, seconds.
    ReadTimeS = "read_time_s",
    /// Time that writes took, summed.
    WriteTimeS = "write_time_s",
    /// Time that discards took, summed.
    DiscardTimeS = "discard_time_s",
    /// Time that flushes took, summed.
    FlushTimeS = "flush_time_s",
    /// Time with at least one I/O outstanding (`io_ticks`).
    BusyTimeS = "busy_time_s",
    /// I/Os outstanding times seconds (`weighted time`): its rate is the mean number outstanding.
    WeightedTimeS = "weighted_time_s",

    // Processors.
    /// User time, nice included where the tool does not tell them apart.
    CpuUserPercent = "cpu_user_percent",
    /// Niced user time.
    CpuNicePercent = "cpu_nice_percent",
    /// System time.
    CpuSystemPercent = "cpu_system_percent",
    /// Idle with a disk request of one of its tasks pending: idle, not load.
    CpuIowaitPercent = "cpu_iowait_percent",
    /// Hard interrupts.
    CpuIrqPercent = "cpu_irq_percent",
    /// Soft interrupts.
    CpuSoftirqPercent = "cpu_softirq_percent",
    /// Taken by the hypervisor for others.
    CpuStealPercent = "cpu_steal_percent",
    /// Running guests.
    CpuGuestPercent = "cpu_guest_percent",
    /// Idle.
    CpuIdlePercent = "cpu_idle_percent",

    // Host: run queue, memory, switches.
    /// Tasks that run or could run.
    RunQueue = "run_queue",
    /// Tasks in uninterruptible sleep, mostly for I/O.
    BlockedTasks = "blocked_tasks",
    /// Load average of one minute.
    Load1 = "load1",
    /// Interrupts per second.
    InterruptsPerS = "interrupts_per_s",
    /// Context switches per second.
    SwitchesPerS = "switches_per_s",
    /// Free memory.
    FreeBytes = "free_bytes",
    /// Memory in caches and buffers.
    CacheBytes = "cache_bytes",
    /// Swap in use.
    SwapUsedBytes = "swap_used_bytes",
    /// Swapped in per second.
    SwapInBytesPerS = "swap_in_bytes_per_s",
    /// Swapped out per second.
    SwapOutBytesPerS = "swap_out_bytes_per_s",
    /// Paged in per second, files included.
    PageInBytesPerS = "page_in_bytes_per_s",
    /// Paged out per second, files included.
    PageOutBytesPerS = "page_out_bytes_per_s",
    /// Pages scanned for reclaim per second.
    PagesScannedPerS = "pages_scanned_per_s",
    /// Page faults per second that needed a disk.
    MajorFaultsPerS = "major_faults_per_s",
    /// Page faults per second.
    FaultsPerS = "faults_per_s",
    /// Pages swapped in per second, where their size is not told.
    SwapInPagesPerS = "swap_in_pages_per_s",
    /// Pages swapped out per second, where their size is not told.
    SwapOutPagesPerS = "swap_out_pages_per_s",

    // Processes and calls.
    /// Bytes of a call or mapping.
    CallBytes = "call_bytes",
    /// Time of a call.
    CallUs = "call_us",
    /// Calls counted.
    Calls = "calls",
    /// Written and then dropped before it reached storage.
    CancelledBytesPerS = "cancelled_bytes_per_s",
    /// Time a process waited for block I/O in the interval.
    IoDelayS = "io_delay_s",
    /// Size of a mapping.
    MappedBytes = "mapped_bytes",
    /// Of it, in memory.
    ResidentBytes = "resident_bytes",
    /// Page size that backs it, or that was asked for.
    PageBytes = "page_bytes",
    /// Of it, backed by transparent huge pages.
    HugeBytes = "huge_bytes",

    // Databases.
    /// Waits of an event.
    Waits = "waits",
    /// Time of those waits, summed, seconds.
    WaitTimeS = "wait_time_s",
    /// Mean wait.
    WaitUs = "wait_us",
    /// Share of the database's time.
    DatabaseTimePercent = "database_time_percent",
    /// Time of all sessions in calls, per second: mean number of active sessions.
    ActiveSessions = "active_sessions",
    /// Processor time of sessions per second.
    DatabaseCpuPerS = "database_cpu_per_s",
    /// Bytes of redo per second.
    RedoBytesPerS = "redo_bytes_per_s",
    /// Blocks read from the cache per second.
    LogicalReadsPerS = "logical_reads_per_s",
    /// Blocks read from storage per second.
    PhysicalReadBlocksPerS = "physical_read_blocks_per_s",
    /// Blocks written to storage per second.
    PhysicalWriteBlocksPerS = "physical_write_blocks_per_s",
    /// Transactions per second.
    TransactionsPerS = "transactions_per_s",
    /// Executions per second.
    ExecutionsPerS = "executions_per_s",
    /// User calls per second.
    UserCallsPerS = "user_calls_per_s",
    /// Mean blocks of a read.
    BlocksPerRead = "blocks_per_read",
    /// Waits for a busy buffer.
    BufferWaits = "buffer_waits",

    // Load generators.
    /// I/Os kept outstanding, as asked.
    Concurrency = "concurrency",
    /// Large I/Os kept outstanding, as asked (Orion).
    LargeConcurrency = "large_concurrency",
    /// Processor time per I/O.
    CpuUsPerIo = "cpu_us_per_io",
    /// Half of the reads took at most this from submission to completion.
    ReadResponseP50Us = "read_response_p50_us",
    /// 95 % of the reads took at most this from submission to completion.
    ReadResponseP95Us = "read_response_p95_us",
    /// 99 % of the reads took at most this from submission to completion.
    ReadResponseP99Us = "read_response_p99_us",
    /// 99.9 % of the reads took at most this from submission to completion.
    ReadResponseP999Us = "read_response_p999_us",
    /// Longest response of a read.
    ReadResponseMaxUs = "read_response_max_us",
    /// Half of the writes took at most this from submission to completion.
    WriteResponseP50Us = "write_response_p50_us",
    /// 95 % of the writes took at most this from submission to completion.
    WriteResponseP95Us = "write_response_p95_us",
    /// 99 % of the writes took at most this from submission to completion.
    WriteResponseP99Us = "write_response_p99_us",
    /// 99.9 % of the writes took at most this from submission to completion.
    WriteResponseP999Us = "write_response_p999_us",
    /// Longest response of a write.
    WriteResponseMaxUs = "write_response_max_us",

    // Traces: one request.
    /// First byte on the device.
    OffsetBytes = "offset_bytes",
    /// 1 for a write, 0 for a read.
    IsWrite = "is_write",

    // Space.
    /// Capacity.
    CapacityBytes = "capacity_bytes",
    /// Of it, in use.
    UsedBytes = "used_bytes",
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_name_is_its_own_and_in_snake_case() {
        let names: HashSet<&str> = Quantity::ALL.iter().map(|q| q.name()).collect();
        assert_eq!(names.len(), Quantity::ALL.len());
        let is_plain =
            |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        assert!(names.iter().all(|name| is_plain(name)));
    }
}
