//! The issuer ranges of each card brand, and card numbers sampled from them.

use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::Date;

use super::table::{CARD_TYPES, CardType, Prefixes};
use crate::model::ascii_buffer::AsciiBuffer;
use crate::model::check::{ascii, luhn};
use crate::model::names;
use crate::model::random::Random;

/// A synthetic payment card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The brand.
    pub kind: &'static CardType,
    /// The first day of the expiry month.
    pub expiry: Date,
    /// The cardholder's name.
    pub holder: String,
    /// The card number, which consists of digits and has a valid Luhn checksum.
    pub number: String,
    /// The three- or four-digit security code printed on the card.
    pub code: String,
    /// A four-digit PIN that doesn't start with 0.
    pub pin: u16,
}

impl Card {
    /// Generates a card that is valid on `today`. If `kind` is `None`, picks a random brand,
    /// weighted by market share.
    pub fn generate(random: &mut Random, kind: Option<&'static CardType>, today: Date) -> Self {
        Self::issue(random, kind, today, |random, holder| {
            names::american().write_full(random, holder);
        })
    }

    /// Like [`Card::generate`], but `write` appends the cardholder's name.
    pub fn issue(
        random: &mut Random,
        kind: Option<&'static CardType>,
        today: Date,
        write: impl FnOnce(&mut Random, &mut String),
    ) -> Self {
        let kind = kind.unwrap_or_else(|| any_type(random));
        let mut number = String::with_capacity(19);
        kind.write_number(random, &mut number);
        let months = random.between(7, 60) as i64;
        let expiry = today.first_of_month().saturating_add(months.months());
        let mut holder = String::new();
        write(random, &mut holder);
        let mut code = AsciiBuffer::new();
        code.push_digits(random, kind.code_length);
        let pin = random.between(1_000, 9_999) as u16;
        Self { kind, expiry, holder, number, code: code.as_str().to_owned(), pin }
    }
}

/// Finds a brand by name or alias. Ignores case, spaces, `-` and `_`.
pub fn find(name: &str) -> Option<&'static CardType> {
    let plain: String =
        name.chars().filter(|c| !c.is_whitespace() && *c != '-' && *c != '_').collect();
    CARD_TYPES.iter().find(|kind| {
        kind.name.eq_ignore_ascii_case(&plain)
            || kind.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&plain))
    })
}

/// Picks a brand. The four big ones are weighted by market share, and the rest are equally likely.
fn any_type(random: &mut Random) -> &'static CardType {
    let rest = CARD_TYPES.iter().filter(|kind| kind.share == 0).count() as u64;
    // Count in units of 1/rest percent, so that the remaining 14 percent split evenly among the
    // others.
    let mut left = random.below(100 * rest);
    for kind in CARD_TYPES {
        let weight = if kind.share == 0 { 14 } else { u64::from(kind.share) * rest };
        match left.checked_sub(weight) {
            Some(next) => left = next,
            None => return kind,
        }
    }
    &CARD_TYPES[0]
}

impl CardType {
    /// Appends a card number of this brand.
    pub fn write_number(&self, random: &mut Random, out: &mut String) {
        let space = &SPACES[self.position()];
        let length = usize::from(*random.pick_weighted(self.lengths));
        let mut number = AsciiBuffer::new();
        number.push_number(space.sample(random), 6);
        number.push_digits(random, length - 7);
        number.push(ascii(luhn(number.bytes())));
        out.push_str(number.as_str());
    }

    /// Returns whether cards of this brand can have this length.
    pub(super) fn has_length(&self, digits: usize) -> bool {
        let made = self.lengths.iter().map(|(length, _)| length);
        made.chain(self.other_lengths).any(|length| usize::from(*length) == digits)
    }

    fn position(&self) -> usize {
        CARD_TYPES.iter().position(|kind| kind.name == self.name).unwrap_or_default()
    }
}

/// Returns the brands with the longest matching prefix. There can be more than one, because some
/// prefixes belong to two brands.
pub fn detect(number: &str) -> Vec<&'static CardType> {
    let Some(Ok(iin)) = number.get(..6).map(str::parse::<u32>) else { return Vec::new() };
    let match_of = |kind: &CardType| {
        let all = kind.prefixes.iter().chain(kind.claims);
        let spans = all.filter(|prefix| prefix.span().contains(iin));
        spans.map(Prefixes::digits).max()
    };
    let longest = CARD_TYPES.iter().filter_map(match_of).max();
    CARD_TYPES.iter().filter(|kind| longest.is_some() && match_of(kind) == longest).collect()
}

/// An inclusive range of six-digit issuer identification numbers.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    last: u32,
}

impl Span {
    fn contains(self, iin: u32) -> bool {
        (self.first..=self.last).contains(&iin)
    }
}

impl Prefixes {
    /// Returns the number of digits in each prefix.
    fn digits(&self) -> u32 {
        self.0.ilog10() + 1
    }

    /// Returns the six-digit range that these prefixes cover.
    fn span(&self) -> Span {
        let scale = 10u32.pow(6 - self.digits());
        Span { first: self.0 * scale, last: self.1 * scale + scale - 1 }
    }
}

