//! Names and addresses with their parts, for whole persons.

use super::culture::Culture;
use super::data::{Data, Subject};
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
        self.data().identity(female, random)
    }

    /// Generates an address.
    pub fn address(&self, random: &mut Random) -> Address {
        self.data().address(random)
    }
}

impl Data {
    fn identity(&self, female: bool, random: &mut Random) -> Identity {
        let mut identity = Identity::default();
        let pieces = self.profile.full_name.sample(random);
        for piece in pieces {
            match piece {
                Piece::Word(Word::Given) => {
                    self.write_given(female, random, &mut identity.given);
                    identity.full.push_str(&identity.given);
                }
                Piece::Word(Word::Surname) => {
                    if !identity.surname.is_empty() {
                        identity.surname.push(' ');
                    }
                    let start = identity.surname.len();
                    self.write_surname(female, random, &mut identity.surname);
                    identity.full.push_str(&identity.surname[start..]);
                }
                Piece::Text(text) => identity.full.push_str(text),
                _ => {}
            }
        }
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
