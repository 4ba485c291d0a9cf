//! Prefetches buckets into the CPU cache.
//!
//! Requests read random buckets of about 15 KB that are never in the cache, so most of the time for
//! a request is spent waiting for memory. See docs/decisions/0300 for the gains.
//!
//! We need `unsafe` for the prefetch instruction.
#![allow(unsafe_code)]

/// Number of bytes to prefetch ahead, about 120 lines.
const AHEAD: usize = 2048;
/// Number of bytes of counts to prefetch at the end of a bucket, about 1,000 lines.
const COUNTS: usize = 1024;
/// Length of a cache line in bytes.
const CACHE_LINE: usize = 64;

/// Prefetches the parts of a bucket that are read first: the counts at its end, and the first
/// tails.
#[inline]
pub fn ends(bucket: &[u8]) {
    let counts = &bucket[bucket.len().saturating_sub(COUNTS)..];
    let tails = &bucket[..bucket.len().min(AHEAD)];
    for line in counts.chunks(CACHE_LINE).chain(tails.chunks(CACHE_LINE)) {
        ask(line.as_ptr());
    }
}

/// Prefetches the data [`AHEAD`] bytes past the start of a tail.
#[inline(always)]
pub fn behind(tail: &[u8]) {
    ask(tail.as_ptr().wrapping_add(AHEAD));
}

#[inline(always)]
fn ask(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(feature = "portable")))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch doesn't read anything that the program could see and never faults,
        // regardless of the address. Every x86_64 processor has SSE.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(any(not(target_arch = "x86_64"), feature = "portable"))]
    let _ = address;
}
