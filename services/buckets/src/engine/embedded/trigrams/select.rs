//! Compiles trigram conditions to Tantivy queries.

use regex_syntax::hir::Hir;
use tantivy::Term;
use tantivy::query::{BooleanQuery, EmptyQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use super::super::view::View;
use super::framed::Framed;
use super::need::{Need, Texts};
use super::part::Part;
use super::symbols::END;
use super::tokenizer::{LENGTH, term_text};
use crate::engine::error::EngineError;
use crate::model::extension;

/// Maximum number of trigrams in a query.
const MOST_GRAMS: usize = 600;
/// Maximum number of conditions to combine. Beyond that, it's cheaper to check the remaining names.
const MOST_TOGETHER: usize = 3;
/// If fewer files remain, no further condition is added.
const FEW: u64 = 500;
/// If more than 1 in `SHARE` files needs checking, it's cheaper to read all names.
const SHARE: u64 = 4;
/// Maximum number of letters `s` in an extension. Each `s` doubles the number of spellings.
const MOST_SPELLINGS: usize = 4;

/// A query that narrows an expression down using posting lists.
pub(in super::super) struct Narrowed {
    /// Matches every file that matches the expression, and possibly others.
    pub(in super::super) query: Box<dyn Query>,
    /// Set if the query doesn't match any other files.
    pub(in super::super) decides: bool,
}

/// Narrows down an expression that must match whole names. Returns `None` if it's faster to read
/// all names.
pub(in super::super) fn narrowed(view: &View, hir: &Hir) -> Result<Option<Narrowed>, EngineError> {
    if let Some(extensions) = extensions(hir) {
        let terms =
            extensions.iter().map(|text| Term::from_field_text(view.fields.extension, text));
        let any = terms.map(|term| (Occur::Should, posting(term))).collect();
        return Ok(Some(Narrowed { query: any_of(any), decides: true }));
    }
    let Some(field) = view.fields.name_trigrams else { return Ok(None) };
    let end = || Part::exactly([vec![END]].into(), true);
    let need = end().then(Part::of(hir)).then(end()).open().need;
    if need == Need::Nothing || need.size() > MOST_GRAMS {
        return Ok(None);
    }
    let (files, query) = Selection { view, field, text: String::new() }.choose(&need)?;
    let decides = contained(hir).is_some();
    let worth = decides || files.saturating_mul(SHARE) < view.column.rows();
    Ok(worth.then_some(Narrowed { query, decides }))
}

/// A query and its approximate number of matches.
pub(in super::super) type Counted = (u64, Box<dyn Query>);

/// Builds a query for names that could contain a match. Returns `None` if there are no trigrams to
/// look for.
pub(in super::super) fn containing(view: &View, hir: &Hir) -> Result<Option<Counted>, EngineError> {
    let Some(field) = view.fields.name_trigrams else { return Ok(None) };
    let need = Part::of(hir).open().need;
    if need == Need::Nothing || need.size() > MOST_GRAMS {
        return Ok(None);
    }
    Selection { view, field, text: String::new() }.choose(&need).map(Some)
}

/// If the expression matches exactly the names that have one of certain extensions, returns these
/// extensions.
fn extensions(hir: &Hir) -> Option<Vec<String>> {
    let Framed { front, texts, back } = Framed::of(hir)?;
    if !front || back {
        return None;
    }
    let mut extensions = Vec::new();
    for text in texts {
        let text = String::from_utf8(text).ok()?;
        let wanted = text.strip_prefix('.')?;
        let letters = wanted.matches('s').count();
        let indexed = extension::parse(wanted).is_ok_and(|parsed| parsed == wanted);
        // The long s (ſ) takes two bytes and isn't folded in extensions.
        if !indexed || letters > MOST_SPELLINGS || wanted.len() + letters > extension::LONGEST {
            return None;
        }
        let spelled = (0..1u32 << letters).map(|choice| {
            let mut letter = 0;
            let spell = |symbol: char| match symbol {
                's' => {
                    letter += 1;
                    if choice >> (letter - 1) & 1 == 1 { '\u{17f}' } else { 's' }
                }
                other => other,
            };
            wanted.chars().map(spell).collect::<String>()
        });
        extensions.extend(spelled);
    }
    Some(extensions)
}

/// If the expression matches exactly the names that contain one of certain trigrams, returns these
/// trigrams.
fn contained(hir: &Hir) -> Option<Texts> {
    let Framed { front, texts, back } = Framed::of(hir)?;
    (front && back && texts.iter().all(|text| text.len() == LENGTH)).then_some(texts)
}

struct Selection<'a> {
    view: &'a View,
    field: Field,
    text: String,
}

