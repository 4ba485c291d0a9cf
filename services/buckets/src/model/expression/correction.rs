//! Corrects common mistakes in expressions.

use regex_syntax::hir::Hir;

use super::ends::Ends;
use super::error::ExpressionError;
use super::source::{self, Source};

const LEADING_STAR: &str = "a leading * was read as .*";
const UNBALANCED: &str = "an unbalanced bracket was escaped";
const ANCHORS: &str = "^ and $ are implied and were dropped";
const BOTH_ENDS: &str = ".* was added on both ends to find the text anywhere";

/// An expression after partial and full correction.
pub(super) struct Corrected {
    /// Only stars and brackets have been repaired, so this is the original with some inserted
    /// characters.
    repaired: String,
    pub(super) text: String,
}

impl Corrected {
    /// Wraps an expression that needs no correction.
    pub(super) fn unchanged(text: &str) -> Self {
        Self { repaired: text.to_owned(), text: text.to_owned() }
    }

    /// Parses the corrected expression. Errors have positions in `original`.
    pub(super) fn parse(&self, original: &str) -> Result<Hir, ExpressionError> {
        Source::of(&self.text).parse().map_err(|error| match Source::of(&self.repaired).parse() {
            Err(ExpressionError::Syntax { reason, position }) => {
                let position = self.original_position(original, position);
                ExpressionError::Syntax { reason, position }
            }
            _ => error,
        })
    }

    /// Converts a position in the repaired expression to a position in the original. This works
    /// because inserted characters always differ from the character that follows.
    fn original_position(&self, original: &str, position: usize) -> usize {
        let mut left = original.chars().peekable();
        let before = self.repaired.chars().take(position - 1);
        1 + before.filter(|symbol| left.next_if_eq(symbol).is_some()).count()
    }
}

/// Corrects an expression. Adds an entry to `reasons` for every change.
pub(super) fn corrected(text: &str, reasons: &mut Vec<&'static str>) -> Corrected {
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
    let repaired = text.clone();
    let Some(ends) = Ends::of(&text) else {
        return Corrected { repaired, text };
    };
    let without = ends.without_anchors(&text);
    if without != text {
        reasons.push(ANCHORS);
        text = without.to_owned();
    } else if !ends.reach_anywhere {
        let text_closed = Source::closed(&text);
        text = if ends.needs_group {
            format!(".*(?:{text_closed}).*")
        } else {
            format!(".*{text_closed}.*")
        };
        reasons.push(BOTH_ENDS);
    }
    Corrected { repaired, text }
}
