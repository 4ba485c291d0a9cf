//! A cache of gzip trailers, which allow compressing a response without rendering its text.

use std::iter::repeat_with;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::HashPrefix;

use crate::model::PREFIXES;
use crate::model::gzip::Trailer;

/// Trailers of rendered buckets that have been compressed before, 8 bytes per prefix. Allocated on
/// the first compressed response.
#[derive(Default)]
pub struct Trailers(OnceLock<Box<[AtomicU64]>>);

impl Trailers {
    /// Returns the cached trailer for `prefix`. Trailers of empty buckets are never cached.
    pub fn get(&self, prefix: HashPrefix) -> Option<Trailer> {
        let known = self.0.get()?.get(prefix.value() as usize)?.load(Ordering::Relaxed);
        (known != 0).then(|| Trailer::from_bytes(known.to_le_bytes()))
    }

    /// Caches the trailer for `prefix`.
    pub fn keep(&self, prefix: HashPrefix, trailer: Trailer) {
        let all = self.0.get_or_init(|| repeat_with(AtomicU64::default).take(PREFIXES).collect());
        if let Some(known) = all.get(prefix.value() as usize) {
            known.store(u64::from_le_bytes(trailer.to_bytes()), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kept_trailers_are_returned() {
        let trailers = Trailers::default();
        let [first, last] =
            [0, HashPrefix::COUNT - 1].map(|at| HashPrefix::from_value(at).unwrap());
        assert_eq!(trailers.get(last), None);
        let trailer = Trailer::of(b"text");
        trailers.keep(last, trailer);
        assert_eq!((trailers.get(first), trailers.get(last)), (None, Some(trailer)));
    }
}