impl Selection<'_> {
    /// Compiles a condition. Also estimates how many files match.
    fn choose(&mut self, need: &Need) -> Result<Counted, EngineError> {
        match need {
            Need::Nothing => Ok((self.view.column.rows(), Box::new(tantivy::query::AllQuery))),
            Need::Gram(gram) => {
                term_text(gram, &mut self.text);
                let term = Term::from_field_text(self.field, &self.text);
                Ok((self.view.searcher.doc_freq(&term)?, posting(term)))
            }
            Need::All(needs) => {
                let mut all = Vec::with_capacity(needs.len());
                for need in needs {
                    let (files, query) = self.choose(need)?;
                    let gram = if let Need::Gram(gram) = need { Some(*gram) } else { None };
                    all.push((files, gram, query));
                }
                all.sort_by_key(|(files, _, _)| *files);
                let fewest = all.first().map_or(0, |(files, _, _)| *files);
                let most = if fewest <= FEW { 1 } else { MOST_TOGETHER };
                let grams: Vec<_> = all.iter().map(|(_, gram, _)| *gram).collect();
                let mut chosen = telling(&grams);
                chosen.truncate(most);
                let (place, chosen) = (0.., chosen);
                let queries = place.zip(all).filter(|(place, _)| chosen.contains(place));
                let mut queries: Vec<_> =
                    queries.map(|(_, (_, _, query))| (Occur::Must, query)).collect();
                let query = match queries.len() {
                    1 => queries.remove(0).1,
                    _ => Box::new(BooleanQuery::new(queries)),
                };
                Ok((fewest, query))
            }
            Need::Any(needs) => {
                let any =
                    needs.iter().map(|need| self.choose(need)).collect::<Result<Vec<_>, _>>()?;
                let files = any.iter().fold(0u64, |sum, (files, _)| sum.saturating_add(*files));
                let found = any.into_iter().filter(|(files, _)| *files > 0);
                Ok((files, any_of(found.map(|(_, query)| (Occur::Should, query)).collect())))
            }
        }
    }
}

/// Orders conditions so that the first few narrow the search down as far as possible. One trigram
/// from each string comes first, followed by trigrams that don't overlap with it. `grams` must be
/// sorted, rarest first, with `None` for conditions that aren't a single trigram.
fn telling(grams: &[Option<[u8; LENGTH]>]) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    // Trigrams of strings from which one has been chosen.
    let mut told: Vec<[u8; LENGTH]> = Vec::new();
    let mut rest = Vec::new();
    for (place, gram) in grams.iter().enumerate() {
        if gram.is_some_and(|gram| told.contains(&gram)) {
            rest.push(place);
        } else {
            chosen.push(place);
            told.extend(text_of(gram.as_slice(), grams));
        }
    }
    for place in rest {
        let overlaps = |&other: &usize| match (grams[place], grams[other]) {
            (Some(gram), Some(other)) => overlap(gram, other),
            _ => false,
        };
        if !chosen.iter().any(overlaps) {
            chosen.push(place);
        }
    }
    chosen
}