/// A brand's issuer numbers, excluding any for which another brand has a longer prefix.
struct Space {
    /// The issuer numbers under each prefix, with their weight.
    shares: Vec<(Share, u16)>,
}

/// Issuer numbers under one or more prefixes.
struct Share {
    /// Ranges, each with the total size of the ranges before it.
    runs: Vec<(u32, Span)>,
    total: u32,
}

impl Space {
    fn of(kind: &CardType) -> Self {
        let spans = kind.prefixes.iter().map(|prefix| {
            let mut free = vec![prefix.span()];
            let longer = |other: &&Prefixes| other.digits() > prefix.digits();
            let others = CARD_TYPES.iter().filter(|other| other.name != kind.name);
            let theirs = others.flat_map(|other| other.prefixes.iter().chain(other.claims));
            for taken in theirs.filter(longer).chain(kind.except) {
                free = free.into_iter().flat_map(|span| without(span, taken.span())).collect();
            }
            free
        });
        let shares = match kind.weights {
            [] => vec![(Share::of(spans.flatten().collect()), 1)],
            weights => spans.map(Share::of).zip(weights.iter().copied()).collect(),
        };
        Self { shares }
    }

    fn sample(&self, random: &mut Random) -> u64 {
        match &self.shares[..] {
            [(only, _)] => only.sample(random),
            several => random.pick_weighted(several).sample(random),
        }
    }
}

impl Share {
    fn of(spans: Vec<Span>) -> Self {
        let mut total = 0;
        let runs = spans.into_iter().map(|span| {
            let before = total;
            total += span.last - span.first + 1;
            (before, span)
        });
        Self { runs: runs.collect(), total }
    }

    fn sample(&self, random: &mut Random) -> u64 {
        let nth = random.below(u64::from(self.total)) as u32;
        let run = self.runs.partition_point(|(before, _)| *before <= nth) - 1;
        let (before, span) = self.runs[run];
        u64::from(span.first + (nth - before))
    }
}

fn without(span: Span, taken: Span) -> Vec<Span> {
    if taken.last < span.first || span.last < taken.first {
        return vec![span];
    }
    let mut rest = Vec::with_capacity(2);
    if span.first < taken.first {
        rest.push(Span { first: span.first, last: taken.first - 1 });
    }
    if taken.last < span.last {
        rest.push(Span { first: taken.last + 1, last: span.last });
    }
    rest
}

static SPACES: LazyLock<Vec<Space>> = LazyLock::new(|| CARD_TYPES.iter().map(Space::of).collect());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    fn random() -> Random {
        Seed::parse("cards").unwrap().random("test", "")
    }

    #[test]
    fn discover_numbers_match_no_other_brand() {
        let mut random = random();
        let discover = find("discover").unwrap();
        for _ in 0..20_000 {
            let mut number = String::new();
            discover.write_number(&mut random, &mut number);
            assert_eq!(detect(&number), [discover], "{number}");
        }
    }

    #[test]
    fn common_prefixes_are_sampled_most_often() {
        let mut random = random();
        for (brand, prefixes, least) in
            [("Discover", &["6011"][..], 700), ("Mastercard", &["5"], 850), ("Amex", &["37"], 800)]
        {
            let brand = find(brand).unwrap();
            let mut usual = 0;
            for _ in 0..1_000 {
                let mut number = String::new();
                brand.write_number(&mut random, &mut number);
                usual += u32::from(prefixes.iter().any(|prefix| number.starts_with(prefix)));
            }
            assert!((least..1_000).contains(&usual), "{} {usual}", brand.name);
        }
    }

    #[test]
    fn brands_are_found_in_any_case_with_any_separators() {
        for name in ["AmericanExpress", "american_express", "American Express", "AMEX", "amex"] {
            assert_eq!(find(name).unwrap().name, "AmericanExpress");
        }
        assert!(find("Monopoly").is_none());
    }

    #[test]
    fn brands_are_sampled_by_market_share() {
        let mut random = random();
        let mut visa = 0;
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20_000 {
            let kind = any_type(&mut random);
            visa += u32::from(kind.name == "Visa");
            seen.insert(kind.name);
        }
        assert!((7_600..8_400).contains(&visa), "{visa}");
        assert_eq!(seen.len(), CARD_TYPES.len());
    }

    #[test]
    fn cards_expire_between_seven_and_sixty_months_ahead() {
        let mut random = random();
        let today = jiff::civil::date(2030, 1, 31);
        for _ in 0..2_000 {
            let card = Card::generate(&mut random, None, today);
            assert!(card.expiry >= jiff::civil::date(2030, 8, 1));
            assert!(card.expiry <= jiff::civil::date(2035, 1, 1));
            assert_eq!(card.expiry.day(), 1);
            assert!((1_000..=9_999).contains(&card.pin));
            assert_eq!(card.code.len(), card.kind.code_length);
            assert!(card.holder.is_ascii() && card.holder.contains(' '));
        }
    }
}
