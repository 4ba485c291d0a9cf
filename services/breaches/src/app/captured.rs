//! Builds responses to stealer log searches by domain in bounded memory.

use std::io;
use std::path::PathBuf;

use batch::{Sorted, Sorter};

use super::domain_names::{MEMORY, PIECE, Pieces, order_of};

/// Separates an alias from a website. This is safe because aliases can't contain control
/// characters.
const SEPARATOR: char = '\n';

/// Collects addresses or (alias, website) pairs, in any order and possibly with duplicates.
pub struct CapturedCollector {
    sorter: Sorter,
    text: String,
    is_empty: bool,
}

impl CapturedCollector {
    /// Creates an empty collector, which spills to `folder` if the data doesn't fit in memory.
    pub fn new(folder: PathBuf) -> Self {
        Self { sorter: Sorter::new(folder, MEMORY), text: String::new(), is_empty: true }
    }

    /// Adds an address.
    ///
    /// # Errors
    /// Fails if the folder isn't writable.
    pub fn add_address(&mut self, address: &str) -> io::Result<()> {
        self.is_empty = false;
        self.sorter.push(order_of(address), address.as_bytes())
    }

    /// Adds a website where an address was captured.
    ///
    /// # Errors
    /// Fails if the folder isn't writable.
    pub fn add_website(&mut self, alias: &str, website: &str) -> io::Result<()> {
        self.is_empty = false;
        self.text.clear();
        self.text.push_str(alias);
        self.text.push(SEPARATOR);
        self.text.push_str(website);
        self.sorter.push(order_of(alias), self.text.as_bytes())
    }

    /// Sorts and deduplicates. Returns `None` if nothing was added.
    ///
    /// # Errors
    /// Fails if the folder isn't writable.
    pub fn finish(self) -> io::Result<Option<Sorted>> {
        if self.is_empty { Ok(None) } else { self.sorter.finish().map(Some) }
    }
}

/// A JSON array of addresses, generated lazily.
pub struct CapturedAddresses {
    sorted: Sorted,
    begun: bool,
}

impl CapturedAddresses {
    pub fn new(sorted: Sorted) -> Self {
        Self { sorted, begun: false }
    }
}

impl Pieces for CapturedAddresses {
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut piece = Vec::with_capacity(PIECE / 8);
        while piece.len() < PIECE {
            let Some((_, address)) = self.sorted.next_record()? else {
                piece.extend_from_slice(if self.begun { b"]" } else { b"[]" });
                return Ok((piece, true));
            };
            piece.push(if self.begun { b',' } else { b'[' });
            self.begun = true;
            serde_json::to_writer(&mut piece, &String::from_utf8_lossy(address))?;
        }
        Ok((piece, false))
    }
}

/// A JSON object from alias to websites, generated lazily.
pub struct CapturedWebsites {
    sorted: Sorted,
    /// The alias whose array is open. `None` at the start.
    alias: Option<String>,
}

impl CapturedWebsites {
    pub fn new(sorted: Sorted) -> Self {
        Self { sorted, alias: None }
    }
}

impl Pieces for CapturedWebsites {
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut piece = Vec::with_capacity(PIECE / 8);
        while piece.len() < PIECE {
            let Some((_, pair)) = self.sorted.next_record()? else {
                piece.extend_from_slice(if self.alias.is_some() { b"]}" } else { b"{}" });
                return Ok((piece, true));
            };
            let pair = String::from_utf8_lossy(pair);
            let (alias, website) = pair.split_once(SEPARATOR).unwrap_or((&pair, ""));
            if self.alias.as_deref() == Some(alias) {
                piece.push(b',');
            } else {
                piece.extend_from_slice(if self.alias.is_some() { b"]," } else { b"{" });
                serde_json::to_writer(&mut piece, alias)?;
                piece.extend_from_slice(b":[");
                self.alias = Some(alias.to_owned());
            }
            serde_json::to_writer(&mut piece, website)?;
        }
        Ok((piece, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(mut pieces: impl Pieces) -> String {
        let mut text = Vec::new();
        loop {
            let (piece, last) = pieces.next_piece().unwrap();
            text.extend(piece);
            if last {
                return String::from_utf8(text).unwrap();
            }
        }
    }

    #[test]
    fn addresses_are_sorted_and_distinct_across_pieces() {
        let mut collector = CapturedCollector::new(std::env::temp_dir());
        let addresses: Vec<String> =
            (0..20_000).map(|n| format!("user{n:05}\"@corp.example")).collect();
        for address in addresses.iter().rev().chain(&addresses) {
            collector.add_address(address).unwrap();
        }
        let text = joined(CapturedAddresses::new(collector.finish().unwrap().unwrap()));
        assert_eq!(text, serde_json::to_string(&addresses).unwrap());
    }

    #[test]
    fn websites_are_grouped_by_alias() {
        let mut collector = CapturedCollector::new(std::env::temp_dir());
        for (alias, website) in [
            ("abcdefghij", "b.example"),
            ("abcdefgh", "c.example"),
            ("abcdefghij", "a.example"),
            ("abcdefghij", "b.example"),
            ("\"", "a.example"),
        ] {
            collector.add_website(alias, website).unwrap();
        }
        let text = joined(CapturedWebsites::new(collector.finish().unwrap().unwrap()));
        let expected = r#"{"\"":["a.example"],"abcdefgh":["c.example"],"abcdefghij":["a.example","b.example"]}"#;
        assert_eq!(text, expected);
        assert!(CapturedCollector::new(std::env::temp_dir()).finish().unwrap().is_none());
    }
}
