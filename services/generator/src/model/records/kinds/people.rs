//! The types `person` and `address`. All parts of a person in the same row are consistent.

use std::rc::Rc;

use jiff::civil::Date;

use super::super::field::FieldKey;
use super::made::COST_OF_A_NATIONAL_NUMBER;
use super::times::push_date;
use crate::model::card::Card;
use crate::model::names::{Address, Identity};
use crate::model::numbers::Sex;
use crate::model::person::{Employer, Maker};
use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::field::{Make, Row};
use crate::model::records::known::Known;

/// Returns the names of all person parts.
pub fn person_parts() -> impl Iterator<Item = &'static str> {
    PARTS.iter().map(|(name, _)| *name)
}

/// People that several fields of a table share.
pub struct People {
    /// Generates the people.
    pub maker: Maker,
    /// The random key for the people.
    pub key: FieldKey,
    /// Maximum number of people per household. The members of a household are in consecutive rows.
    pub household: u64,
    /// Index into [`Row::people`].
    pub slot: usize,
}

impl People {
    /// Returns the known values of the person in row `index`.
    fn known<'r>(&self, index: u64, row: &'r mut Row) -> &'r mut Known {
        if row.people.len() <= self.slot {
            row.people.resize_with(self.slot + 1, Known::default);
        }
        let known = &mut row.people[self.slot];
        if known.index != index {
            known.restart(index);
        }
        known
    }

    /// Returns the romanised name of the person in row `index`.
    pub fn latin_name<'r>(&self, index: u64, row: &'r mut Row) -> &'r str {
        let known = self.known(index, row);
        Drawn { people: self, known }.name();
        known.name.get().map_or("", |name| &name.latin)
    }
}

/// Random sequences for a person. Each part has its own sequence, so that unused parts don't have
/// to be generated.
#[derive(Clone, Copy)]
enum Source {
    Sex,
    Birth,
    Name,
    Address,
    Phone,
    Email,
    Username,
    NationalNumber,
    Iban,
    Card,
    Household,
    Family,
    Occupation,
    EmployerNumber,
    Employer,
}

/// The person in a row. Their parts are generated on demand.
pub struct Drawn<'a> {
    people: &'a People,
    known: &'a Known,
}

