//! Prefetches bytes before they are read.
//!
//! Buckets are asked for at random, so that none is in a cache, and each takes 15 KB: whoever reads
//! one waits longer for its bytes than for anything else. What this brings was measured:
//! docs/decisions/0300.
//!
//! Unsafe code is for the prefetch instruction.
#![allow(unsafe_code)]

/// How far ahead is prefetched, in bytes: about 120 lines.
const AHEAD: usize = 2048;
/// Where the counts of a bucket are, in bytes from its end: those of about 1,000 lines.
const COUNTS: usize = 1024;
/// What memory is read in, in bytes.
const CACHE_LINE: usize = 64;

/// Prefetches what is read first of a bucket: its counts, which lie at its end, and its first tails.
#[inline]
pub fn ends(bucket: &[u8]) {
    let counts = &bucket[bucket.len().saturating_sub(COUNTS)..];
    let tails = &bucket[..bucket.len().min(AHEAD)];
    for line in counts.chunks(CACHE_LINE).chain(tails.chunks(CACHE_LINE)) {
        ask(line.as_ptr());
    }
}

/// Prefetches what comes [`AHEAD`] bytes after a tail that is read now.
#[inline(always)]
pub fn behind(tail: &[u8]) {
    ask(tail.as_ptr().wrapping_add(AHEAD));
}

#[inline(always)]
fn ask(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program could see and never faults, whatever
        // the address; SSE is part of every x86_64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
