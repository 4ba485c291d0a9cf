//! Parses the types `person`, `address` and `card`. Their fields share one person or card per row.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::fault::Faults;
use super::field::FieldKey;
use super::kinds::cards::{self, CardPart, Cards};
use super::kinds::made;
use super::kinds::people::{PARTS, People, PersonPart};
use super::members::Members;
use super::tables::{Bounds, RawTable, culture};
use crate::model::card::{self, CardType};
use crate::model::person::{Limits, Maker, OLDEST};

/// The people and cards of all tables, by the properties requested for them.
#[derive(Default)]
pub struct Groups<'a> {
    people: HashMap<String, Rc<People>>,
    cards: HashMap<String, Rc<Cards>>,
    payers: HashMap<usize, Payers<'a>>,
}

/// A table's fields that affect its cards: their brands and the people who own them.
#[derive(Default)]
struct Payers<'a> {
    /// The first brand specified for each card, keyed by `of`.
    brands: HashMap<Option<&'a str>, &'a str>,
    /// The first field of each person, keyed by `of`.
    people: HashMap<Option<&'a str>, &'a Value>,
    /// The first person field in the table.
    first: Option<&'a Value>,
}

impl<'a> Payers<'a> {
    /// Collects a field and all fields nested in it. Skips array items, because they belong to more
    /// than one person.
    fn collect(&mut self, field: &'a Value) {
        let of = field["of"].as_str();
        match field["type"].as_str() {
            Some("card") => {
                if let Some(brand) = field["brand"].as_str() {
                    self.brands.entry(of).or_insert(brand);
                }
            }
            Some("person" | "address") => {
                self.first.get_or_insert(field);
                self.people.entry(of).or_insert(field);
            }
            _ => {}
        }
        for inner in field["fields"].as_array().into_iter().flatten() {
            self.collect(inner);
        }
    }

    /// Returns a field of the cardholder. This is the person with the same `of`, or the first
    /// person if the card has no `of`.
    fn holder(&self, of: Option<&str>) -> Option<&'a Value> {
        let first = self.first.filter(|_| of.is_none());
        self.people.get(&of).copied().or(first)
    }
}

impl<'a> Groups<'a> {
    /// Reads a person field: `part`, plus everything that [`people`](Self::people) reads.
    pub fn person(
        &mut self,
        members: &mut Members<'_>,
        table: (usize, &RawTable<'_>),
        bounds: &Bounds,
        usual: &str,
        faults: &mut Faults,
    ) -> Option<PersonPart> {
        let people = self.people(members, table, bounds, faults);
        let part = members.text("part", faults).unwrap_or(usual);
        let place = PARTS.iter().position(|(name, _)| *name == part);
        if place.is_none() {
            let names = PARTS.map(|(name, _)| name).join(", ");
            faults.add(members.at("part"), format!("must be one of {names}"));
        }
        Some(PersonPart::new(people?, place?))
    }

    /// Reads `locale`, `minAge`, `maxAge`, `sex`, `birthDate` and `household`, as well as `of`,
    /// which distinguishes several people in a row.
    fn people(
        &mut self,
        members: &mut Members<'_>,
        (place, table): (usize, &RawTable<'_>),
        bounds: &Bounds,
        faults: &mut Faults,
    ) -> Option<Rc<People>> {
        let before = faults.count();
        let culture = culture(members, table.locale, faults);
        let ages = (0, i64::from(OLDEST));
        let least = members.integer("minAge", 18, ages, faults);
        let most = members.integer("maxAge", least.max(89), ages, faults);
        if least > most {
            faults.add(members.at("maxAge"), "must be at least minAge");
        }
        let sex = made::sex(members, faults);
        let born = made::birth(members, bounds.day, faults);
        let household = members.integer("household", 1, (1, 8), faults).unsigned_abs();
        let of = members.text("of", faults).unwrap_or_default();
        if faults.count() > before {
            return None;
        }
        // Fields in a row refer to the same person if their requirements are the same.
        let mut group = format!("person {of} {} {least} {most} {sex:?} {household}", culture.code);
        if let Some(born) = born {
            group.push_str(&format!(" {born}"));
        }
        let name = format!("{place} {group}");
        if let Some(people) = self.people.get(&name) {
            return Some(Rc::clone(people));
        }
        let age = |age: i64| u8::try_from(age).ok();
        let limits = Limits { least: age(least), most: age(most), sex, born };
        let Ok(maker) = Maker::new(culture, bounds.day, limits) else {
            faults.add(members.at("locale"), "has telephone numbers that cannot be parsed");
            return None;
        };
        let key = FieldKey::new(&bounds.seed, &table.name, &group);
        let slot = self.people.len();
        let people = Rc::new(People { maker, key, household, slot });
        self.people.insert(name, Rc::clone(&people));
        Some(people)
    }

    /// Reads the type `card`: `part` (number), `format` for numbers (plain), `brand` (by market
    /// share), and `of` to distinguish several cards in a row. `items` is the number of indexes
    /// that enclosing arrays reserve per row.
    pub fn card(
        &mut self,
        members: &mut Members<'_>,
        (place, table): (usize, &RawTable<'a>),
        bounds: &Bounds,
        items: u64,
        faults: &mut Faults,
    ) -> Option<CardPart> {
        let part = members.word("part", &cards::PARTS, faults);
        let is_number = part.is_none() || members.value("part").is_none_or(|part| part == "number");
        let spelling = is_number.then(|| members.word("format", &made::SPELLINGS, faults));
        let of = members.text("of", faults);
        let stated = members.text("brand", faults);
        let payers = self.payers.entry(place).or_insert_with(|| {
            let mut payers = Payers::default();
            table.fields.iter().for_each(|field| payers.collect(field.value));
            payers
        });
        // A card has just one brand, so if any of its fields specifies a brand, this applies to all
        // of them.
        let stated = stated.or_else(|| payers.brands.get(&of).copied());
        let holder = payers.holder(of);
        let brand = match stated.map(|name| (name, card::find(name))) {
            Some((name, None)) => {
                let text = format!("{name} is unknown; /api/Card/Types lists the brands");
                faults.add(members.at("brand"), text);
                return None;
            }
            known => known.and_then(|(_, brand)| brand),
        };
        let part = part?;
        let is_pretty = spelling.unwrap_or(Some(false))?;
        let group = format!("card {} {}", of.unwrap_or_default(), brand.map_or("", name_of));
        let name = format!("{place} {group}");
        let cards = match self.cards.get(&name) {
            Some(cards) => Rc::clone(cards),
            None => {
                let key = FieldKey::new(&bounds.seed, &table.name, &group);
                let holders = self.holders(holder, (place, table), bounds);
                let (day, culture, slot) = (bounds.day, table.locale, self.cards.len());
                let cards = Rc::new(Cards { key, brand, day, holders, culture, slot });
                self.cards.insert(name, Rc::clone(&cards));
                cards
            }
        };
        Some(CardPart { cards, part, is_pretty, items })
    }

    /// Returns the cardholders, given one of their fields.
    fn holders(
        &mut self,
        field: Option<&Value>,
        table: (usize, &RawTable<'_>),
        bounds: &Bounds,
    ) -> Option<Rc<People>> {
        // Discard errors, because they are reported when the field itself is read.
        let mut faults = Faults::default();
        let mut members = Members::of(field?, String::new(), &mut faults)?;
        self.people(&mut members, table, bounds, &mut faults)
    }
}

fn name_of(brand: &'static CardType) -> &'static str {
    brand.name
}