impl Drawn<'_> {
    fn random(&self, source: Source) -> Random {
        self.people.key.part(source as u64).random(self.known.index)
    }

    /// Returns the first row of the household.
    fn head(&self) -> u64 {
        let most = self.people.household;
        let index = self.known.index;
        if most == 1 {
            return index;
        }
        *self.known.head.get_or_init(|| {
            let block = index / HOUSEHOLDS;
            let mut random = self.people.key.part(Source::Household as u64).random(block);
            let mut head = block * HOUSEHOLDS;
            loop {
                let next = head + size(most, &mut random);
                if next > index {
                    return head;
                }
                head = next;
            }
        })
    }

    /// Returns the household number: one more than the index of its first row.
    fn household(&self) -> u64 {
        self.head() + 1
    }

    fn occupation(&self) -> &'static str {
        let make =
            || self.people.maker.occupation(self.born(), &mut self.random(Source::Occupation));
        self.known.occupation.get_or_init(make)
    }

    fn employer(&self) -> Option<&Employer> {
        let make = || {
            let maker = &self.people.maker;
            let random = &mut self.random(Source::EmployerNumber);
            let number = maker.employer_number(self.occupation(), random)?;
            let key = self.people.key.part(Source::Employer as u64);
            Some(maker.employer(number, &mut key.random(number)))
        };
        self.known.employer.get_or_init(make).as_ref()
    }

    fn work_email(&self) -> Option<String> {
        let employer = self.employer()?;
        Some(self.people.maker.work_email(self.name(), self.known.index, employer))
    }

    fn sex(&self) -> Sex {
        let make = || self.people.maker.sex(&mut self.random(Source::Sex));
        *self.known.sex.get_or_init(make)
    }

    fn born(&self) -> Date {
        let make = || self.people.maker.birth(&mut self.random(Source::Birth));
        *self.known.born.get_or_init(make)
    }

    fn name(&self) -> &Identity {
        let make = || {
            let mut name = self.known.spare_name.take();
            let (maker, random) = (&self.people.maker, &mut self.random(Source::Name));
            let mut family = (self.people.household > 1)
                .then(|| self.people.key.part(Source::Family as u64).random(self.head()));
            maker.write_name(self.sex(), family.as_mut(), random, &mut name);
            name
        };
        self.known.name.get_or_init(make)
    }

    fn address(&self) -> &Address {
        let make = || {
            let mut address = self.known.spare_address.take();
            let mut random = self.people.key.part(Source::Address as u64).random(self.head());
            self.people.maker.write_address(&mut random, &mut address);
            address
        };
        self.known.address.get_or_init(make)
    }

    fn write_phone(&self, out: &mut String) {
        let random = &mut self.random(Source::Phone);
        self.people.maker.write_phone(self.address(), random, out);
    }

    fn write_email(&self, out: &mut String) {
        let random = &mut self.random(Source::Email);
        self.people.maker.write_email(self.name(), self.known.index, random, out);
    }

    fn write_username(&self, out: &mut String) {
        let random = &mut self.random(Source::Username);
        self.people.maker.write_username(self.name(), self.known.index, random, out);
    }

    fn national_number(&self) -> Option<String> {
        let random = &mut self.random(Source::NationalNumber);
        let about = (self.sex(), self.born());
        self.people.maker.national_number(self.name(), self.address(), about, random)
    }

    fn iban(&self) -> Option<String> {
        self.people.maker.iban(&mut self.random(Source::Iban))
    }

    fn card(&self) -> &Card {
        let make = || self.people.maker.card(self.name(), &mut self.random(Source::Card));
        self.known.card.get_or_init(make)
    }
}

/// Number of rows whose households are generated together.
const HOUSEHOLDS: u64 = 24;
/// Weights of household sizes, starting with one person.
const SIZES: [u16; 8] = [36, 33, 14, 11, 4, 1, 1, 1];

/// Draws a household size.
fn size(most: u64, random: &mut Random) -> u64 {
    let weights = &SIZES[..SIZES.len().min(most as usize)];
    let mut left = random.below(weights.iter().map(|weight| u64::from(*weight)).sum());
    for (size, weight) in (1..).zip(weights) {
        match left.checked_sub(u64::from(*weight)) {
            Some(rest) => left = rest,
            None => return size,
        }
    }
    1
}

