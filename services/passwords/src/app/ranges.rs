//! Reads the range of a prefix: real lines, padding, compression.

use domain::HashPrefix;

use super::buffer::Buffer;
use crate::model::gzip::{self, Trailer};
use crate::model::{Bucket, Kind, Padder, render};
use crate::store::{BucketProblem, Corpus};

/// What a request says about padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Nothing: the answer may be cached.
    NotMentioned,
    /// Something else than `true`.
    NotWanted,
    /// `true`.
    Wanted,
}

/// A body and whether it is compressed.
pub struct Body {
    /// The bytes.
    pub bytes: Buffer,
    /// Whether they are gzip.
    pub compressed: bool,
}

/// Reads ranges for one worker, with memory that it uses again.
pub struct RangeReader {
    verify: bool,
    bucket: Vec<u8>,
    padder: Option<Padder>,
}

impl RangeReader {
    /// A reader that compares each bucket with its digest if `verify`.
    pub fn new(verify: bool) -> Self {
        Self { verify, bucket: Vec::new(), padder: None }
    }

    /// The body for a prefix.
    ///
    /// # Errors
    /// The bucket cannot be read or is damaged.
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

/// The trailer of a whole text, of which real lines that were packed before need not be written.
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

/// Renders real lines, then padding, without a separator after the last line.
fn write_text(bucket: &Bucket<'_>, filler: &[u8], out: &mut [u8]) -> Result<usize, BucketProblem> {
    let mut length = render::bucket(bucket, out)?;
    length += render::padding(bucket.kind(), filler, &mut out[length..]);
    Ok(render::without_last_separator(length))
}
