//! Parses and compiles expressions.

use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_syntax::hir::{Hir, Look};

use super::correction::{Corrected, corrected};
use super::error::{ExpressionError, LARGEST};
use super::source::Source;
use super::steps;

/// A valid expression. Matches always span the whole name.
#[derive(Clone, Debug)]
pub struct Expression {
    source: String,
    notice: Option<String>,
    hir: Hir,
    whole: Regex,
    /// Used to match long strings step by step. Compiled on first use.
    steps: OnceLock<Option<NFA>>,
}

impl Expression {
    /// Parses an expression, correcting it if `correct` is set.
    ///
    /// ```
    /// use buckets::model::Expression;
    ///
    /// let expression = Expression::parse("19[0-9]{2}", true)?;
    /// assert_eq!(expression.source(), ".*19[0-9]{2}.*");
    /// assert!(expression.matches("img-1984.png"));
    /// # Ok::<(), buckets::model::ExpressionError>(())
    /// ```
    pub fn parse(text: &str, correct: bool) -> Result<Self, ExpressionError> {
        let mut reasons = Vec::new();
        let corrected = match correct {
            true => corrected(text, &mut reasons),
            false => Corrected::unchanged(text),
        };
        let hir = corrected.parse(text)?;
        let source = corrected.text;
        let whole = compile(&anchored(&hir))?;
        let notice = (!reasons.is_empty()).then(|| {
            format!("The expression was changed to \"{source}\": {}.", reasons.join("; "))
        });
        Ok(Self { source, notice, hir, whole, steps: OnceLock::new() })
    }

    /// The corrected expression. It can still have literal quotes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The corrected expression as a plain regex, with quoted literals escaped.
    pub fn pattern(&self) -> String {
        Source::of(&self.source).pattern().to_owned()
    }

    /// Describes the corrections, or returns `None` if there weren't any.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// The parsed expression, which isn't anchored.
    pub fn hir(&self) -> &Hir {
        &self.hir
    }

    /// The compiled expression, which is anchored at both ends.
    pub fn whole(&self) -> &Regex {
        &self.whole
    }

    /// Returns `true` if the whole of `text` matches.
    pub fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }

    /// Returns `true` if the whole of `text` matches. Calls `check` at least once per millisecond,
    /// but is several times slower than [`whole`](Self::whole) for ordinary strings.
    ///
    /// # Errors
    /// Returns any error from `check`.
    pub fn matches_in_steps<E>(
        &self,
        text: &[u8],
        check: impl FnMut() -> Result<(), E>,
    ) -> Result<bool, E> {
        match self.steps.get_or_init(|| steps::compile(&anchored(&self.hir)).ok()) {
            Some(nfa) => steps::matches(nfa, text, check),
            None => Ok(self.whole.is_match(text)),
        }
    }
}

/// Anchors an expression at both ends.
fn anchored(hir: &Hir) -> Hir {
    Hir::concat(vec![Hir::look(Look::Start), hir.clone(), Hir::look(Look::End)])
}

/// Compiles an expression. Returns an error if the result is larger than [`LARGEST`].
pub fn compile(hir: &Hir) -> Result<Regex, ExpressionError> {
    let config = Regex::config()
        .nfa_size_limit(Some(LARGEST))
        .which_captures(WhichCaptures::Implicit)
        .utf8_empty(true);
    let built = Regex::builder().configure(config).build_from_hir(hir);
    built.map_err(|_| ExpressionError::TooBig)
}
