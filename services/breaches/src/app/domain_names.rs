//! Builds the response to a domain search (breach names by alias) in bounded memory.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use batch::{ByteSize, Sorted, Sorter};

use crate::model::{Breach, id_list};
use crate::state::Snapshot;

/// Memory budget per search. Anything larger is sorted on disk.
pub(super) const MEMORY: ByteSize = ByteSize(8 << 20);
/// Size of a piece of the response in bytes.
pub(super) const PIECE: usize = 64 * 1024;
/// Separates an alias from its packed breach ids. Aliases can't contain control characters.
const SEPARATOR: u8 = b'\n';

/// A response generated in pieces on blocking threads.
pub trait Pieces: Send + 'static {
    /// Generates the next piece. The flag is `true` for the last one.
    ///
    /// # Errors
    /// Fails on disk errors.
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)>;
}

/// Collects aliases with their breaches in any order.
pub struct AliasCollector {
    sorter: Sorter,
    text: Vec<u8>,
}

impl AliasCollector {
    /// Creates an empty collector, which spills to `folder` if the data doesn't fit in memory.
    pub fn new(folder: PathBuf) -> Self {
        Self { sorter: Sorter::new(folder, MEMORY), text: Vec::new() }
    }

    /// Adds an alias with its packed breach ids.
    ///
    /// # Errors
    /// Fails if the folder isn't writable.
    pub fn add(&mut self, alias: &str, list: &[u8]) -> io::Result<()> {
        self.text.clear();
        self.text.extend_from_slice(alias.as_bytes());
        self.text.push(SEPARATOR);
        self.text.extend_from_slice(list);
        self.sorter.push(order_of(alias), &self.text)
    }

    /// Sorts the aliases. Only breaches that pass `shown` are returned.
    ///
    /// # Errors
    /// Fails if the folder isn't writable.
    pub fn finish(
        self,
        snapshot: Arc<Snapshot>,
        shown: fn(&Breach) -> bool,
    ) -> io::Result<DomainNames> {
        Ok(DomainNames { sorted: self.sorter.finish()?, next: None, begun: false, snapshot, shown })
    }
}

/// Returns a sort key made from the first eight bytes of an alias.
pub(super) fn order_of(alias: &str) -> i64 {
    let mut first = [0; 8];
    for (byte, letter) in first.iter_mut().zip(alias.bytes()) {
        *byte = letter;
    }
    (u64::from_be_bytes(first) ^ (1 << 63)).cast_signed()
}

/// Breach names by alias, generated lazily. Aliases and names are in byte order.
pub struct DomainNames {
    sorted: Sorted,
    /// Read-ahead: the next alias and its list.
    next: Option<(String, Vec<u8>)>,
    begun: bool,
    snapshot: Arc<Snapshot>,
    shown: fn(&Breach) -> bool,
}

impl DomainNames {
    /// Advances to the next alias with visible breaches and returns the breaches' names.
    ///
    /// # Errors
    /// Fails on disk errors.
    pub fn next_alias(&mut self) -> io::Result<Option<(String, Vec<&str>)>> {
        let Some((alias, list)) = self.next_shown()? else { return Ok(None) };
        Ok(Some((alias, self.snapshot.answers.catalogue.names(&list, self.shown))))
    }

    /// Advances to the next alias with visible breaches and returns the breaches' ids.
    ///
    /// # Errors
    /// Fails on disk errors.
    pub fn next_ids(&mut self) -> io::Result<Option<(String, Vec<u16>)>> {
        let Some((alias, list)) = self.next_shown()? else { return Ok(None) };
        let catalogue = &self.snapshot.answers.catalogue;
        let shown = |id: &u16| catalogue.by_id(*id).is_some_and(self.shown);
        Ok(Some((alias, id_list::ids(&list).filter(shown).collect())))
    }

    /// Returns the snapshot that breaches are looked up in.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn next_shown(&mut self) -> io::Result<Option<(String, Vec<u8>)>> {
        while let Some((alias, mut list)) = self.read()? {
            // Merge addresses that differ only in the spelling of their domain.
            while let Some((other, more)) = self.read()? {
                if other != alias {
                    self.next = Some((other, more));
                    break;
                }
                list = id_list::union(&list, &more).unwrap_or(list);
            }
            if self.snapshot.answers.catalogue.any(&list, self.shown) {
                return Ok(Some((alias, list)));
            }
        }
        Ok(None)
    }

    fn read(&mut self) -> io::Result<Option<(String, Vec<u8>)>> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        let Some((_, text)) = self.sorted.next_record()? else { return Ok(None) };
        let end = text.iter().position(|byte| *byte == SEPARATOR).unwrap_or(text.len());
        let alias = String::from_utf8_lossy(&text[..end]).into_owned();
        Ok(Some((alias, text.get(end + 1..).unwrap_or_default().to_vec())))
    }
}

impl Pieces for DomainNames {
    /// Renders a JSON object.
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut piece = Vec::with_capacity(PIECE / 8);
        if !self.begun {
            piece.push(b'{');
        }
        while piece.len() < PIECE {
            let begun = self.begun;
            let Some((alias, names)) = self.next_alias()? else {
                piece.push(b'}');
                return Ok((piece, true));
            };
            if begun {
                piece.push(b',');
            }
            serde_json::to_writer(&mut piece, &alias)?;
            piece.push(b':');
            serde_json::to_writer(&mut piece, &names)?;
            self.begun = true;
        }
        Ok((piece, false))
    }
}

impl std::fmt::Debug for DomainNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DomainNames").finish_non_exhaustive()
    }
}
