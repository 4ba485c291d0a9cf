//! Names split into their parts, for generating whole people.

use super::culture::Culture;
use super::data::Data;
use super::latin::latin;
use super::pattern::{Piece, Word};
use crate::model::random::Random;

/// A name and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The given name.
    pub given: String,
    /// The surname. Cultures with two surnames separate them with a space.
    pub surname: String,
    /// The full name in the culture's usual order.
    pub full: String,
    /// The given name in plain Latin letters.
    pub given_latin: String,
    /// The surname in plain Latin letters.
    pub surname_latin: String,
    /// The full name in plain Latin letters, in the culture's usual order.
    pub latin: String,
    /// The reading of the full name in katakana. Japanese only.
    pub kana: Option<String>,
}

impl Culture {
    /// Generates the name of a woman or man.
    pub fn identity(&self, female: bool, random: &mut Random) -> Identity {
        self.data().identity(female, self.language(), None, random)
    }

    /// Generates the name of a woman or man in a given family. The surname is drawn from `family`.
    pub fn identity_in_family(
        &self,
        female: bool,
        family: &mut Random,
        random: &mut Random,
    ) -> Identity {
        self.data().identity(female, self.language(), Some(family), random)
    }
}

impl Data {
    fn identity(
        &self,
        female: bool,
        language: &str,
        mut family: Option<&mut Random>,
        random: &mut Random,
    ) -> Identity {
        let mut identity = Identity::default();
        let (mut in_latin, mut readings) = (Vec::new(), Vec::new());
        let pattern = match &mut family {
            Some(family) => self.profile.full_name.sample(family),
            None => self.profile.full_name.sample(random),
        };
        for piece in pattern {
            let is_surname = matches!(piece, Piece::Word(Word::Surname));
            let (names, part, part_latin) = match piece {
                Piece::Word(Word::Given) => {
                    (self.given(female), &mut identity.given, &mut identity.given_latin)
                }
                Piece::Word(Word::Surname) => {
                    (self.surnames(female), &mut identity.surname, &mut identity.surname_latin)
                }
                Piece::Text(text) => {
                    identity.full.push_str(text);
                    continue;
                }
                _ => continue,
            };
            let position = match &mut family {
                Some(family) if is_surname => self.family_surname(female, family),
                _ => names.position(random),
            };
            let (name, written) = (names.get(position), names.latin.get(position));
            let romanised = match written {
                "" => latin(name, language),
                written => written.to_owned(),
            };
            identity.full.push_str(name);
            push_apart(part, name);
            push_apart(part_latin, &romanised);
            in_latin.push(romanised);
            readings.push(names.kana.get(position));
        }
        identity.latin = in_latin.join(" ");
        identity.kana = Some(readings.join(" ")).filter(|kana| !kana.trim().is_empty());
        identity
    }
}

impl Data {
    /// Returns the index of a family's surname. For a woman, we pick the feminine form that shares
    /// the longest prefix with the man's surname.
    fn family_surname(&self, female: bool, family: &mut Random) -> usize {
        let position = self.surnames.position(family);
        if !female || self.female_surnames.is_empty() {
            return position;
        }
        let name = self.surnames.get(position);
        let common = |position: &usize| {
            let other = self.female_surnames.get(*position).chars();
            name.chars().zip(other).take_while(|(one, other)| one == other).count()
        };
        // On a tie, `max_by_key` returns the last one, regardless of weight.
        (0..self.female_surnames.len()).max_by_key(common).unwrap_or(position)
    }
}

/// Appends a name, after a space unless it's the first.
fn push_apart(names: &mut String, name: &str) {
    if !names.is_empty() {
        names.push(' ');
    }
    names.push_str(name);
}
