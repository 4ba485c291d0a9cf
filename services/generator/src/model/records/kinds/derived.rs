//! Values that are made of other fields.

use std::rc::Rc;

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape, push_json_text};
use crate::model::records::children::Children;
use crate::model::records::expression::{Expression, Value};
use crate::model::records::field::{Field, Make, Row, SharedField};
use crate::model::records::permutation::Permutation;

/// A part of a template.
pub enum Piece {
    /// A text.
    Text(String),
    /// The value of a field.
    Field(SharedField),
}

/// `template`: texts and fields of the same row. A null is an empty text.
pub struct Template(pub Vec<Piece>);

impl Make for Template {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let out = cell.begin();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field(field) => row.with_cell(|row, part| {
                    field.write(index, row, part);
                    out.push_str(part.as_text().unwrap_or_default());
                }),
            }
        }
    }
}

/// Splits `{{name}}` out of a template. A text is `Ok`, a name `Err`.
pub fn pieces(template: &str) -> Vec<Result<&str, &str>> {
    let (mut found, mut rest) = (Vec::new(), template);
    while let Some((text, (name, behind))) =
        rest.split_once("{{").and_then(|(text, after)| Some((text, after.split_once("}}")?)))
    {
        found.extend([Ok(text), Err(name.trim())]);
        rest = behind;
    }
    found.push(Ok(rest));
    found.retain(|piece| *piece != Ok(""));
    found
}

/// `expression`: a calculation with fields of the same row.
pub struct Computed {
    /// The calculation.
    pub expression: Expression,
    /// Its fields, in the order of their numbers in the expression.
    pub fields: Vec<SharedField>,
}

impl Make for Computed {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let read = &mut |place: usize| {
            row.with_cell(|row, part| {
                self.fields[place].write(index, row, part);
                match part.shape {
                    Shape::Null => Value::Null,
                    Shape::Number => part.text.parse().map_or(Value::Null, Value::Number),
                    Shape::Boolean => Value::Boolean(part.text == "true"),
                    Shape::Text | Shape::Json => Value::Text(part.text.clone()),
                }
            })
        };
        match self.expression.value(read) {
            Value::Null => cell.set_null(),
            Value::Number(number) => cell.set(Shape::Number, number),
            Value::Boolean(value) => cell.set(Shape::Boolean, value),
            Value::Text(text) => cell.set_text(Some(&text)),
        }
    }
}

/// `object`: an object of fields.
pub struct Object(pub Vec<Field>);

impl Make for Object {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let mut out = std::mem::take(cell.begin()).into_bytes();
        out.push(b'{');
        for (place, field) in self.0.iter().filter(|field| !field.hidden).enumerate() {
            if place > 0 {
                out.push(b',');
            }
            push_json_text(&field.name, &mut out);
            out.push(b':');
            row.with_cell(|row, part| {
                field.write(index, row, part);
                part.push_json(&mut out);
            });
        }
        out.push(b'}');
        set_json(out, cell);
    }
}

/// `array`: several values of one field.
pub struct Array {
    /// The field of the items.
    pub item: Field,
    /// The least number of items.
    pub least: u64,
    /// The greatest number of items.
    pub most: u64,
}

impl Make for Array {
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        let count = random.between(self.least, self.most);
        let mut out = std::mem::take(cell.begin()).into_bytes();
        out.push(b'[');
        for place in 0..count {
            if place > 0 {
                out.push(b',');
            }
            // Each row has numbers of its own for the greatest number of items.
            let nth = index.wrapping_mul(self.most).wrapping_add(place);
            row.with_cell(|row, part| {
                self.item.write(nth, row, part);
                part.push_json(&mut out);
            });
        }
        out.push(b']');
        set_json(out, cell);
    }
}

fn set_json(bytes: Vec<u8>, cell: &mut Cell) {
    cell.text = String::from_utf8(bytes).unwrap_or_default();
    cell.shape = Shape::Json;
}

/// How the rows of a reference choose theirs.
pub enum Choosing {
    /// Any row, equally often.
    Uniform,
    /// Any row; first rows far more often than last ones.
    Skewed,
    /// Each row at most once.
    Once(Permutation),
    /// The row at a quotient and remainder of a permuted number, so that no pair occurs twice.
    Pair {
        /// Permutes the pairs.
        order: Permutation,
        /// The number of rows of the second reference.
        second: u64,
        /// Whether this is the second reference.
        is_second: bool,
    },
    /// A row before this one in the same table; null in the first.
    Earlier,
    /// The parent of the row.
    Parent(Rc<Children>),
}

/// `reference`: the value of a field of another row.
pub struct Reference {
    /// The field that is referred to.
    pub field: SharedField,
    /// The number of its rows.
    pub rows: u64,
    /// The choice of the row.
    pub choosing: Choosing,
}

impl Make for Reference {
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        let chosen = match &self.choosing {
            Choosing::Uniform => random.below(self.rows),
            Choosing::Skewed => {
                let place = random.unit().powi(3) * self.rows as f64;
                (place as u64).min(self.rows - 1)
            }
            Choosing::Once(order) => order.at(index),
            Choosing::Pair { order, second, is_second } => match (order.at(index), is_second) {
                (pair, true) => pair % second,
                (pair, false) => pair / second,
            },
            Choosing::Earlier if index == 0 => return cell.set_null(),
            // The items of an array have numbers beyond those of the rows.
            Choosing::Earlier => random.below(index.min(self.rows.max(1))),
            Choosing::Parent(children) => children.parent(index, row),
        };
        self.field.write(chosen, row, cell);
    }

    fn is_unique(&self) -> bool {
        matches!(self.choosing, Choosing::Once(_))
    }
}
