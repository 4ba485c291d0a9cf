//! The response to a domain search: breach names by alias, built in bounded memory.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use batch::{ByteSize, Sorted, Sorter};

use crate::model::{Breach, id_list};
use crate::state::Snapshot;

/// Memory of a single search. Larger data is sorted on disk.
pub(super) const MEMORY: ByteSize = ByteSize(8 << 20);
/// Number of bytes per piece of the response.
pub(super) const PIECE: usize = 64 * 1024;
/// Separates an alias and the packed ids of its breaches. Aliases cannot contain control
/// characters.
const SEPARATOR: u8 = b'\n';

/// A response that is generated piece by piece, on blocking threads.
pub trait Pieces: Send + 'static {
    /// Returns the next piece, and whether it is the last one.
    ///
    /// # Errors
    /// Returns an error if the disk fails.
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)>;
}

/// Collects aliases and their breaches, in any order.
pub struct AliasCollector {
    sorter: Sorter,
    text: Vec<u8>,
}

impl AliasCollector {
    /// Creates an empty collector. Data that does not fit into memory is sorted in `folder`.
    pub fn new(folder: PathBuf) -> Self {
        Self { sorter: Sorter::new(folder, MEMORY), text: Vec::new() }
    }

    /// Adds an alias with a packed list of breach ids.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn add(&mut self, alias: &str, list: &[u8]) -> io::Result<()> {
        self.text.clear();
        self.text.extend_from_slice(alias.as_bytes());
        self.text.push(SEPARATOR);
        self.text.extend_from_slice(list);
        self.sorter.push(order_of(alias), &self.text)
    }

    /// Returns the names of the breaches that pass `shown`, by alias.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn finish(
        self,
        snapshot: Arc<Snapshot>,
        shown: fn(&Breach) -> bool,
    ) -> io::Result<DomainNames> {
        Ok(DomainNames { sorted: self.sorter.finish()?, next: None, begun: false, snapshot, shown })
    }
}

/// Returns a number that sorts aliases by their first eight bytes.
pub(super) fn order_of(alias: &str) -> i64 {
    let mut first = [0; 8];
    for (byte, letter) in first.iter_mut().zip(alias.bytes()) {
        *byte = letter;
    }
    (u64::from_be_bytes(first) ^ (1 << 63)).cast_signed()
}

/// Breach names by alias, both in byte order. They are generated while they are read.
pub struct DomainNames {
    sorted: Sorted,
    /// The next alias and its list, read in advance.
    next: Option<(String, Vec<u8>)>,
    begun: bool,
    snapshot: Arc<Snapshot>,
    shown: fn(&Breach) -> bool,
}

impl DomainNames {
    /// Returns the next alias with a visible breach, and the names of its visible breaches.
    ///
    /// # Errors
    /// Returns an error if the disk fails.
    pub fn next_alias(&mut self) -> io::Result<Option<(String, Vec<&str>)>> {
        let Some((alias, list)) = self.next_shown()? else { return Ok(None) };
        Ok(Some((alias, self.snapshot.answers.catalogue.names(&list, self.shown))))
    }

    /// Returns the next alias with a visible breach, and the ids of its visible breaches.
    ///
    /// # Errors
    /// Returns an error if the disk fails.
    pub fn next_ids(&mut self) -> io::Result<Option<(String, Vec<u16>)>> {
        let Some((alias, list)) = self.next_shown()? else { return Ok(None) };
        let catalogue = &self.snapshot.answers.catalogue;
        let shown = |id: &u16| catalogue.by_id(*id).is_some_and(self.shown);
        Ok(Some((alias, id_list::ids(&list).filter(shown).collect())))
    }

    /// Returns the snapshot that the breaches come from.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn next_shown(&mut self) -> io::Result<Option<(String, Vec<u8>)>> {
        while let Some((alias, mut list)) = self.read()? {
            // Addresses under two spellings of a domain share an alias.
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
    /// Generates a JSON object.
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
