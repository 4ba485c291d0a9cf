//! Parsed and compiled expressions.

use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_syntax::hir::{Hir, Look};

use super::correction::corrected;
use super::error::{ExpressionError, LARGEST};
use super::source::Source;
use super::steps;

/// A valid expression that must match whole names.
#[derive(Clone, Debug)]
pub struct Expression {
    source: String,
    notice: Option<String>,
    hir: Hir,
    whole: Regex,
    /// The same expression for matching long strings step by step. Compiled on first use.
    steps: OnceLock<Option<NFA>>,
}

impl Expression {
    /// Parses an expression and optionally corrects it.
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
        let corrected = if correct { corrected(text, &mut reasons) } else { text.to_owned() };
        let hir = Source::of(&corrected).parse()?;
        let whole = compile(&anchored(&hir))?;
        let notice = (!reasons.is_empty()).then(|| {
            format!("The expression was changed to \"{corrected}\": {}.", reasons.join("; "))
        });
        Ok(Self { source: corrected, notice, hir, whole, steps: OnceLock::new() })
    }

    /// Returns the corrected expression, including quotes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the corrected expression in plain syntax, with quotes replaced by escapes.
    pub fn pattern(&self) -> String {
        Source::of(&self.source).pattern().to_owned()
    }

    /// Returns a description of the corrections, or `None` if nothing was changed.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Returns the parsed expression, without the anchors for whole names.
    pub fn hir(&self) -> &Hir {
        &self.hir
    }

    /// Returns the compiled expression, which is anchored at both ends.
    pub fn whole(&self) -> &Regex {
        &self.whole
    }

    /// Returns true if the expression matches the whole of `text`.
    pub fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }

    /// Returns true if the expression matches the whole of `text`. Calls `check` at least once per
    /// millisecond, but takes several times as long as [`whole`](Self::whole) for ordinary strings.
    ///
    /// # Errors
    /// Any error of `check`.
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

/// Compiles a parsed expression. The result must not exceed [`LARGEST`] bytes.
pub fn compile(hir: &Hir) -> Result<Regex, ExpressionError> {
    let config = Regex::config()
        .nfa_size_limit(Some(LARGEST))
        .which_captures(WhichCaptures::Implicit)
        .utf8_empty(true);
    let built = Regex::builder().configure(config).build_from_hir(hir);
    built.map_err(|_| ExpressionError::TooBig)
}
