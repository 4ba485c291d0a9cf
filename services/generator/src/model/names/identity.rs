//! Names split into their parts, as needed for complete profiles.

use super::culture::Culture;
use super::data::Data;
use super::pattern::{Piece, Word};
use crate::model::random::Random;

/// A name and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The given name.
    pub given: String,
    /// The surname. In cultures with two surnames, they are separated by a space.
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
        let mut identity = Identity::default();
        self.write_identity(female, None, random, &mut identity);
        identity
    }

    /// Replaces `identity` with the name of another woman or man. Its strings are reused, because
    /// allocating new ones takes longer than generating the name. If `family` is given, the surname
    /// is drawn from that.
    pub fn write_identity(
        &self,
        female: bool,
        family: Option<&mut Random>,
        random: &mut Random,
        identity: &mut Identity,
    ) {
        self.data().write_identity(female, self.language(), family, random, identity);
    }
}

impl Identity {
    /// Clears all parts, but keeps their memory for reuse.
    fn clear(&mut self) {
        let Self { given, surname, full, given_latin, surname_latin, latin, kana } = self;
        for part in [given, surname, full, given_latin, surname_latin, latin] {
            part.clear();
        }
        if let Some(kana) = kana {
            kana.clear();
        }
    }
}

impl Data {
    fn write_identity(
        &self,
        female: bool,
        language: &str,
        mut family: Option<&mut Random>,
        random: &mut Random,
        identity: &mut Identity,
    ) {
        identity.clear();
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
            let (name, latin) = (names.get(position), names.romanised(position, language));
            identity.full.push_str(name);
            push_apart(part, name);
            push_apart(part_latin, latin);
            push_apart(&mut identity.latin, latin);
            let reading = names.kana.get(position);
            if !reading.is_empty() {
                push_apart(identity.kana.get_or_insert_default(), reading);
            }
        }
    }
}

impl Data {
    /// Returns the index of the surname shared by a family. For a woman, this is the feminine form
    /// that has the longest prefix in common with the man's surname.
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
        // If several are equally long, `max_by_key` returns the last one, regardless of weight.
        (0..self.female_surnames.len()).max_by_key(common).unwrap_or(position)
    }
}

/// Appends a name, preceded by a space unless it is the first one.
fn push_apart(names: &mut String, name: &str) {
    if !names.is_empty() {
        names.push(' ');
    }
    names.push_str(name);
}
