//! Numbers in messages, and the plural forms that they require.

use std::fmt::{Display, Formatter, Result};

use super::forms::Forms;

/// A number in a message, formatted with the digit grouping of the language.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    value: i64,
    forms: &'static Forms,
}

/// Plural forms of English, German, Dutch and Swedish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simple {
    /// 1.
    One,
    /// All other numbers.
    Other,
}

/// Plural forms of French, Italian, Portuguese and Spanish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Romance {
    /// 1. In French and Portuguese, also 0.
    One,
    /// Multiples of a million.
    Many,
    /// All other numbers.
    Other,
}

/// Plural forms of Polish and Ukrainian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slavic {
    /// 1. In Ukrainian, also numbers like 21, 31 and 101, but not 11.
    One,
    /// Numbers ending in 2 to 4, except for 12 to 14.
    Few,
    /// All other numbers.
    Many,
}

/// Plural forms of Czech.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Czech {
    /// 1.
    One,
    /// 2 to 4.
    Few,
    /// All other numbers.
    Other,
}

/// Plural forms of Arabic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arabic {
    /// 0.
    Zero,
    /// 1.
    One,
    /// 2.
    Two,
    /// Numbers ending in 03 to 10.
    Few,
    /// Numbers ending in 11 to 99.
    Many,
    /// All other numbers.
    Other,
}

impl Count {
    /// Creates a number for messages in a language with these forms.
    pub(super) fn new(value: i64, forms: &'static Forms) -> Count {
        Count { value, forms }
    }

    /// Returns the number, for languages in which more than the plural form depends on it.
    pub fn value(self) -> i64 {
        self.value
    }

    /// Returns whether the number is 1.
    pub fn is_one(self) -> bool {
        self.value == 1
    }

    /// Returns the plural form in English, German, Dutch and Swedish.
    pub fn simple(self) -> Simple {
        if self.value == 1 { Simple::One } else { Simple::Other }
    }

    /// Returns the plural form in Italian and Spanish.
    pub fn southern(self) -> Romance {
        match self.value {
            1 => Romance::One,
            0 => Romance::Other,
            value if value % 1_000_000 == 0 => Romance::Many,
            _ => Romance::Other,
        }
    }

    /// Returns the plural form in French and Portuguese.
    pub fn western(self) -> Romance {
        if self.value == 0 { Romance::One } else { self.southern() }
    }

    /// Returns the plural form in Polish.
    pub fn polish(self) -> Slavic {
        match self.ukrainian() {
            Slavic::One if self.value != 1 => Slavic::Many,
            form => form,
        }
    }

    /// Returns the plural form in Ukrainian.
    pub fn ukrainian(self) -> Slavic {
        match (self.value % 10, self.value % 100) {
            (_, 11..=14) => Slavic::Many,
            (1, _) => Slavic::One,
            (2..=4, _) => Slavic::Few,
            _ => Slavic::Many,
        }
    }

    /// Returns the plural form in Czech.
    pub fn czech(self) -> Czech {
        match self.value {
            1 => Czech::One,
            2..=4 => Czech::Few,
            _ => Czech::Other,
        }
    }

    /// Returns the plural form in Arabic.
    pub fn arabic(self) -> Arabic {
        match (self.value, self.value % 100) {
            (0, _) => Arabic::Zero,
            (1, _) => Arabic::One,
            (2, _) => Arabic::Two,
            (_, 3..=10) => Arabic::Few,
            (_, 11..=99) => Arabic::Many,
            _ => Arabic::Other,
        }
    }
}

impl Display for Count {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let digits = self.forms.grouped(&self.value.unsigned_abs().to_string());
        let sign = if self.value < 0 { "-" } else { "" };
        formatter.write_str(sign)?;
        formatter.write_str(&digits)
    }
}
