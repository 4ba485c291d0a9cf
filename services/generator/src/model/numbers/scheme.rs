//! What a scheme consists of.

use super::imprint::Imprint;
use super::number::Number;
use super::outcome::Outcome;
use crate::model::random::Random;

/// Which numbers are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Value-added tax and business tax numbers.
    Vat,
    /// National identity and social numbers.
    Person,
}

/// One kind of number of one country.
pub struct Scheme {
    pub(super) country: &'static str,
    pub(super) name: &'static str,
    kinds: &'static [Kind],
    /// Regular expression over the whole normalised number; `\d` is an ASCII digit.
    pub(super) form: &'static str,
    /// A narrower form from which numbers are made.
    pub(super) make: Option<&'static str>,
    pub(super) rule: fn(&Number<'_>) -> Outcome,
    /// How made numbers tell the birth and sex of a person.
    pub(super) imprint: Option<Imprint>,
    /// Writes a number, where there is a quicker way than sampling the form.
    pub(super) write: Option<fn(&mut Random, &mut String)>,
    /// A further rule for made numbers, such as check digits that no authority enforces.
    pub(super) make_rule: Option<fn(&Number<'_>) -> Outcome>,
    /// What made numbers begin with, as people write them.
    pub(super) front: &'static str,
    /// Separators that belong to the number.
    pub(super) keep: &'static [char],
    /// Prefixes that may precede the number.
    prefixes: &'static [&'static str],
    /// Digits up to which zeros are put in front, and the fewest digits for which that is done.
    padding: Option<(usize, usize)>,
    /// Digits up to which zeros are put in front of each part between hyphens.
    parts: &'static [usize],
    /// Whether leading zeros do not count.
    strips_zeros: bool,
}

const fn scheme(
    country: &'static str,
    name: &'static str,
    form: &'static str,
    rule: fn(&Number<'_>) -> Outcome,
    kinds: &'static [Kind],
) -> Scheme {
    Scheme {
        country,
        name,
        kinds,
        form,
        make: None,
        rule,
        imprint: None,
        write: None,
        make_rule: None,
        front: "",
        keep: &[],
        prefixes: &[],
        padding: None,
        parts: &[],
        strips_zeros: false,
    }
}

/// A tax number.
pub(super) const fn vat(
    country: &'static str,
    name: &'static str,
    form: &'static str,
    rule: fn(&Number<'_>) -> Outcome,
) -> Scheme {
    scheme(country, name, form, rule, &[Kind::Vat])
}

/// A number of persons.
pub(super) const fn person(
    country: &'static str,
    name: &'static str,
    form: &'static str,
    rule: fn(&Number<'_>) -> Outcome,
) -> Scheme {
    scheme(country, name, form, rule, &[Kind::Person])
}

/// A number that businesses and persons have alike.
pub(super) const fn both(
    country: &'static str,
    name: &'static str,
    form: &'static str,
    rule: fn(&Number<'_>) -> Outcome,
) -> Scheme {
    scheme(country, name, form, rule, &[Kind::Vat, Kind::Person])
}

impl Scheme {
    pub(super) const fn make(mut self, form: &'static str) -> Self {
        self.make = Some(form);
        self
    }

    pub(super) const fn make_rule(mut self, rule: fn(&Number<'_>) -> Outcome) -> Self {
        self.make_rule = Some(rule);
        self
    }

    pub(super) const fn imprint(mut self, imprint: Imprint) -> Self {
        self.imprint = Some(imprint);
        self
    }

    pub(super) const fn write(mut self, write: fn(&mut Random, &mut String)) -> Self {
        self.write = Some(write);
        self
    }

    pub(super) const fn front(mut self, front: &'static str) -> Self {
        self.front = front;
        self
    }

    pub(super) const fn keep(mut self, separators: &'static [char]) -> Self {
        self.keep = separators;
        self
    }

    pub(super) const fn prefixes(mut self, prefixes: &'static [&'static str]) -> Self {
        self.prefixes = prefixes;
        self
    }

    pub(super) const fn pad(mut self, fewest: usize, digits: usize) -> Self {
        self.padding = Some((fewest, digits));
        self
    }

    pub(super) const fn parts(mut self, widths: &'static [usize]) -> Self {
        self.parts = widths;
        self.keep(&['-'])
    }

    pub(super) const fn strip_zeros(mut self) -> Self {
        self.strips_zeros = true;
        self
    }

    /// Whether only persons have the number.
    pub(super) fn is_personal(&self) -> bool {
        !self.is_for(Kind::Vat)
    }

    pub(super) fn is_for(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The ways to read a normalised number: as it is, and without a prefix.
    pub(super) fn candidates(&self, normalised: &str) -> Vec<String> {
        let country = self.is_for(Kind::Vat).then_some(self.country);
        // Greece and Northern Ireland write other letters than those of their country.
        let other = match country {
            Some("GR") => Some("EL"),
            Some("GB") => Some("XI"),
            _ => None,
        };
        let prefixes = self.prefixes.iter().copied().chain(country).chain(other);
        let mut bare: Vec<&str> =
            prefixes.filter_map(|prefix| normalised.strip_prefix(prefix)).collect();
        bare.insert(0, normalised);
        bare.into_iter().map(|text| self.with_zeros(text)).collect()
    }

    fn with_zeros(&self, text: &str) -> String {
        let text = self.joined(text);
        let text = match self.strips_zeros {
            true => text.trim_start_matches('0'),
            false => &text,
        };
        match self.padding {
            Some((fewest, digits)) if (fewest..digits).contains(&text.len()) => {
                "0".repeat(digits - text.len()) + text
            }
            _ => text.to_owned(),
        }
    }

    /// The parts between hyphens in one, padded when they are as many as the scheme has.
    fn joined(&self, text: &str) -> String {
        if self.parts.is_empty() {
            return text.to_owned();
        }
        let parts: Vec<_> = text.split('-').collect();
        if parts.len() != self.parts.len() || parts.contains(&"") {
            return parts.concat();
        }
        parts.iter().zip(self.parts).map(|(part, width)| format!("{part:0>width$}")).collect()
    }
}
