//! The places of the probes that are under way while a circuit is half-open.

/// At most `places` probes, each with a lease. Times are nanoseconds since the breaker's origin.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    places: usize,
    lease: u64,
    /// Never used twice, so that a probe whose place was given away cannot speak for the one who has it now.
    next: u64,
    running: Vec<Probe>,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    id: u64,
    /// When its lease began or was last renewed.
    since: u64,
}

impl Probes {
    pub(super) fn new(places: usize, lease: u64) -> Self {
        Self { places, lease, next: 0, running: Vec::new() }
    }

    pub(super) fn lease(&self) -> u64 {
        self.lease
    }

    /// Never shortens it.
    pub(super) fn lease_at_least(&mut self, lease: u64) {
        self.lease = self.lease.max(lease);
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Takes the places of probes that were not heard of for a whole lease; how many they were.
    pub(super) fn expire(&mut self, now: u64) -> u64 {
        let before = self.running.len();
        for probe in &mut self.running {
            // A lease from the future means the clock went back: begin it anew, or it would last that much longer.
            probe.since = probe.since.min(now);
        }
        self.running.retain(|probe| now - probe.since < self.lease);
        (before - self.running.len()) as u64
    }

    /// How long until a place becomes free if nobody reports back; `None` if one is free.
    pub(super) fn wait(&self, now: u64) -> Option<u64> {
        let left = |probe: &Probe| self.lease.saturating_sub(now.saturating_sub(probe.since));
        if self.running.iter().filter(|probe| left(probe) > 0).count() < self.places {
            return None;
        }
        self.running.iter().map(left).min()
    }

    /// Gives a place; the caller has seen that one is free.
    pub(super) fn start(&mut self, now: u64) -> u64 {
        let id = self.next;
        self.next += 1;
        self.running.push(Probe { id, since: now });
        id
    }

    /// Frees a place; false if the probe no longer had one.
    pub(super) fn finish(&mut self, id: u64) -> bool {
        let before = self.running.len();
        self.running.retain(|probe| probe.id != id);
        self.running.len() < before
    }

    /// Begins a probe's lease anew, if it still has one.
    pub(super) fn renew(&mut self, id: u64, now: u64) {
        if let Some(probe) = self.running.iter_mut().find(|probe| probe.id == id) {
            probe.since = probe.since.max(now);
        }
    }

    pub(super) fn clear(&mut self) {
        self.running.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_probe_reports_or_its_lease_ends() {
        let mut probes = Probes::new(2, 10);
        let (first, second) = (probes.start(0), probes.start(4));
        assert_eq!(probes.wait(5), Some(5));
        assert!(probes.finish(first));
        assert!(!probes.finish(first), "a place is freed once");
        assert_eq!(probes.wait(5), None);
        assert_eq!(probes.expire(13), 0);
        assert_eq!(probes.expire(14), 1);
        assert!(!probes.finish(second));
    }

    #[test]
    fn renewing_extends_and_never_shortens() {
        let mut probes = Probes::new(1, 10);
        let id = probes.start(5);
        probes.renew(id, 12);
        probes.renew(id, 3);
        assert_eq!(probes.wait(15), Some(7));
        assert_eq!(probes.expire(22), 1);
        probes.renew(id, 23);
        assert_eq!(probes.running(), 0, "what is lost stays lost");
    }

    #[test]
    fn a_lease_from_the_future_is_not_longer_than_a_lease() {
        let mut probes = Probes::new(1, 10);
        probes.start(1_000);
        assert_eq!(probes.expire(0), 0);
        assert_eq!(probes.expire(10), 1);
    }
}