type Part = fn(&Drawn<'_>, &mut Cell);

/// The parts of a person, in the same order as in the documentation.
pub const PARTS: [(&str, Part); 34] = [
    ("fullName", |person, cell| cell.set_text(Some(&person.name().full))),
    ("givenName", |person, cell| cell.set_text(Some(&person.name().given))),
    ("surname", |person, cell| cell.set_text(Some(&person.name().surname))),
    ("nameLatin", |person, cell| cell.set_text(Some(&person.name().latin))),
    ("givenNameLatin", |person, cell| cell.set_text(Some(&person.name().given_latin))),
    ("surnameLatin", |person, cell| cell.set_text(Some(&person.name().surname_latin))),
    ("nameKana", |person, cell| cell.set_text(person.name().kana.as_deref())),
    ("sex", |person, cell| cell.set_text(Some(sex(person)))),
    ("birthDate", |person, cell| set_date(person.born(), cell)),
    ("email", |person, cell| person.write_email(cell.begin())),
    ("username", |person, cell| person.write_username(cell.begin())),
    ("phone", |person, cell| person.write_phone(cell.begin())),
    ("nationalNumber", |person, cell| cell.set_text(person.national_number().as_deref())),
    ("iban", |person, cell| cell.set_text(person.iban().as_deref())),
    ("address", |person, cell| cell.set_text(Some(&person.address().line))),
    ("street", |person, cell| set_part(&person.address().street, cell)),
    ("houseNumber", |person, cell| set_part(&person.address().house_number, cell)),
    ("unit", |person, cell| set_part(&person.address().unit, cell)),
    ("district", |person, cell| set_part(&person.address().district, cell)),
    ("postcode", |person, cell| set_part(&person.address().postcode, cell)),
    ("city", |person, cell| cell.set_text(Some(&person.address().city))),
    ("region", |person, cell| set_part(&person.address().region, cell)),
    ("countryCode", |person, cell| cell.set_text(Some(person.people.maker.culture().country))),
    ("culture", |person, cell| cell.set_text(Some(person.people.maker.culture().code))),
    ("occupation", |person, cell| cell.set_text(Some(person.occupation()))),
    ("employer", |person, cell| {
        cell.set_text(person.employer().map(|employer| &*employer.name));
    }),
    ("employerDomain", |person, cell| {
        cell.set_text(person.employer().map(|employer| &*employer.domain));
    }),
    ("workEmail", |person, cell| cell.set_text(person.work_email().as_deref())),
    ("household", |person, cell| cell.set(Shape::Number, person.household())),
    ("cardType", |person, cell| cell.set_text(Some(person.card().kind.name))),
    ("cardNumber", |person, cell| cell.set_text(Some(&person.card().number))),
    ("cardExpiry", |person, cell| set_month(person.card().expiry, cell)),
    ("cardCvv", |person, cell| cell.set_text(Some(&person.card().code))),
    ("cardHolder", |person, cell| cell.set_text(Some(&person.card().holder))),
];

/// Sets the cell to a component of an address, or to null if the address doesn't have it.
fn set_part(part: &str, cell: &mut Cell) {
    cell.set_text(Some(part).filter(|part| !part.is_empty()));
}

fn set_date(date: Date, cell: &mut Cell) {
    push_date(date.year(), date.month(), date.day(), cell.begin());
}

/// Sets the cell to `YYYY-MM`.
fn set_month(date: Date, cell: &mut Cell) {
    set_date(date, cell);
    cell.text.truncate("YYYY-MM".len());
}

fn sex(person: &Drawn<'_>) -> &'static str {
    match person.sex() {
        Sex::Female => "female",
        Sex::Male => "male",
    }
}

/// Parts that are different for each person in a table.
const UNIQUE: [&str; 3] = ["email", "username", "workEmail"];

/// Parts that some people don't have, or that don't exist in some countries.
const NULLABLE: [&str; 12] = [
    "nameKana",
    "nationalNumber",
    "iban",
    "street",
    "houseNumber",
    "unit",
    "district",
    "postcode",
    "region",
    "employer",
    "employerDomain",
    "workEmail",
];

/// The type `person` or `address`: one part of a person.
pub struct PersonPart {
    people: Rc<People>,
    part: Part,
    is_unique: bool,
    has_nulls: bool,
    more_cost: u64,
}

impl PersonPart {
    /// Creates the generator for the part at index `place` in [`PARTS`].
    pub fn new(people: Rc<People>, place: usize) -> Self {
        let (name, part) = PARTS[place];
        let (is_unique, has_nulls) = (UNIQUE.contains(&name), NULLABLE.contains(&name));
        let more_cost = if name == "nationalNumber" { COST_OF_A_NATIONAL_NUMBER } else { 0 };
        Self { people, part, is_unique, has_nulls, more_cost }
    }
}

impl Make for PersonPart {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let people = &*self.people;
        let known = people.known(index, row);
        (self.part)(&Drawn { people, known }, cell);
    }

    fn is_unique(&self) -> bool {
        self.is_unique
    }

    fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    fn more_cost(&self) -> u64 {
        self.more_cost
    }
}
