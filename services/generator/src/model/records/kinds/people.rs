//! Persons, whose parts agree within a row.

use std::rc::Rc;

use super::super::field::FieldKey;
use crate::model::numbers::Sex;
use crate::model::person::{Maker, Person};
use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::field::{Make, Row};

/// The persons that some fields of a table show.
pub struct People {
    /// Their maker.
    pub maker: Maker,
    /// The key of their values.
    pub key: FieldKey,
    /// Their place in [`Row::people`].
    pub slot: usize,
}

type Part = fn(&Person, &mut Cell);

/// The parts of a person, in the order of the documentation.
pub const PARTS: [(&str, Part); 29] = [
    ("fullName", |person, cell| cell.set_text(Some(&person.name.full))),
    ("givenName", |person, cell| cell.set_text(Some(&person.name.given))),
    ("surname", |person, cell| cell.set_text(Some(&person.name.surname))),
    ("nameLatin", |person, cell| cell.set_text(Some(&person.name.latin))),
    ("givenNameLatin", |person, cell| cell.set_text(Some(&person.name.given_latin))),
    ("surnameLatin", |person, cell| cell.set_text(Some(&person.name.surname_latin))),
    ("nameKana", |person, cell| cell.set_text(person.name.kana.as_deref())),
    ("sex", |person, cell| cell.set_text(Some(sex(person)))),
    ("birthDate", |person, cell| cell.set(Shape::Text, person.born)),
    ("email", |person, cell| cell.set_text(Some(&person.email))),
    ("username", |person, cell| cell.set_text(Some(&person.username))),
    ("phone", |person, cell| cell.set_text(Some(&person.phone))),
    ("nationalNumber", |person, cell| cell.set_text(person.national_number.as_deref())),
    ("iban", |person, cell| cell.set_text(person.iban.as_deref())),
    ("address", |person, cell| cell.set_text(Some(&person.address.line))),
    ("street", |person, cell| cell.set_text(person.address.street.as_deref())),
    ("houseNumber", |person, cell| cell.set_text(person.address.house_number.as_deref())),
    ("unit", |person, cell| cell.set_text(person.address.unit.as_deref())),
    ("district", |person, cell| cell.set_text(person.address.district.as_deref())),
    ("postcode", |person, cell| cell.set_text(person.address.postcode.as_deref())),
    ("city", |person, cell| cell.set_text(Some(&person.address.city))),
    ("region", |person, cell| cell.set_text(person.address.region.as_deref())),
    ("countryCode", |person, cell| cell.set_text(Some(person.culture.country))),
    ("culture", |person, cell| cell.set_text(Some(person.culture.code))),
    ("cardType", |person, cell| cell.set_text(Some(person.card.kind.name))),
    ("cardNumber", |person, cell| cell.set_text(Some(&person.card.number))),
    ("cardExpiry", |person, cell| cell.set(Shape::Text, person.card.expiry.strftime("%Y-%m"))),
    ("cardCvv", |person, cell| cell.set_text(Some(&person.card.code))),
    ("cardHolder", |person, cell| cell.set_text(Some(&person.card.holder))),
];

fn sex(person: &Person) -> &'static str {
    match person.sex {
        Sex::Female => "female",
        Sex::Male => "male",
    }
}

/// The parts that differ between all persons of a table.
const UNIQUE: [&str; 2] = ["email", "username"];

/// A part of a person.
pub struct PersonPart {
    people: Rc<People>,
    part: Part,
    is_unique: bool,
}

impl PersonPart {
    /// Creates the part at a place of [`PARTS`].
    pub fn new(people: Rc<People>, place: usize) -> Self {
        let (name, part) = PARTS[place];
        Self { people, part, is_unique: UNIQUE.contains(&name) }
    }
}

impl Make for PersonPart {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let people = &*self.people;
        if row.people.len() <= people.slot {
            row.people.resize_with(people.slot + 1, || None);
        }
        let last = &mut row.people[people.slot];
        let known = last.take().filter(|(of, _)| *of == index);
        let (_, person) = last.insert(known.unwrap_or_else(|| {
            let mut random = people.key.random(index);
            (index, people.maker.make(index, &mut random))
        }));
        (self.part)(person, cell);
    }

    fn is_unique(&self) -> bool {
        self.is_unique
    }
}
