//! Finds candidates for full-path expressions by searching directories and names.
//!
//! If a match contains a slash, everything up to and including that slash is in the directory. A
//! part without a slash is in either the directory or the name, and names have a trigram index.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::collect::BitCollector;
use super::core::{is_anything, within_a_row};
use super::directories::Directories;
use super::query;
use super::trigrams::{self, Counted};
use super::view::View;
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::expression::compile;
use crate::model::file_query::FileQuery;

/// Maximum number of branches in an alternation.
const MOST_BRANCHES: usize = 8;
/// Shortest match, in bytes, for which it makes sense to search the directories.
const SHORTEST: usize = 3;
/// If more than 1 in `SHARE` names needs checking, it's cheaper to read all paths.
const SHARE: u64 = 32;
/// Number of names that are always worth checking.
const FEW: u64 = 500;

/// Returns a superset of the matching rows, or `None` if they can't be narrowed down far enough.
pub(super) fn candidates(
    view: &View,
    query: &FileQuery,
    expression: &Hir,
    limits: &Limits,
) -> Result<Option<Bitmap>, EngineError> {
    let Some(directories) = view.directories(limits)? else { return Ok(None) };
    Search { view, query, directories, limits }.rows(expression)
}

struct Search<'a> {
    view: &'a View,
    query: &'a FileQuery,
    directories: &'a Directories,
    limits: &'a Limits,
}

impl Search<'_> {
    fn rows(&self, hir: &Hir) -> Result<Option<Bitmap>, EngineError> {
        let parts = match hir.kind() {
            HirKind::Capture(capture) => return self.rows(&capture.sub),
            HirKind::Alternation(branches) if has_slash(hir) => return self.any(branches),
            HirKind::Concat(parts) => parts,
            _ => std::slice::from_ref(hir),
        };
        let (above, rest) = at_last_slash(parts);
        let rows = self.in_directories(&above)?;
        Ok(match (rows, self.in_one_place(&rest)?) {
            (Some(mut rows), Some(others)) => {
                rows.intersect(&others);
                Some(rows)
            }
            (rows, others) => rows.or(others),
        })
    }

    /// Returns the candidates of all branches combined.
    fn any(&self, branches: &[Hir]) -> Result<Option<Bitmap>, EngineError> {
        if branches.len() > MOST_BRANCHES {
            return Ok(None);
        }
        let mut all = Bitmap::new(self.view.column.rows());
        for branch in branches {
            let Some(rows) = self.rows(branch)? else { return Ok(None) };
            all.union(&rows);
        }
        Ok(Some(all))
    }

    /// Returns the rows whose directory matches these parts.
    fn in_directories(&self, parts: &[Hir]) -> Result<Option<Bitmap>, EngineError> {
        let parts = parts.iter().skip_while(|part| is_anything(part)).cloned().collect();
        let core = within_a_row(&Hir::concat(parts));
        if core.properties().minimum_len().is_none_or(|length| length < SHORTEST) {
            return Ok(None);
        }
        let Ok(regex) = compile(&core) else { return Ok(None) };
        self.directories.rows_with(&regex, self.limits).map(Some)
    }

    /// Returns the rows where some adjacent parts without a slash match, either in the directory or
    /// in the name. Picks the parts that occur in the fewest names.
    fn in_one_place(&self, parts: &[Hir]) -> Result<Option<Bitmap>, EngineError> {
        let mut rarest: Option<(Counted, &[Hir])> = None;
        for neighbours in parts.split(has_slash) {
            let Some((files, names)) =
                trigrams::containing(self.view, &Hir::concat(neighbours.to_vec()))?
            else {
                continue;
            };
            if rarest.as_ref().is_none_or(|((fewest, _), _)| files < *fewest) {
                rarest = Some(((files, names), neighbours));
            }
        }
        let few =
            |files: u64| files <= FEW || files.saturating_mul(SHARE) < self.view.column.rows();
        let Some(((_, names), neighbours)) = rarest.filter(|((files, _), _)| few(*files)) else {
            return Ok(None);
        };
        let Some(mut rows) = self.in_directories(neighbours)? else { return Ok(None) };
        let names = query::compile(self.view, self.query, Some(names), self.limits);
        let collector = BitCollector::new(&self.view.segments, self.view.column.rows(), self.query);
        rows.union(&self.view.gather(&*names, &collector, self.limits)?);
        Ok(Some(rows))
    }
}

/// Splits the parts after the last slash that has to be in every match.
fn at_last_slash(parts: &[Hir]) -> (Vec<Hir>, Vec<Hir>) {
    for (place, part) in parts.iter().enumerate().rev() {
        let HirKind::Literal(literal) = part.kind() else { continue };
        let Some(slash) = memchr::memrchr(b'/', &literal.0) else { continue };
        let (before, behind) = literal.0.split_at(slash + 1);
        let above = parts[..place].iter().cloned().chain([Hir::literal(before)]);
        let rest = [Hir::literal(behind)].into_iter().chain(parts[place + 1..].iter().cloned());
        return (above.collect(), rest.collect());
    }
    (Vec::new(), parts.to_vec())
}

/// Returns `true` if an expression can match a string with a slash.
fn has_slash(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'/'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'/'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'/'))
        }
        HirKind::Repetition(repetition) => has_slash(&repetition.sub),
        HirKind::Capture(capture) => has_slash(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_slash),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::expression::Expression;

    #[rstest]
    #[case("weather[0-9]/", "weather[0-9]/", "")]
    #[case("a/b/cd.*e", "a/b/", "cd.*e")]
    #[case("19/20", "19/", "20")]
    #[case("a.*b", "", "a.*b")]
    #[case("(a/)b", "", "(a/)b")]
    fn expressions_split_at_last_slash(
        #[case] text: &str,
        #[case] above: &str,
        #[case] rest: &str,
    ) {
        let hir = |text: &str| Expression::parse(text, false).unwrap().hir().clone();
        let expression = hir(text);
        let parts = match expression.kind() {
            HirKind::Concat(parts) => parts,
            _ => std::slice::from_ref(&expression),
        };
        let (front, back) = at_last_slash(parts);
        assert_eq!((Hir::concat(front), Hir::concat(back)), (hir(above), hir(rest)), "{text}");
    }

    #[rstest]
    #[case("[^a]", true)]
    #[case(".", true)]
    #[case(r"\w\d[0-9.]|(x-)+$", false)]
    #[case("[+-9]", true)]
    #[case("(?:a|(b/)?)c", true)]
    fn slash_matches_are_detected(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(has_slash(Expression::parse(text, false).unwrap().hir()), expected, "{text}");
    }
}
