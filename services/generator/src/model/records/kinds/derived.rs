//! Values derived from other fields.

use std::rc::Rc;

use crate::model::random::Random;
use crate::model::records::cell::{Cell, Shape, push_json_text};
use crate::model::records::children::Children;
use crate::model::records::evaluation::Value;
use crate::model::records::expression::Expression;
use crate::model::records::field::{Field, FieldKey, Make, Row, SharedField};
use crate::model::records::kinds::choice::pick;
use crate::model::records::permutation::Permutation;

/// A piece of a template.
pub enum Piece {
    /// Literal text.
    Text(String),
    /// The value of a field.
    Field(SharedField),
}

/// The type `template`: literal text combined with values of other fields in the row. Nulls become
/// empty strings.
pub struct Template {
    pub pieces: Vec<Piece>,
    /// Number of indexes that enclosing arrays reserve per row.
    pub items: u64,
}

impl Make for Template {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let out = cell.begin();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Field(field) => row.with_cell(|row, part| {
                    field.write(index / self.items, row, part);
                    out.push_str(part.as_text().unwrap_or_default());
                }),
            }
        }
    }

    fn is_unique(&self) -> bool {
        // With more than one field, different values could result in the same string.
        let mut fields = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Field(field) => Some(field),
        });
        let first = fields.next();
        self.items == 1 && fields.next().is_none() && first.is_some_and(|field| field.is_unique())
    }
}

/// Splits a template at each `{{name}}`. Returns literal text as `Ok` and names as `Err`.
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

/// The type `expression`: a value computed from other fields in the row.
pub struct Computed {
    /// The parsed expression.
    pub expression: Expression,
    /// The fields used in the expression, in the same order as [`Expression::names`].
    pub fields: Vec<SharedField>,
    /// Number of indexes that enclosing arrays reserve per row.
    pub items: u64,
}

