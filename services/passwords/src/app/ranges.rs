//! Reads a prefix's range as a response body, including padding and compression.

use domain::HashPrefix;

use super::buffer::Buffer;
use crate::model::gzip::{self, Trailer};
use crate::model::{Bucket, Kind, Padder, render};
use crate::store::{BucketProblem, Corpus};

/// The client's padding preference, from the request header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// The header is absent, so caches may store the response.
    NotMentioned,
    /// The header has a value other than `true`.
    NotWanted,
    /// The header is `true`.
    Wanted,
}

/// A response body.
pub struct Body {
    /// The body's bytes.
    pub bytes: Buffer,
    /// Whether the bytes are compressed with gzip.
    pub compressed: bool,
}

/// Reads ranges for one worker, reusing its buffers.
pub struct RangeReader {
    verify: bool,
    bucket: Vec<u8>,
    padder: Option<Padder>,
}

impl RangeReader {
    /// Creates a reader. If `verify` is true, every bucket is checked against its digest.
    pub fn new(verify: bool) -> Self {
        Self { verify, bucket: Vec::new(), padder: None }
    }

    /// Reads the range of `prefix` as a response body.
    ///
    /// # Errors
    /// Returns an error if the bucket cannot be read or is damaged.
    pub fn read(
        &mut self,
        corpus: &Corpus,
        prefix: HashPrefix,
        padding: Padding,
        wants_gzip: bool,
    ) -> Result<Body, BucketProblem> {
        let bytes = if self.verify {
            corpus.sound_bytes(prefix, &mut self.bucket)?
        } else {
            corpus.bytes(prefix, &mut self.bucket)?
        };
        let bucket = Bucket::parse(corpus.kind(), bytes)?;
        let filler = match padding {
            Padding::Wanted => filler(&mut self.padder, corpus.kind(), bucket.len())?,
            Padding::NotMentioned | Padding::NotWanted => &[],
        };
        if wants_gzip {
            let trailer = trailer(corpus, prefix, &bucket, filler)?;
            if trailer.length() >= gzip::SHORTEST {
                let mut packed = Buffer::with_room(gzip::room(trailer.length()));
                let length = gzip::encode(&bucket, filler, trailer, packed.room())?;
                return Ok(Body { bytes: packed.truncated(length), compressed: true });
            }
        }
        let mut text = Buffer::with_room(room(&bucket, filler));
        let length = write_text(&bucket, filler, text.room())?;
        Ok(Body { bytes: text.truncated(length), compressed: false })
    }
}

/// Returns the gzip trailer for a response, computing it from the bucket's cached trailer if there
/// is one.
fn trailer(
    corpus: &Corpus,
    prefix: HashPrefix,
    bucket: &Bucket<'_>,
    filler: &[u8],
) -> Result<Trailer, BucketProblem> {
    let known = corpus.trailers().get(prefix);
    if let Some(known) = known
        && filler.is_empty()
    {
        return Ok(known);
    }
    let mut text = Buffer::with_room(room(bucket, filler));
    let real = match known {
        Some(known) => known,
        None => {
            let length = write_text(bucket, &[], text.room())?;
            let found = Trailer::of(&text.room()[..length]);
            corpus.trailers().keep(prefix, found);
            found
        }
    };
    if filler.is_empty() {
        return Ok(real);
    }
    let length = render::padding(bucket.kind(), filler, text.room());
    let padding = &text.room()[..render::without_last_separator(length)];
    Ok(if bucket.is_empty() { Trailer::of(padding) } else { real.and(b"\r\n").and(padding) })
}

fn room(bucket: &Bucket<'_>, filler: &[u8]) -> usize {
    render::room(bucket, filler.len() / (bucket.kind().tail_bytes() + 1))
}

fn filler(padder: &mut Option<Padder>, kind: Kind, n: usize) -> Result<&[u8], BucketProblem> {
    let padder = match padder {
        Some(padder) => padder,
        None => padder.insert(Padder::new()?),
    };
    let lines = padder.draw(n);
    Ok(padder.bytes(kind, lines)?)
}

/// Writes the lines of `bucket`, followed by padding lines, and returns the total length. There is
/// no separator after the last line.
fn write_text(bucket: &Bucket<'_>, filler: &[u8], out: &mut [u8]) -> Result<usize, BucketProblem> {
    let mut length = render::bucket(bucket, out)?;
    length += render::padding(bucket.kind(), filler, &mut out[length..]);
    Ok(render::without_last_separator(length))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use testkit::Random;

    use super::*;
    use crate::model::{Entry, sort_and_add_up};
    use crate::store::{CorpusWriter, Encoded, KindFolder};

    const PREFIX: u32 = 0x5BAA6;

    /// Creates a corpus with `digests` digests that all have the same prefix.
    fn corpus(data: &Path, kind: Kind, digests: usize) -> Corpus {
        let mut random = Random::new(5);
        let mut entries: Vec<Entry> = (0..digests)
            .map(|_| {
                let mut hash = [0; 20];
                for eight in hash.chunks_mut(8) {
                    eight.copy_from_slice(&random.number().to_le_bytes()[..eight.len()]);
                }
                hash[..2].copy_from_slice(&[0x5B, 0xAA]);
                hash[2] = 0x60 | hash[2] & 0x0F;
                hash[kind.hash_bytes()..].fill(0);
                Entry { hash, count: 1 + random.below(5000) as u32 }
            })
            .collect();
        sort_and_add_up(&mut entries);
        let folder = KindFolder::new(data, kind);
        let lock = folder.lock().unwrap();
        let mut writer = CorpusWriter::create(&folder, &lock).unwrap();
        writer.append(&Encoded::of(kind, &entries).unwrap()).unwrap();
        let (path, _) = writer.complete("a test", 0).unwrap().name().unwrap();
        Corpus::open(&path, u64::MAX).unwrap()
    }

    #[test]
    fn unsent_answer_uses_little_more_memory_than_its_length() {
        for kind in Kind::ALL {
            let data = tempfile::tempdir().unwrap();
            let corpus = corpus(data.path(), kind, 900);
            let [full, empty] =
                [PREFIX, PREFIX + 1].map(|value| HashPrefix::from_value(value).unwrap());
            let mut reader = RangeReader::new(false);
            let mut waiting = Vec::new();
            let asked = [
                (full, Padding::NotMentioned, false),
                (full, Padding::NotMentioned, true),
                (full, Padding::Wanted, false),
                (full, Padding::Wanted, true),
                (empty, Padding::NotMentioned, true),
                (empty, Padding::Wanted, false),
                (empty, Padding::Wanted, true),
            ];
            // In the second round, the buffers still contain bytes from the first.
            for (prefix, padding, wants_gzip) in [asked, asked].concat() {
                let sent = reader.read(&corpus, full, padding, false).unwrap();
                drop(sent);
                let body = reader.read(&corpus, prefix, padding, wants_gzip).unwrap();
                let (length, held) = (body.bytes.as_ref().len(), body.bytes.held());
                assert_eq!(body.compressed, wants_gzip && length > 0);
                assert!(
                    held <= length + length / 4 + 4096,
                    "{kind}, {padding:?}, gzip {wants_gzip}: {held} bytes for {length}"
                );
                waiting.push(body);
            }
        }
    }
}
