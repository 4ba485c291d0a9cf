//! Validates and generates a country's numbers, using its schemes.

use std::sync::{LazyLock, OnceLock};

use jiff::civil::Date;

use super::form::{Form, FormError};
use super::normalise::normalise;
use super::number::Number;
use super::outcome::{Outcome, Stage};
use super::person::{REFERENCE_DAY, Wanted};
use super::scheme::{Kind, Scheme};
use super::{person_europe, person_world, vat_america, vat_asia_africa, vat_east, vat_west};
use crate::model::random::Random;

/// The result of checking a number.
pub type Verdict = Result<(), Reject>;

/// An error found while checking a number. If there are several schemes, the error comes from the
/// one whose checks got furthest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reject {
    /// The number is too short or too long.
    #[error("The {0} has the wrong length.")]
    Length(&'static str),
    /// A character isn't allowed in its position.
    #[error("The {0} has the wrong format.")]
    Format(&'static str),
    /// A component is invalid, such as an impossible date or an unassigned region.
    #[error("The {0} contains an unknown component.")]
    Component(&'static str),
    /// A check digit or letter is wrong.
    #[error("The {0} has a check digit mismatch.")]
    Checksum(&'static str),
}

/// A scheme with its form, which is compiled on first use.
pub(super) struct Ready {
    pub(super) scheme: &'static Scheme,
    form: OnceLock<Result<Form, FormError>>,
}

pub(super) static READY: LazyLock<Vec<Ready>> = LazyLock::new(|| {
    let files = [
        vat_west::SCHEMES,
        vat_east::SCHEMES,
        vat_america::SCHEMES,
        vat_asia_africa::SCHEMES,
        person_europe::SCHEMES,
        person_world::SCHEMES,
    ];
    files.into_iter().flatten().map(|scheme| Ready { scheme, form: OnceLock::new() }).collect()
});

/// A country's schemes of one kind. A number is valid if any of them accepts it.
#[derive(Clone)]
pub struct Schemes(pub(super) Vec<&'static Ready>);

/// Finds the schemes of a country by its two-letter code, in either case.
///
/// Also accepts `UK` for `GB`. For tax numbers, also accepts `EL` for `GR`, `XI` for `GB`, and `EU`
/// and `IM` for the one-stop shop.
pub fn find(country: &str, kind: Kind) -> Option<Schemes> {
    let country = match (country.to_ascii_uppercase().as_str(), kind) {
        ("UK", _) | ("XI", Kind::Vat) => "GB".to_owned(),
        ("EL", Kind::Vat) => "GR".to_owned(),
        (other, _) => other.to_owned(),
    };
    let found: Vec<_> = READY
        .iter()
        .filter(|ready| ready.scheme.country == country && ready.scheme.is_for(kind))
        .collect();
    (!found.is_empty()).then_some(Schemes(found))
}

impl Schemes {
    /// Returns the two-letter country code.
    pub fn country(&self) -> &'static str {
        self.0.first().map_or("", |ready| ready.scheme.country)
    }

    /// Checks a number as entered by the user.
    pub fn check(&self, text: &str, today: Date) -> Verdict {
        let mut closest: Option<Reject> = None;
        for ready in &self.0 {
            match ready.check(text, today) {
                Ok(()) => return Ok(()),
                Err(reject) if closest.is_none_or(|so_far| reject.stage() > so_far.stage()) => {
                    closest = Some(reject);
                }
                Err(_) => {}
            }
        }
        Err(closest.unwrap_or(Reject::Format("number")))
    }

    /// Returns the name of the scheme that accepts a number, unless that is the first scheme of the
    /// country.
    pub fn other_kind(&self, text: &str, today: Date) -> Option<&'static str> {
        let position = self.0.iter().position(|ready| ready.check(text, today).is_ok())?;
        (position > 0).then(|| self.0[position].scheme.name)
    }

    /// Generates a number in the main scheme. If the number encodes personal data, that data
    /// matches `wanted`. Returns `None` if no number could be generated.
    ///
    /// The main scheme is the first one that is only for people, or else the first one.
    pub fn make(&self, random: &mut Random, wanted: Wanted) -> Option<String> {
        let personal = || self.0.iter().find(|ready| ready.scheme.is_personal());
        personal().or(self.0.first())?.make(random, wanted)
    }
}

impl Ready {
    pub(super) fn form(&self) -> Option<&Form> {
        self.form.get_or_init(|| Form::new(self.scheme.form, self.scheme.make)).as_ref().ok()
    }

    /// Checks a number both with and without its optional prefix.
    pub(super) fn check(&self, text: &str, today: Date) -> Verdict {
        let normalised = normalise(text, self.scheme.keep);
        let mut closest = Stage::Length;
        for candidate in self.scheme.candidates(&normalised) {
            match self.check_normalised(&candidate, today) {
                Ok(()) => return Ok(()),
                Err(stage) => closest = closest.max(stage),
            }
        }
        Err(Reject::at(closest, self.scheme.name))
    }

    fn check_normalised(&self, text: &str, today: Date) -> Result<(), Stage> {
        let form = self.form().ok_or(Stage::Format)?;
        if !form.matches(text) {
            let length = text.chars().count();
            return Err(if form.has_length(length) { Stage::Format } else { Stage::Length });
        }
        (self.scheme.rule)(&Number::new(text, today))
    }

    /// Samples the form until the rules accept a number. The strictest rule accepts about 1 in 50
    /// samples.
    pub(super) fn make(&self, random: &mut Random, wanted: Wanted) -> Option<String> {
        if let Some(write) = self.scheme.write {
            let mut text = String::new();
            write(random, &mut text);
            return Some(text);
        }
        let form = self.form()?;
        let imprint = self.scheme.imprint.map(|imprint| (imprint, wanted.person(random)));
        let today = imprint.map_or(REFERENCE_DAY, |(_, person)| person.born.max(REFERENCE_DAY));
        for _ in 0..100_000 {
            let stamp = |text: &mut Vec<u8>| {
                if let Some((imprint, person)) = &imprint {
                    imprint(text, person);
                }
            };
            let sample = form.sample(random).into_bytes();
            let Some(text) = self.completed(sample, form, stamp, today) else { continue };
            let right = |rule: fn(&Number<'_>) -> Outcome| rule(&Number::new(&text, today)).is_ok();
            if self.scheme.make_rule.is_none_or(right) {
                return Some(self.scheme.front.to_owned() + &text);
            }
        }
        None
    }

    /// Writes a person's data into a number, and then varies the last character if needed.
    /// Returns `None` if this doesn't result in a valid number.
    ///
    /// `text` was sampled from the form, so it is already normalized.
    fn completed(
        &self,
        mut text: Vec<u8>,
        form: &Form,
        stamp: impl Fn(&mut Vec<u8>),
        today: Date,
    ) -> Option<String> {
        let judge = |text: &mut Vec<u8>| {
            stamp(text);
            let text = std::str::from_utf8(text).map_err(|_| Stage::Format)?;
            (self.scheme.rule)(&Number::new(text, today))
        };
        match judge(&mut text) {
            Ok(()) => {}
            Err(Stage::Checksum) => {
                let last = text.len().checked_sub(1)?;
                let from = form.endings().iter().position(|ending| *ending == text[last])?;
                let (before, after) = form.endings().split_at(from);
                after.iter().skip(1).chain(before).find(|ending| {
                    text[last] = **ending;
                    judge(&mut text).is_ok()
                })?;
            }
            Err(_) => return None,
        }
        String::from_utf8(text).ok().filter(|text| form.matches(text))
    }
}

impl Reject {
    fn at(stage: Stage, scheme: &'static str) -> Self {
        match stage {
            Stage::Length => Self::Length(scheme),
            Stage::Format => Self::Format(scheme),
            Stage::Component => Self::Component(scheme),
            Stage::Checksum => Self::Checksum(scheme),
        }
    }

    fn stage(self) -> Stage {
        match self {
            Self::Length(_) => Stage::Length,
            Self::Format(_) => Stage::Format,
            Self::Component(_) => Stage::Component,
            Self::Checksum(_) => Stage::Checksum,
        }
    }
}
