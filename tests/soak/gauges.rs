//! What a process holds: memory, file descriptors, tasks.

use std::{fmt, fs, time::Duration};

use tokio::runtime::Handle;

/// Read from the system where it tells (Linux), else 0.
pub(crate) struct Gauges {
    memory_kib: u64,
    files: usize,
    tasks: usize,
}

impl Gauges {
    pub(crate) fn read(runtime: &Handle) -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory_kib = memory.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
        Self {
            memory_kib: memory_kib.unwrap_or(0),
            files: fs::read_dir("/proc/self/fd").map_or(0, Iterator::count),
            tasks: runtime.metrics().num_alive_tasks(),
        }
    }

    /// Reads when nothing is left over, or after a while: closing a connection takes its task some turns.
    pub(crate) async fn settle(runtime: &Handle, before: &Self) -> Self {
        for _ in 0..50 {
            let now = Self::read(runtime);
            if now.left_over(before).is_empty() {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Self::read(runtime)
    }

    /// What has grown between two moments under the same load. An eighth and 8 MiB are the allocator's play; a leak
    /// of 100 bytes a call is more than that within minutes.
    pub(crate) fn grown_since(&self, warm: &Self) -> Vec<String> {
        let most = warm.memory_kib + warm.memory_kib / 8 + 8 * 1024;
        let mut faults = Vec::new();
        faults.extend((self.memory_kib > most).then(|| format!("memory grew to {} KiB", self.memory_kib)));
        // Between the two readings connections come and go: as many as calls may be in flight, at most.
        let files = warm.files + super::IN_FLIGHT;
        faults.extend((self.files > files).then(|| format!("{} file descriptors are open", self.files)));
        faults
    }

    /// What should have gone with the chain.
    pub(crate) fn left_over(&self, before: &Self) -> Vec<String> {
        let mut faults = Vec::new();
        faults.extend((self.tasks > before.tasks).then(|| format!("{} tasks are left", self.tasks)));
        faults
            .extend((self.files > before.files).then(|| format!("{} file descriptors are left", self.files)));
        faults
    }
}

impl fmt::Display for Gauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory_kib, files, tasks } = self;
        write!(f, "{memory_kib:>8} KiB  {files:>4} file descriptors  {tasks:>4} tasks")
    }
}
