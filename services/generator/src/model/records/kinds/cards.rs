//! The type `card`. All parts of a card in the same row are consistent.

use std::rc::Rc;

use jiff::civil::Date;

use super::people::People;
use crate::model::card::{Card, CardType, grouped};
use crate::model::names::Culture;
use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape};
use crate::model::records::field::{FieldKey, Make, Row};
use crate::model::records::known::Paid;

/// Cards that are shared by several fields of a table.
pub struct Cards {
    /// The random key for the cards.
    pub key: FieldKey,
    /// The brand. If `None`, brands are chosen by market share.
    pub brand: Option<&'static CardType>,
    /// The reference date for expiry dates.
    pub day: Date,
    /// The cardholders. `None` if the table doesn't have any people.
    pub holders: Option<Rc<People>>,
    /// The culture of the cardholders' names, if the table doesn't have any people.
    pub culture: &'static Culture,
    /// Index into [`Row::cards`].
    pub slot: usize,
}

impl Cards {
    /// Generates the card at an index. `holder` is the index of the cardholder.
    fn make(&self, index: u64, holder: u64, row: &mut Row) -> Card {
        let mut random = self.key.random(index);
        Card::issue(&mut random, self.brand, self.day, |random, out| match &self.holders {
            Some(people) => out.push_str(people.latin_name(holder, row)),
            None => {
                let is_female = random.percent(50);
                out.push_str(&self.culture.identity(is_female, random).latin);
            }
        })
    }
}

type Part = fn(&Card, &mut Cell);

/// Parts of a card. The first is the default.
pub const PARTS: [(&str, Part); 6] = [
    ("number", |card, cell| cell.set_text(Some(&card.number))),
    ("type", |card, cell| cell.set_text(Some(card.kind.name))),
    ("expiry", |card, cell| cell.set(Shape::Text, card.expiry.strftime("%Y-%m"))),
    ("cvv", |card, cell| cell.set_text(Some(&card.code))),
    ("holder", |card, cell| cell.set_text(Some(&card.holder))),
    ("pin", |card, cell| cell.set(Shape::Text, format_args!("{:04}", card.pin))),
];

/// The type `card`: one part of a card.
pub struct CardPart {
    pub cards: Rc<Cards>,
    pub part: Part,
    /// Whether to split the card number into groups.
    pub is_pretty: bool,
    /// Number of indexes that enclosing arrays reserve per row.
    pub items: u64,
}

impl Make for CardPart {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let slot = self.cards.slot;
        if row.cards.len() <= slot {
            row.cards.resize_with(slot + 1, || None);
        }
        let card = match row.cards[slot].take() {
            Some(paid) if paid.index == index => paid.card,
            _ => self.cards.make(index, index / self.items, row),
        };
        match self.is_pretty {
            true => cell.set_text(Some(&grouped(&card.number))),
            false => (self.part)(&card, cell),
        }
        row.cards[slot] = Some(Paid { index, card });
    }
}
