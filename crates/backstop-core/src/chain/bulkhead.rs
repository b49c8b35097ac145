//! How much is under way at a target, and how much may be.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Counts what is under way, and the most that ever was.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    pub(crate) fn enter(self: &Arc<Self>) -> Counted {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        Counted(Arc::clone(self))
    }

    pub(crate) fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// One of those that a gauge counts, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted(Arc<Gauge>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Keeps a slow target from taking up every caller: at most so many attempts at once.
#[derive(Debug)]
pub(crate) struct Bulkhead {
    places: Arc<Semaphore>,
    size: usize,
    waiting: Arc<Gauge>,
}

/// A place in a bulkhead, until it is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

impl Bulkhead {
    pub(crate) fn new(size: usize) -> Self {
        let places = Arc::new(Semaphore::new(size.min(Semaphore::MAX_PERMITS)));
        Self { places, size, waiting: Arc::default() }
    }

    /// A place if there is one, without waiting and without pushing in front of those who wait.
    pub(crate) fn try_enter(&self) -> Option<Place> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Waits for a place, in the order of coming.
    pub(crate) async fn enter(&self, wait: Duration) -> Option<Place> {
        if wait.is_zero() {
            return None;
        }
        let _waiting = self.waiting.enter();
        timeout(wait, Arc::clone(&self.places).acquire_owned()).await.ok()?.ok()
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.now()
    }
}
