//! Splits a stream of lines into chunks that can be parsed independently.

use std::io::Read;

use anyhow::{Context, bail};

/// Maximum line length in bytes.
pub const LINE_LIMIT: usize = 16 << 20;
/// Maximum length in bytes of a run of lines with the same prefix. Longer runs are split.
const RUN_LIMIT: usize = 8 << 20;

/// The places where a chunk can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After any line.
    Line,
    /// Between two lines with different prefixes (first five characters).
    Prefix,
}

/// A chunk of complete lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The lines.
    pub text: Vec<u8>,
    /// Whether the last prefix might continue in the next chunk.
    pub open_end: bool,
}

/// Reads chunks of about `size` bytes.
pub struct Chunks<R> {
    reader: R,
    name: String,
    size: usize,
    cut: Cut,
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> Chunks<R> {
    /// Creates a chunk reader. `name` identifies the input in error messages.
    pub fn new(reader: R, name: &str, size: usize, cut: Cut) -> Self {
        Self { reader, name: name.to_owned(), size, cut, rest: Vec::new(), ended: false }
    }

    /// Returns the next chunk, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, or a line is too long.
    pub fn next_chunk(&mut self) -> anyhow::Result<Option<Chunk>> {
        let mut text = std::mem::take(&mut self.rest);
        let mut wanted = self.size;
        loop {
            self.fill(&mut text, wanted)?;
            if self.ended {
                return Ok((!text.is_empty()).then_some(Chunk { text, open_end: false }));
            }
            if let Some((at, open_end)) = self.cut_point(&text)? {
                self.rest.reserve(self.size.max(text.len() - at));
                self.rest.extend_from_slice(&text[at..]);
                text.truncate(at);
                return Ok(Some(Chunk { text, open_end }));
            }
            wanted = text.len() * 2;
        }
    }

    fn fill(&mut self, text: &mut Vec<u8>, wanted: usize) -> anyhow::Result<()> {
        let missing = wanted.saturating_sub(text.len());
        text.reserve_exact(missing);
        let read = self.reader.by_ref().take(missing as u64).read_to_end(text);
        let read = read.with_context(|| format!("cannot read {}", self.name))?;
        self.ended = read < missing;
        Ok(())
    }

    fn cut_point(&self, text: &[u8]) -> anyhow::Result<Option<(usize, bool)>> {
        let Some(last) = memchr::memrchr(b'\n', text) else {
            if text.len() > LINE_LIMIT {
                bail!("{} has a line longer than {} MiB", self.name, LINE_LIMIT >> 20);
            }
            return Ok(None);
        };
        let end = last + 1;
        if self.cut == Cut::Line {
            return Ok(Some((end, false)));
        }
        match start_of_last_run(&text[..end]) {
            0 if text.len() < RUN_LIMIT => Ok(None),
            0 => Ok(Some((end, true))),
            at => Ok(Some((at, false))),
        }
    }
}

/// Returns the offset of the last run of lines with the same prefix. Lines without a prefix count
/// towards the adjacent run.
fn start_of_last_run(text: &[u8]) -> usize {
    let mut run: Option<[u8; 5]> = None;
    let mut start = text.len();
    while start > 0 {
        let begin = memchr::memrchr(b'\n', &text[..start - 1]).map_or(0, |at| at + 1);
        let prefix = prefix_of(&text[begin..start]);
        match (run, prefix) {
            (Some(run), Some(prefix)) if run != prefix => return start,
            (None, Some(prefix)) => run = Some(prefix),
            _ => {}
        }
        start = begin;
    }
    0
}

fn prefix_of(line: &[u8]) -> Option<[u8; 5]> {
    let prefix = *line.first_chunk::<5>()?;
    prefix.iter().all(u8::is_ascii_hexdigit).then(|| prefix.map(|byte| byte.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, size: usize, cut: Cut) -> Vec<String> {
        let mut chunks = Chunks::new(text.as_bytes(), "test", size, cut);
        let mut all = Vec::new();
        while let Some(chunk) = chunks.next_chunk().unwrap() {
            all.push(String::from_utf8(chunk.text).unwrap());
        }
        assert_eq!(all.concat(), text);
        all
    }

    #[test]
    fn chunks_end_at_a_line_end() {
        assert_eq!(all("ab\ncd\r\nef", 4, Cut::Line), ["ab\n", "cd\r\n", "ef"]);
        assert_eq!(all("", 4, Cut::Line), Vec::<String>::new());
        assert_eq!(all("abcdefghij\nk\n", 3, Cut::Line), ["abcdefghij\n", "k\n"]);
    }

    #[test]
    fn chunks_end_at_a_prefix_boundary() {
        let text = "AAAAA1\naaaaa2\n\nAAAAA3\nBBBBB1\nBBBBB2\nCCCCC1\n";
        let pieces = all(text, 30, Cut::Prefix);
        assert_eq!(pieces[0], "AAAAA1\naaaaa2\n\nAAAAA3\n");
        for size in 1..60 {
            for piece in all(text, size, Cut::Prefix) {
                let first = &piece[..5];
                let begins = text.find(&piece).unwrap();
                assert!(begins == 0 || !text[..begins].contains(first), "{size}: {piece}");
            }
        }
    }

    #[test]
    fn endless_prefix_is_split_and_marked_as_open() {
        let text = "AAAAA1\n".repeat(RUN_LIMIT / 7 + 9);
        let mut chunks = Chunks::new(text.as_bytes(), "test", 1 << 20, Cut::Prefix);
        assert!(chunks.next_chunk().unwrap().unwrap().open_end);
        assert!(!chunks.next_chunk().unwrap().unwrap().open_end);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let text = vec![b'x'; 3 * LINE_LIMIT];
        let mut chunks = Chunks::new(&text[..], "list.txt", 1 << 20, Cut::Line);
        let error = chunks.next_chunk().unwrap_err().to_string();
        assert_eq!(error, "list.txt has a line longer than 16 MiB");
    }
}
