//! A normalised number of the right form, with what rules need of it.

use jiff::civil::Date;

use super::outcome::{Outcome, Stage};
use crate::model::check;

/// A number that has the form of its scheme.
pub struct Number<'a> {
    text: &'a str,
    today: Date,
}

/// Valid when the check digits are.
pub fn checks(right: bool) -> Outcome {
    if right { Ok(()) } else { Err(Stage::Checksum) }
}

/// Valid when a component has a meaning.
pub fn fits(right: bool) -> Outcome {
    if right { Ok(()) } else { Err(Stage::Component) }
}

/// The index of a digit or capital in `0-9A-Z`.
pub fn base_36(byte: u8) -> i32 {
    match byte {
        b'A'..=b'Z' => i32::from(byte - b'A') + 10,
        _ => i32::from(byte.wrapping_sub(b'0')),
    }
}

impl<'a> Number<'a> {
    /// A number to be judged on a day.
    pub fn new(text: &'a str, today: Date) -> Self {
        Self { text, today }
    }

    /// The day of the judgement.
    pub fn today(&self) -> Date {
        self.today
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The text as bytes; all forms but that of Mexico are ASCII.
    pub fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// A part, which the form guarantees to be there.
    pub fn part(&self, from: usize, to: usize) -> Number<'a> {
        Number { text: self.text.get(from..to).unwrap_or_default(), today: self.today }
    }

    /// The byte at a position, counted from 0.
    pub fn at(&self, position: usize) -> u8 {
        self.bytes().get(position).copied().unwrap_or(b'0')
    }

    /// The digit at a position, counted from 0.
    pub fn digit(&self, position: usize) -> i32 {
        i32::from(self.at(position).wrapping_sub(b'0'))
    }

    /// The last digit.
    pub fn last(&self) -> i32 {
        self.digit(self.len().saturating_sub(1))
    }

    /// The last character.
    pub fn end(&self) -> char {
        self.text.chars().last().unwrap_or('0')
    }

    /// The value of the digits in a range.
    pub fn value(&self, from: usize, to: usize) -> u64 {
        check::number(self.part(from, to).bytes())
    }

    /// Σ weight · digit from the left.
    pub fn sum(&self, weights: &[i32]) -> i32 {
        check::weighted(self.bytes(), weights)
    }

    /// Σ weight · digit from the right of all but the last character.
    pub fn sum_back(&self, weights: impl Iterator<Item = i32>) -> i32 {
        let body = &self.bytes()[..self.len().saturating_sub(1)];
        body.iter()
            .rev()
            .zip(weights)
            .map(|(byte, weight)| check::digit(*byte) as i32 * weight)
            .sum()
    }

    /// Whether Luhn's rule holds for the whole number.
    pub fn luhn(&self) -> Outcome {
        checks(check::luhn_holds(self.bytes()))
    }

    /// Whether ISO 7064 MOD 11,10 holds for the whole number.
    pub fn mod_11_10(&self) -> Outcome {
        checks(check::mod_11_10_holds(self.bytes()))
    }

    /// Whether the remainder by `modulus` of a number of any length is `rest`.
    pub fn remainder(&self, modulus: u64) -> u64 {
        self.bytes()
            .iter()
            .fold(0, |rest, byte| (rest * 10 + u64::from(check::digit(*byte))) % modulus)
    }

    /// Whether the last character stands at `position` in `alphabet`.
    pub fn ends_in(&self, alphabet: &str, position: i32) -> Outcome {
        checks(
            usize::try_from(position)
                .is_ok_and(|position| alphabet.chars().nth(position) == Some(self.end())),
        )
    }
}
