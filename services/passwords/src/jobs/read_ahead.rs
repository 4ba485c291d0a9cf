//! Merges several sorted inputs, each of which is read ahead on its own thread.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use anyhow::{anyhow, bail};

use super::tally::Tally;
use crate::model::{CountMerge, Entry, merge_sorted};

/// Maximum number of inputs to merge at once.
pub const MOST: usize = 64;

/// A sorted input that is read ahead by one batch.
pub struct ReadAhead {
    batches: Receiver<anyhow::Result<Event>>,
    batch: Vec<Entry>,
    at: usize,
    /// The totals, available once the whole input has been read.
    end: Option<Tally>,
}

enum Event {
    Batch(Vec<Entry>),
    End(Tally),
}

impl ReadAhead {
    /// Starts reading on a separate thread. `read` passes the entries of complete prefixes to its
    /// argument, in ascending order.
    pub fn start<'scope, R>(scope: &'scope Scope<'scope, '_>, read: R) -> Self
    where
        R: FnOnce(&mut dyn FnMut(Vec<Entry>) -> anyhow::Result<()>) -> anyhow::Result<Tally>
            + Send
            + 'scope,
    {
        let (sender, batches) = sync_channel(1);
        scope.spawn(move || {
            let mut send = |batch| {
                sender.send(Ok(Event::Batch(batch))).map_err(|_| anyhow!("the merge has ended"))
            };
            let outcome = read(&mut send);
            let _ = sender.send(outcome.map(Event::End));
        });
        Self { batches, batch: Vec::new(), at: 0, end: None }
    }

    /// Returns the next prefix to be merged, or `None` at the end of the input.
    fn prefix(&mut self) -> anyhow::Result<Option<u32>> {
        while self.at == self.batch.len() {
            if self.end.is_some() {
                return Ok(None);
            }
            match self.batches.recv() {
                Ok(Ok(Event::Batch(batch))) => (self.batch, self.at) = (batch, 0),
                Ok(Ok(Event::End(tally))) => self.end = Some(tally),
                Ok(Err(error)) => return Err(error),
                // If the channel is closed without totals, the thread has panicked.
                Err(_) => bail!("a reading thread stopped early"),
            }
        }
        Ok(self.batch.get(self.at).map(Entry::prefix))
    }

    fn take(&mut self, prefix: u32) -> &[Entry] {
        let begin = self.at;
        let length =
            self.batch[begin..].iter().take_while(|entry| entry.prefix() == prefix).count();
        self.at = begin + length;
        &self.batch[begin..self.at]
    }
}

/// Merges all inputs prefix by prefix. Within a prefix, inputs are merged in the order given.
///
/// # Errors
/// Returns any error from an input or from `consume`.
pub fn merge(
    mut inputs: Vec<ReadAhead>,
    merge: CountMerge,
    mut consume: impl FnMut(Vec<Entry>) -> anyhow::Result<()>,
) -> anyhow::Result<Tally> {
    loop {
        let mut least = None;
        for input in &mut inputs {
            if let Some(prefix) = input.prefix()? {
                least = Some(least.map_or(prefix, |least: u32| least.min(prefix)));
            }
        }
        let Some(least) = least else { break };
        let mut merged: Vec<Entry> = Vec::new();
        for input in &mut inputs {
            let entries = input.take(least);
            if merged.is_empty() {
                merged.extend_from_slice(entries);
            } else if !entries.is_empty() {
                merged = merge_sorted(&merged, entries, merge);
            }
        }
        consume(merged)?;
    }
    let mut total = Tally::default();
    for input in inputs {
        total.add(input.end.unwrap_or_default());
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(end: impl FnOnce(usize) -> anyhow::Result<Tally> + Send) -> anyhow::Result<usize> {
        let mut count = 0;
        std::thread::scope(|scope| {
            let input = ReadAhead::start(scope, move |send| {
                let entry = |first| Entry { hash: [first; 20], count: 1 };
                (1..4).try_for_each(|first| send(vec![entry(first)]))?;
                end(3)
            });
            merge(vec![input], CountMerge::Sum, |entries| {
                count += entries.len();
                Ok(())
            })
        })?;
        Ok(count)
    }

    #[test]
    fn input_whose_thread_dies_is_incomplete() {
        assert_eq!(read(|_| Ok(Tally::default())).unwrap(), 3);
        assert!(read(|_| Err(anyhow!("torn"))).is_err());
        let (sender, batches) = sync_channel(1);
        sender.send(Ok(Event::Batch(vec![Entry { hash: [1; 20], count: 1 }]))).unwrap();
        drop(sender);
        let input = ReadAhead { batches, batch: Vec::new(), at: 0, end: None };
        assert!(merge(vec![input], CountMerge::Sum, |_| Ok(())).is_err());
    }
}
