//! A worker pool whose results arrive in input order.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::anyhow;
use parking_lot::Mutex;

type Job<I> = (u64, I);
type Done<T> = (u64, anyhow::Result<T>);

/// The size of a worker pool.
#[derive(Clone, Copy, Debug)]
pub struct WorkerPool {
    /// Number of worker threads, not counting the producer thread and the calling thread, which
    /// consumes the results.
    pub threads: usize,
    /// Maximum number of items that have been produced but not yet consumed, which limits memory
    /// usage.
    pub window: usize,
}

impl WorkerPool {
    /// Creates a pool of `threads` with some slack between the producer and the consumer.
    pub fn of(threads: usize) -> Self {
        Self { threads: threads.max(1), window: 2 * threads.max(1) + 2 }
    }
}

/// Produces items on one thread, processes them on several, and consumes the results in order on
/// the calling thread.
///
/// # Errors
/// Returns the first error from `consume`, from `work` in item order, or from `produce`. Nothing
/// more is produced after an error.
pub fn in_order<I: Send, T: Send>(
    pool: WorkerPool,
    produce: impl FnMut() -> anyhow::Result<Option<I>> + Send,
    work: impl Fn(I) -> anyhow::Result<T> + Sync,
    consume: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (tokens, granted) = channel();
    let (jobs, queue) = channel();
    let (done, results) = channel();
    let queue = Mutex::new(queue);
    for _ in 0..pool.window.max(1) {
        let _ = tokens.send(());
    }
    thread::scope(|scope| {
        let producer = scope.spawn(move || produce_all(produce, &granted, &jobs));
        for _ in 0..pool.threads.max(1) {
            let done = done.clone();
            let (queue, work) = (&queue, &work);
            scope.spawn(move || work_all(queue, work, &done));
        }
        drop(done);
        let consumed = consume_all(results, tokens, consume);
        let produced =
            producer.join().unwrap_or_else(|_| Err(anyhow!("a reading thread stopped early")));
        consumed.and(produced)
    })
}

fn produce_all<I>(
    mut produce: impl FnMut() -> anyhow::Result<Option<I>>,
    granted: &Receiver<()>,
    jobs: &Sender<Job<I>>,
) -> anyhow::Result<()> {
    let mut number = 0;
    while granted.recv().is_ok() {
        let Some(item) = produce()? else { break };
        if jobs.send((number, item)).is_err() {
            break;
        }
        number += 1;
    }
    Ok(())
}

fn work_all<I, T>(
    queue: &Mutex<Receiver<Job<I>>>,
    work: &impl Fn(I) -> anyhow::Result<T>,
    done: &Sender<Done<T>>,
) {
    loop {
        let job = queue.lock().recv();
        let Ok((number, item)) = job else { return };
        // Every item must get a result, or the consumer would wait forever.
        let result = catch_unwind(AssertUnwindSafe(|| work(item)))
            .unwrap_or_else(|_| Err(anyhow!("a worker thread panicked")));
        if done.send((number, result)).is_err() {
            return;
        }
    }
}

fn consume_all<T>(
    results: Receiver<Done<T>>,
    tokens: Sender<()>,
    mut consume: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (number, result) in &results {
        early.insert(number, result);
        while let Some(result) = early.remove(&next) {
            consume(result?)?;
            next += 1;
            let _ = tokens.send(());
        }
    }
    if early.is_empty() { Ok(()) } else { Err(anyhow!("a worker thread stopped early")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(last: u32) -> impl FnMut() -> anyhow::Result<Option<u32>> {
        let mut next = 0;
        move || {
            next += 1;
            Ok((next <= last).then_some(next))
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let mut seen = Vec::new();
        let work = |n: u32| {
            (0..n % 7).for_each(|_| thread::yield_now());
            Ok(n)
        };
        in_order(WorkerPool::of(3), numbers(500), work, |n| {
            seen.push(n);
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, (1..=500).collect::<Vec<_>>());
    }

    #[test]
    fn error_in_any_thread_stops_all_work() {
        let failing = |n: u32| if n == 40 { Err(anyhow!("forty")) } else { Ok(n) };
        let endless = || numbers(u32::MAX);
        let error = in_order(WorkerPool::of(2), endless(), failing, |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "forty");
        let full = |n| if n == 9 { Err(anyhow!("full")) } else { Ok(()) };
        let error = in_order(WorkerPool::of(2), endless(), Ok, full).unwrap_err();
        assert_eq!(error.to_string(), "full");
        let mut calls = 0;
        let cut = move || {
            calls += 1;
            if calls > 3 { Err(anyhow!("cut")) } else { Ok(Some(1)) }
        };
        assert_eq!(
            in_order(WorkerPool::of(2), cut, Ok, |_| Ok(())).unwrap_err().to_string(),
            "cut"
        );
    }

    #[test]
    fn panic_in_a_thread_is_an_error_and_does_not_hang() {
        let work = |n: u32| {
            assert!(n != 3, "three");
            Ok(n)
        };
        let error = in_order(WorkerPool::of(2), numbers(u32::MAX), work, |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "a worker thread panicked");
    }

    #[test]
    fn items_in_progress_are_limited() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut left = 100;
        let produce = || {
            left -= 1;
            let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            Ok((left > 0).then_some(left))
        };
        in_order(WorkerPool { threads: 2, window: 3 }, produce, Ok, |_| {
            under_way.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        })
        .unwrap();
        assert!(most.into_inner() <= 4);
    }
}