impl Make for Computed {
    fn write(&self, index: u64, _: &mut Random, row: &mut Row, cell: &mut Cell) {
        let read = &mut |place: usize| {
            row.with_cell(|row, part| {
                self.fields[place].write(index / self.items, row, part);
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

    fn has_nulls(&self) -> bool {
        self.expression.can_be_null(&|place| self.fields[place].has_nulls())
    }
}

/// The type `object`: a JSON object with a member for each field.
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

/// The type `array`: several values of a field.
pub struct Array {
    /// The field that generates the items.
    pub item: Field,
    /// Minimum number of items.
    pub least: u64,
    /// Maximum number of items.
    pub most: u64,
    /// Set if the items must be distinct and this isn't already guaranteed.
    pub distinct: Option<Distinct>,
}

/// How to choose distinct items.
pub struct Distinct {
    pub key: FieldKey,
    /// Number of values to choose from.
    pub space: u64,
}

impl Distinct {
    /// Draws `count` distinct value numbers for the items in an array. All selections and orders
    /// are equally likely.
    fn numbers(&self, index: u64, count: u64) -> Vec<u64> {
        let mut random = self.key.random(index);
        let mut chosen = Vec::with_capacity(count as usize);
        // Floyd's algorithm only takes one random number per item, even if nearly all values are
        // used.
        for last in self.space.saturating_sub(count)..self.space {
            let number = random.below(last + 1);
            chosen.push(if chosen.contains(&number) { last } else { number });
        }
        for place in (1..chosen.len()).rev() {
            chosen.swap(place, random.index(place + 1));
        }
        chosen
    }
}

impl Make for Array {
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        let count = random.between(self.least, self.most);
        let mut out = std::mem::take(cell.begin()).into_bytes();
        out.push(b'[');
        let numbers = self.distinct.as_ref().map(|distinct| distinct.numbers(index, count));
        for place in 0..count {
            if place > 0 {
                out.push(b',');
            }
            // Each row reserves enough indexes for the maximum number of items.
            let nth = index.wrapping_mul(self.most).wrapping_add(place);
            row.with_cell(|row, part| {
                match numbers.as_ref().and_then(|numbers| numbers.get(place as usize)) {
                    Some(number) => self.item.make.write_nth(*number, row, part),
                    None => self.item.write(nth, row, part),
                }
                part.push_json(&mut out);
            });
        }
        out.push(b']');
        set_json(out, cell);
    }
}

/// The type `oneOf`: picks one of several fields for each row.
pub struct OneOf {
    pub fields: Vec<Field>,
    /// Cumulative weights. Empty if all weights are equal.
    pub sums: Vec<f64>,
    /// The field whose value selects the alternative. If `None`, alternatives are chosen at random.
    pub by: Option<SharedField>,
    /// Number of indexes that enclosing arrays reserve per row.
    pub items: u64,
}

impl Make for OneOf {
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell) {
        let place = match &self.by {
            None => pick(&self.sums, self.fields.len(), random),
            Some(field) => row.with_cell(|row, part| {
                field.write(index / self.items, row, part);
                let number = part.as_text().and_then(|text| text.parse().ok()).unwrap_or(0_usize);
                number.min(self.fields.len() - 1)
            }),
        };
        self.fields[place].write(index, row, cell);
    }

    fn has_nulls(&self) -> bool {
        self.fields.iter().any(Field::has_nulls)
    }
}

fn set_json(bytes: Vec<u8>, cell: &mut Cell) {
    cell.text = String::from_utf8(bytes).unwrap_or_default();
    cell.shape = Shape::Json;
}

/// Cost of finding a row's parent, in addition to the cost of a short value. Unless rows are
/// generated in order, this involves the child counts of up to 256 parents.
const COST_OF_A_PARENT: u64 = 15;

/// How a reference picks its target row.
pub enum Choosing {
    /// A random row. All rows are equally likely.
    Uniform,
    /// A random row. Rows near the start are much more likely than rows near the end.
    Skewed,
    /// Any row, but each one at most once.
    Once(Permutation),
    /// An earlier row in the same table. For the first row, the reference is null.
    Earlier,
    /// The previous row in the same table. For the first row, the reference is null.
    Before,
    /// The parent of the row.
    Parent(Rc<Children>),
}

/// The type `reference`: a field's value in another row.
pub struct Reference {
    /// The target field.
    pub field: SharedField,
    /// Row count of the target table.
    pub rows: u64,
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
            Choosing::Earlier | Choosing::Before if index == 0 => return cell.set_null(),
            Choosing::Before => index - 1,
            // The indexes of array items can exceed the number of rows.
            Choosing::Earlier => random.below(index.min(self.rows.max(1))),
            Choosing::Parent(children) => children.parent(index, row),
        };
        self.field.write(chosen, row, cell);
    }

    fn has_nulls(&self) -> bool {
        // The first row has no earlier row to refer to. The target field itself never has nulls,
        // because the schema parser rejects references to nullable fields.
        matches!(self.choosing, Choosing::Earlier | Choosing::Before)
    }

    fn space(&self) -> Option<u64> {
        matches!(self.choosing, Choosing::Uniform | Choosing::Skewed).then_some(self.rows)
    }

    fn write_nth(&self, nth: u64, row: &mut Row, cell: &mut Cell) {
        self.field.write(nth, row, cell);
    }

    fn is_distinct(&self) -> bool {
        self.field.is_unique()
    }

    fn longest_run(&self) -> Option<u64> {
        match &self.choosing {
            Choosing::Parent(children) => Some(children.most()),
            _ => None,
        }
    }

    fn is_unique(&self) -> bool {
        matches!(self.choosing, Choosing::Once(_) | Choosing::Before) && self.is_distinct()
    }

    fn more_cost(&self) -> u64 {
        if matches!(self.choosing, Choosing::Parent(_)) { COST_OF_A_PARENT } else { 0 }
    }
}
