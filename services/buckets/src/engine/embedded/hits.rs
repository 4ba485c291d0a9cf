//! Searches a buffer of NUL-terminated rows for matches of a core.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};

use super::column::piece_end;
use crate::engine::error::EngineError;
use crate::engine::limits::{Limits, check_bytes, is_long};

/// Calls `each` once for every row with a match, passing the position of a byte in that row. `each`
/// must return the end of the row.
///
/// A search can't be interrupted, so the text is searched piece by piece. Rows that are too long
/// for a single search count as matches. Every step advances by at least one byte, regardless of
/// what the core matches and what `each` returns.
pub(super) fn each_hit(
    core: &Regex,
    cache: &mut Cache,
    text: &[u8],
    range: Range<usize>,
    limits: &Limits,
    mut each: impl FnMut(usize) -> Result<usize, EngineError>,
) -> Result<(), EngineError> {
    let (mut at, end) = (range.start, range.end);
    let bytes = check_bytes(core.memory_usage());
    while at < end {
        limits.check()?;
        let mut piece = piece_end(text, at, bytes, end);
        if is_long(core.memory_usage(), (piece - at) / 2) {
            piece = piece_end(text, at, 0, end);
            if is_long(core.memory_usage(), (piece - at) / 2) {
                at = each(at)?.max(at + 1);
                continue;
            }
        }
        while at < piece {
            let input = Input::new(text).range(at..piece).earliest(true);
            let Some(hit) = core.search_half_with(cache, &input) else { break };
            // The last byte of a match is always in the matching row. An empty match is at the
            // start of its row.
            let byte = hit.offset().saturating_sub(1).max(at);
            at = each(byte)?.max(byte + 1);
        }
        at = at.max(piece);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("b", &[0, 3])]
    #[case("", &[0, 1, 2, 3])]
    #[case("b|", &[0, 1, 2, 3])]
    #[case("x", &[])]
    fn each_matching_row_is_reported_once(#[case] expression: &str, #[case] expected: &[usize]) {
        let text = b"abb\0\0c\0bab\0";
        let core = Regex::new(expression).unwrap();
        let limits = Limits::until(Instant::now() + Duration::from_secs(60), 1);
        let row_of = |byte: usize| text[..byte].iter().filter(|&&byte| byte == 0).count();
        let mut rows = Vec::new();
        let walked =
            each_hit(&core, &mut core.create_cache(), text, 0..text.len(), &limits, |byte| {
                rows.push(row_of(byte));
                let rest = memchr::memchr(0, &text[byte..]);
                Ok(rest.map_or(text.len(), |length| byte + length + 1))
            });
        assert!(walked.is_ok());
        assert_eq!(rows, expected);
    }

    #[test]
    fn long_rows_count_as_hits() {
        let core = Regex::new(r"\w{20}x").unwrap();
        let text = format!("{}\0a\0{}\0", "y".repeat(4_000), "y".repeat(4_000));
        let mut rows = Vec::new();
        let walked = each_hit(
            &core,
            &mut core.create_cache(),
            text.as_bytes(),
            0..text.len(),
            &Limits::none(),
            |byte| {
                rows.push(byte);
                Ok(byte + text[byte..].find('\0').unwrap() + 1)
            },
        );
        assert!(walked.is_ok());
        assert_eq!(rows, [0, 4_003]);
    }

    #[test]
    fn walk_terminates_without_progress_of_callback() {
        let core = Regex::new("a|").unwrap();
        let limits = Limits::until(Instant::now() + Duration::from_secs(60), 1);
        let mut hits = 0;
        let walked = each_hit(&core, &mut core.create_cache(), b"aaaa\0", 0..5, &limits, |_| {
            hits += 1;
            Ok(0)
        });
        assert!(walked.is_ok() && hits <= 5, "{hits} hits");
    }
}