/// Collects trigrams that overlap with each other and therefore usually come from the same string.
fn text_of(some: &[[u8; LENGTH]], grams: &[Option<[u8; LENGTH]>]) -> Vec<[u8; LENGTH]> {
    let mut text = some.to_vec();
    let mut looked = 0;
    while let Some(&gram) = text.get(looked) {
        looked += 1;
        let others = grams.iter().flatten().filter(|other| overlap(gram, **other));
        let others: Vec<_> = others.filter(|other| !text.contains(other)).copied().collect();
        text.extend(others);
    }
    text
}

/// Returns `true` if two trigrams overlap by two symbols. Names with one of the trigrams usually
/// contain the other as well, so it doesn't help to query both.
fn overlap(one: [u8; LENGTH], other: [u8; LENGTH]) -> bool {
    one[1..] == other[..LENGTH - 1] || other[1..] == one[..LENGTH - 1]
}

fn posting(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

fn any_of(mut queries: Vec<(Occur, Box<dyn Query>)>) -> Box<dyn Query> {
    match queries.len() {
        0 => Box::new(EmptyQuery),
        1 => queries.remove(0).1,
        _ => Box::new(BooleanQuery::new(queries)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::expression::Expression;

    fn hir(text: &str) -> Hir {
        Expression::parse(text, false).unwrap().hir().clone()
    }

    #[rstest]
    #[case(r".*\.gz", Some(vec!["gz"]))]
    #[case(r".*\.(TAR\.gz|zip)", Some(vec!["tar.gz", "zip"]))]
    #[case(r"(.*\.js)", Some(vec!["js", "j\u{17f}"]))]
    #[case(r".*\.(?-i:gz)", None)]
    #[case(r".*a\.gz", None)]
    #[case(r"\.gz", None)]
    #[case(r".*\.\.gz", None)]
    #[case(r".*\.[a-z]+", None)]
    fn extensions_decide(#[case] text: &str, #[case] expected: Option<Vec<&str>>) {
        let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
        assert_eq!(extensions(&hir(text)), expected, "{text}");
    }

    #[rstest]
    #[case(".*sql.*", true)]
    #[case(".*(sql|bak).*", true)]
    #[case(".*[0-9]ab.*", true)]
    #[case(".*sqlx.*", false)]
    #[case(".*(?-i:sql).*", false)]
    #[case(".*af\u{e9}.*", false)]
    #[case(r".*\bsql.*", false)]
    #[case("sql.*", false)]
    fn single_trigrams_are_sufficient(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(contained(&hir(text)).is_some(), expected, "{text}");
    }

    #[rstest]
    #[case(".ta tar ar. r.g bac ack cku kup", &[0, 4, 2, 6])]
    #[case("fin nal ina", &[0, 1])]
    #[case("abc - bcd xyz", &[0, 1, 3])]
    fn conditions_of_distinct_texts_are_preferred(#[case] grams: &str, #[case] expected: &[usize]) {
        let gram = |text: &str| text.as_bytes().try_into().ok();
        let grams: Vec<_> = grams.split(' ').map(gram).collect();
        assert_eq!(telling(&grams), expected);
    }

    /// Takes minutes if the trigrams of a string are collected for each of them.
    #[test]
    fn trigrams_of_a_long_text_are_collected_once() {
        let triple = |number: u32| [number / 169, number / 13 % 13, number % 13].map(|n| n as u8);
        let grams: Vec<_> = (0..13 * 169).map(|number| Some(triple(number))).collect();
        assert_eq!(telling(&grams)[..3], [0, 13, 14]);
    }

    #[rstest]
    #[case(".*backup.*", 4)]
    #[case(".*19[0-9]{2}.*", 10)]
    #[case(r"\.env", 4)]
    #[case("dump.*sql", 5)]
    #[case("(ab)+c.*", 2)]
    #[case("a.*b", 0)]
    #[case(".*[0-9]{4}.*", 0)]
    #[case(".*(passw|a).*", 0)]
    fn expressions_require_trigrams(#[case] text: &str, #[case] expected: usize) {
        let end = || Part::exactly([vec![END]].into(), true);
        let need = end().then(Part::of(&hir(text))).then(end()).open().need;
        assert_eq!(need.size(), expected, "{text}: {need:?}");
    }
}
