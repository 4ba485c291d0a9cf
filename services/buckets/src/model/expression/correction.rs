//! Corrects common mistakes in expressions.

use super::ends::Ends;
use super::source::{self, Source};

const LEADING_STAR: &str = "a leading * was read as .*";
const UNBALANCED: &str = "an unbalanced bracket was escaped";
const ANCHORS: &str = "^ and $ are implied and were dropped";
const BOTH_ENDS: &str = ".* was added on both ends to find the text anywhere";

/// Corrects an expression. Adds an entry to `reasons` for every change.
pub(super) fn corrected(text: &str, reasons: &mut Vec<&'static str>) -> String {
    let mut text = text.to_owned();
    for (repair, reason) in [
        (source::with_leading_stars as fn(&str) -> String, LEADING_STAR),
        (source::balanced, UNBALANCED),
    ] {
        if Source::of(&text).parse().is_ok() {
            break;
        }
        let repaired = repair(&text);
        if repaired != text {
            text = repaired;
            reasons.push(reason);
        }
    }
    let Some(ends) = Ends::of(&text) else {
        return text;
    };
    let without = ends.without_anchors(&text);
    if without != text {
        reasons.push(ANCHORS);
        text = without.to_owned();
    } else if !ends.reach_anywhere {
        let text_closed = Source::closed(&text);
        text = if ends.alternation {
            format!(".*(?:{text_closed}).*")
        } else {
            format!(".*{text_closed}.*")
        };
        reasons.push(BOTH_ENDS);
    }
    text
}
