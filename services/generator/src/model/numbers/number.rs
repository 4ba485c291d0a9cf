//! A normalized number that matches its form, with accessors for use in rules.

use jiff::civil::Date;

use super::outcome::{Outcome, Stage};
use crate::model::check;

/// A number that matches its scheme's form.
pub struct Number<'a> {
    text: &'a str,
    today: Date,
}

/// Fails with [`Stage::Checksum`] unless the check digits are correct.
pub fn checks(right: bool) -> Outcome {
    if right { Ok(()) } else { Err(Stage::Checksum) }
}

/// Fails with [`Stage::Component`] unless a component is plausible.
pub fn fits(right: bool) -> Outcome {
    if right { Ok(()) } else { Err(Stage::Component) }
}

/// Returns the position of a digit or capital letter in `0-9A-Z`.
pub fn base_36(byte: u8) -> i32 {
    match byte {
        b'A'..=b'Z' => i32::from(byte - b'A') + 10,
        _ => i32::from(byte.wrapping_sub(b'0')),
    }
}

impl<'a> Number<'a> {
    /// Wraps a number to be checked as of `today`.
    pub fn new(text: &'a str, today: Date) -> Self {
        Self { text, today }
    }

    /// Returns the date as of which the number is checked.
    pub fn today(&self) -> Date {
        self.today
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the text as bytes. All forms except the Mexican one are ASCII.
    pub fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns a substring, which the form guarantees to exist.
    pub fn part(&self, from: usize, to: usize) -> Number<'a> {
        Number { text: self.text.get(from..to).unwrap_or_default(), today: self.today }
    }

    /// Returns the byte at `position`.
    pub fn at(&self, position: usize) -> u8 {
        self.bytes().get(position).copied().unwrap_or(b'0')
    }

    /// Returns the digit at `position`.
    pub fn digit(&self, position: usize) -> i32 {
        i32::from(self.at(position).wrapping_sub(b'0'))
    }

    /// Returns the last digit.
    pub fn last(&self) -> i32 {
        self.digit(self.len().saturating_sub(1))
    }

    /// Returns the last character.
    pub fn end(&self) -> char {
        self.text.chars().last().unwrap_or('0')
    }

    /// Parses a range of digits.
    pub fn value(&self, from: usize, to: usize) -> u64 {
        check::number(self.part(from, to).bytes())
    }

    /// Returns the sum of weight · digit from left to right.
    pub fn sum(&self, weights: &[i32]) -> i32 {
        check::weighted(self.bytes(), weights)
    }

    /// Returns the sum of weight · digit from right to left, excluding the last character.
    pub fn sum_back(&self, weights: impl Iterator<Item = i32>) -> i32 {
        let body = &self.bytes()[..self.len().saturating_sub(1)];
        body.iter()
            .rev()
            .zip(weights)
            .map(|(byte, weight)| check::digit(*byte) as i32 * weight)
            .sum()
    }

    /// Checks the entire number with the Luhn algorithm.
    pub fn luhn(&self) -> Outcome {
        checks(check::luhn_holds(self.bytes()))
    }

    /// Checks the entire number with ISO 7064 MOD 11,10.
    pub fn mod_11_10(&self) -> Outcome {
        checks(check::mod_11_10_holds(self.bytes()))
    }

    /// Returns the number modulo `modulus`. The number can have any length.
    pub fn remainder(&self, modulus: u64) -> u64 {
        self.bytes()
            .iter()
            .fold(0, |rest, byte| (rest * 10 + u64::from(check::digit(*byte))) % modulus)
    }

    /// Checks that the last character is the one at index `position` in `alphabet`.
    pub fn ends_in(&self, alphabet: &str, position: i32) -> Outcome {
        checks(
            usize::try_from(position)
                .is_ok_and(|position| alphabet.chars().nth(position) == Some(self.end())),
        )
    }
}
