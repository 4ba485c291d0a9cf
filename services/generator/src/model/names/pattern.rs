//! Patterns for names, addresses and companies: strings with placeholders in braces.

use crate::model::digits::push_padded;
use crate::model::random::Random;

/// A piece of a pattern.
#[derive(Debug)]
pub enum Piece {
    /// Literal text.
    Text(Box<str>),
    /// A word from the culture's data.
    Word(Word),
    /// A number in an inclusive range.
    Number(u32, u32),
    /// A house number. Low numbers are more likely.
    House,
    /// One of the first four letters of an alphabet.
    Letter([char; 4]),
    /// A mask of digits and letters, for example a postcode.
    Mask(Box<str>),
}

/// The kinds of words that can replace a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A given name.
    Given,
    /// A surname that matches the given name.
    Surname,
    /// A street, along with any other text before the house number.
    Street,
    /// The first half of a street name, to be completed by [`Word::StreetSecond`].
    StreetFirst,
    /// The second half of a street name.
    StreetSecond,
    /// A house number in the country's usual format.
    House,
    /// A district of a town.
    District,
    /// The town of the address.
    City,
    /// The state or province of the address.
    Region,
    /// One of the town's postcodes.
    Postcode,
    /// A word for company names.
    Company,
    /// The trade of the company.
    Trade,
    /// The company name without its legal form.
    Stem,
}

const WORDS: [(&str, Word); 13] = [
    ("given", Word::Given),
    ("surname", Word::Surname),
    ("street", Word::Street),
    ("sa", Word::StreetFirst),
    ("sb", Word::StreetSecond),
    ("house", Word::House),
    ("district", Word::District),
    ("city", Word::City),
    ("region", Word::Region),
    ("zip", Word::Postcode),
    ("w", Word::Company),
    ("tr", Word::Trade),
    ("x", Word::Stem),
];

const LETTERS: [[char; 4]; 5] = [
    ['a', 'b', 'c', 'd'],
    ['A', 'B', 'C', 'D'],
    ['а', 'б', 'в', 'г'],
    ['А', 'Б', 'В', 'Г'],
    ['Α', 'Β', 'Γ', 'Δ'],
];

/// Letters allowed in every letter position of Canadian and British postcodes.
const POSTAL: &[u8] = b"ABEGHJLNPRSTWXYZ";
/// Letters from [`POSTAL`] that are allowed as the second letter of a Dutch postcode.
const POSTAL_SECOND: &[u8] = b"BGHJLNPRTWXZ";
/// Digits allowed in every position of an Iranian postcode.
const IRANIAN: [u8; 7] = [1, 3, 4, 6, 7, 8, 9];
/// Characters allowed in the second half of an Irish postcode, after the routing key.
const IRISH: &[u8] = b"0123456789ACDEFHKNPRTVWXY";

/// A parsed pattern.
#[derive(Debug, Default)]
pub struct Pattern(pub Box<[Piece]>);

impl Pattern {
    /// Parses a pattern. Returns `None` if a placeholder is unknown or isn't closed.
    pub fn parse(text: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            if open > 0 {
                pieces.push(Piece::Text(rest[..open].into()));
            }
            let close = rest.find('}')?;
            pieces.push(placeholder(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.into()));
        }
        Some(Self(pieces.into()))
    }
}

fn placeholder(name: &str) -> Option<Piece> {
    if let Some((_, word)) = WORDS.iter().find(|(known, _)| *known == name) {
        return Some(Piece::Word(*word));
    }
    if let Some(mask) = name.strip_prefix('=') {
        return Some(Piece::Mask(mask.into()));
    }
    let mut letters = name.chars();
    if let (Some(first), None) = (letters.next(), letters.next())
        && let Some(alphabet) = LETTERS.iter().find(|letters| letters[0] == first)
    {
        return Some(Piece::Letter(*alphabet));
    }
    match name {
        "n" => Some(Piece::House),
        "n999" => Some(Piece::Number(100, 999)),
        "n9999" => Some(Piece::Number(1_000, 9_999)),
        _ => Some(Piece::Number(1, name.strip_prefix('n')?.parse().ok()?)),
    }
}

/// Weighted patterns to choose from at random.
#[derive(Debug, Default)]
pub struct Choice {
    patterns: Vec<Pattern>,
    /// The cumulative weights.
    sums: Vec<u32>,
}

impl Choice {
    /// Adds a pattern, or returns `None` if it's invalid.
    pub fn add(&mut self, text: &str, weight: u32) -> Option<()> {
        self.patterns.push(Pattern::parse(text)?);
        self.sums.push(self.sums.last().unwrap_or(&0) + weight.max(1));
        Some(())
    }

    /// Returns the number of patterns.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Samples a pattern, or returns an empty one if there are none.
    pub fn sample(&self, random: &mut Random) -> &[Piece] {
        let position = match self.sums.as_slice() {
            [] => return &[],
            [_] => 0,
            sums => {
                let nth = random.below(u64::from(sums[sums.len() - 1])) as u32;
                sums.iter().position(|sum| nth < *sum).unwrap_or_default()
            }
        };
        &self.patterns[position].0
    }
}

/// Writes a number using the digits of the script whose zero is `zero`.
pub fn write_number(number: u32, zero: char, out: &mut String) {
    if zero == '0' {
        return push_padded(number.into(), 1, out);
    }
    let mut digits = [0; 10];
    let mut start = digits.len();
    let mut left = number;
    loop {
        start -= 1;
        digits[start] = (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    digits[start..].iter().for_each(|value| push_digit(*value, zero, out));
}

fn push_digit(value: u8, zero: char, out: &mut String) {
    out.push(char::from_u32(u32::from(zero) + u32::from(value)).unwrap_or(zero));
}

/// Fills in a mask at random. `#` is any digit, `%` is 1 to 9, and `$` is a digit that Iranian
/// postcodes can have (not 0, 2 or 5). `@`, `&` and `*` are postcode letters.
pub fn write_mask(mask: &str, random: &mut Random, zero: char, out: &mut String) {
    for character in mask.chars() {
        match character {
            '#' => push_digit(random.below(10) as u8, zero, out),
            '%' => push_digit(random.between(1, 9) as u8, zero, out),
            '$' => push_digit(*random.pick(&IRANIAN), zero, out),
            '@' => out.push(char::from(*random.pick(POSTAL))),
            '&' => out.push(char::from(*random.pick(POSTAL_SECOND))),
            '*' => out.push(char::from(*random.pick(IRISH))),
            '0'..='9' => push_digit(character as u8 - b'0', zero, out),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn placeholders_are_read_and_unknown_ones_refused() {
        let pattern = Pattern::parse("Nr. {n}, {zip} {city}{а}").unwrap();
        assert_eq!(pattern.0.len(), 7);
        for wrong in ["{unknown}", "{n", "{}", "{nx}"] {
            assert!(Pattern::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn masks_fill_in_digits_of_the_script() {
        let mut random = Seed::parse("mask").unwrap().random("test", "");
        let mut out = String::new();
        write_mask("12%-@ ", &mut random, '0', &mut out);
        write_mask("10#", &mut random, '०', &mut out);
        assert_eq!(out.chars().count(), 9);
        assert!(out.starts_with("12") && out.chars().skip(6).all(|c| ('०'..='९').contains(&c)));
        let mut number = String::new();
        write_number(1_905, '0', &mut number);
        write_number(0, '0', &mut number);
        assert_eq!(number, "19050");
    }
}
