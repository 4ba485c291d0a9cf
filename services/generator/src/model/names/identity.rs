//! Names and addresses with their parts, for whole persons.

use super::culture::Culture;
use super::data::{Data, Subject};
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

/// A postal address and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The whole address on one line.
    pub line: String,
    /// The town.
    pub city: String,
    /// State or province, if addresses have one.
    pub region: Option<String>,
    /// Postcode, if addresses have one.
    pub postcode: Option<String>,
}

impl Culture {
    /// Generates the name of a woman or man.
    pub fn identity(&self, female: bool, random: &mut Random) -> Identity {
        self.data().identity(female, self.language(), random)
    }

    /// Generates an address.
    pub fn address(&self, random: &mut Random) -> Address {
        self.data().address(random)
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

    fn address(&self, random: &mut Random) -> Address {
        let place = Subject { city: self.cities.position(random), ..Subject::default() };
        let mut word = |word| {
            let mut text = String::new();
            self.expand(&[Piece::Word(word)], place, random, &mut text);
            text
        };
        let [city, region, postcode] = [Word::City, Word::Region, Word::Postcode].map(&mut word);
        let mut line = String::with_capacity(64);
        let subject = Subject { postcode: &postcode, ..place };
        self.expand(self.profile.address.sample(random), subject, random, &mut line);
        let some = |text: String| (!text.is_empty()).then_some(text);
        Address { line, city, region: some(region), postcode: some(postcode) }
    }
}

/// Appends a name, after a blank if there is another before it.
fn push_apart(names: &mut String, name: &str) {
    if !names.is_empty() {
        names.push(' ');
    }
    names.push_str(name);
}
