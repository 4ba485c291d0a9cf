//! Several ordered inputs at once: each is read ahead on its own thread.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use anyhow::anyhow;

use super::tally::Tally;
use crate::model::{CountMerge, Entry, merge_sorted};

/// The most inputs that are merged at once.
pub const MOST: usize = 64;

/// One ordered input, read ahead by a batch.
pub struct ReadAhead {
    batches: Receiver<anyhow::Result<Event>>,
    batch: Vec<Entry>,
    at: usize,
    tally: Tally,
}

enum Event {
    Batch(Vec<Entry>),
    End(Tally),
}

impl ReadAhead {
    /// Starts to read. `read` hands ascending entries of whole prefixes to its argument.
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
        Self { batches, batch: Vec::new(), at: 0, tally: Tally::default() }
    }

    /// The next prefix, none at the end.
    fn prefix(&mut self) -> anyhow::Result<Option<u32>> {
        while self.at == self.batch.len() {
            match self.batches.recv() {
                Ok(Ok(Event::Batch(batch))) => (self.batch, self.at) = (batch, 0),
                Ok(Ok(Event::End(tally))) => {
                    self.tally = tally;
                    return Ok(None);
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => return Ok(None),
            }
        }
        Ok(self.batch.get(self.at).map(Entry::prefix))
    }

    /// The entries of the next prefix.
    fn take(&mut self, prefix: u32) -> &[Entry] {
        let begin = self.at;
        let length =
            self.batch[begin..].iter().take_while(|entry| entry.prefix() == prefix).count();
        self.at = begin + length;
        &self.batch[begin..self.at]
    }
}

/// Merges all inputs in the order of the inputs, prefix by prefix.
///
/// # Errors
/// An error of an input or of `consume`.
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
        total.add(input.tally);
    }
    Ok(total)
}
