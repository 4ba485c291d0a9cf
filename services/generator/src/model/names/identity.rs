//! Names with their parts, for whole persons.

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
    /// The surnames, separated by a blank if the culture has two.
    pub surname: String,
    /// The full name in the order of the culture.
    pub full: String,
    /// The given name in plain Latin letters.
    pub given_latin: String,
    /// The surnames in plain Latin letters.
    pub surname_latin: String,
    /// The full name in plain Latin letters, in the order of the culture.
    pub latin: String,
    /// The reading of the full name in katakana, in Japanese.
    pub kana: Option<String>,
}

impl Culture {
    /// Generates the name of a woman or man.
    pub fn identity(&self, female: bool, random: &mut Random) -> Identity {
        self.data().identity(female, self.language(), random)
    }
}

impl Data {
    fn identity(&self, female: bool, language: &str, random: &mut Random) -> Identity {
        let mut identity = Identity::default();
        let (mut in_latin, mut readings) = (Vec::new(), Vec::new());
        for piece in self.profile.full_name.sample(random) {
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
            let position = names.position(random);
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

/// Appends a name, after a blank if there is another before it.
fn push_apart(names: &mut String, name: &str) {
    if !names.is_empty() {
        names.push(' ');
    }
    names.push_str(name);
}
