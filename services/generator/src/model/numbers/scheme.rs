//! The definition of a number scheme.

use super::imprint::Imprint;
use super::number::Number;
use super::outcome::Outcome;
use crate::model::random::Random;

/// The purpose of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// VAT and business tax numbers.
    Vat,
    /// National identity numbers and social security numbers.
    Person,
}

/// A type of number used in a country.
pub struct Scheme {
    pub(super) country: &'static str,
    pub(super) name: &'static str,
    kinds: &'static [Kind],
    /// A regular expression for the entire normalized number, in which `\d` only matches ASCII
    /// digits.
    pub(super) form: &'static str,
    /// A narrower form to generate numbers from.
    pub(super) make: Option<&'static str>,
    pub(super) rule: fn(&Number<'_>) -> Outcome,
    /// Writes the birth date and sex into generated numbers.
    pub(super) imprint: Option<Imprint>,
    /// Appends a number directly, for schemes where that is faster than sampling the form.
    pub(super) write: Option<fn(&mut Random, &mut String)>,
    /// An additional rule for generated numbers only, e.g. for check digits that the authorities
    /// don't enforce.
    pub(super) make_rule: Option<fn(&Number<'_>) -> Outcome>,
    /// A prefix for generated numbers, as users would write it.
    pub(super) front: &'static str,
    /// Separators that are part of the number.
    pub(super) keep: &'static [char],
    /// Optional prefixes.
    prefixes: &'static [&'static str],
    /// The length to zero-pad to, and the minimum length before padding.
    padding: Option<(usize, usize)>,
    /// Lengths of the hyphen-separated parts after zero-padding.
    parts: &'static [usize],
    /// Whether leading zeros are ignored.
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

/// Creates a tax number scheme.
pub(super) const fn vat(
    country: &'static str,
    name: &'static str,
    form: &'static str,
    rule: fn(&Number<'_>) -> Outcome,
) -> Scheme {
    scheme(country, name, form, rule, &[Kind::Vat])
}

/// Creates an identity number scheme.
pub(super) const fn person(
    country: &'static str,
    name: &'static str,
    form: &'static str,
    rule: fn(&Number<'_>) -> Outcome,
) -> Scheme {
    scheme(country, name, form, rule, &[Kind::Person])
}

/// Creates a scheme for numbers that both businesses and people have.
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

    /// Returns whether this number is only used for people.
    pub(super) fn is_personal(&self) -> bool {
        !self.is_for(Kind::Vat)
    }

    pub(super) fn is_for(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns all ways to read a normalized number: unchanged, and with each possible prefix
    /// stripped.
    pub(super) fn candidates(&self, normalised: &str) -> Vec<String> {
        let country = self.is_for(Kind::Vat).then_some(self.country);
        // Greece and Northern Ireland have prefixes that differ from their country codes.
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

    /// Joins the hyphen-separated parts. If there is the right number of parts for the scheme, they
    /// are zero-padded first.
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
