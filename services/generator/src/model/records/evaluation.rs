//! Evaluates parsed expressions: values, operators and functions.

use super::dates::{date, date_after, days};

/// Maximum length of a computed string in bytes.
const TEXT: usize = 10_000;

/// The value of a subexpression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A null. Most operations on a null return null, but `&` treats it as an empty string and `if`
    /// as false.
    Null,
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// A string, which can also contain a date.
    Text(String),
}

impl Value {
    fn number(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Null }
    }

    fn into_text(self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Boolean(value) => value.to_string(),
            Self::Text(text) => text,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Concatenate,
    Less,
    Greater,
    Equal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Upper,
    Lower,
    Slug,
    Length,
    Left,
    Round,
    Floor,
    Ceiling,
    Absolute,
    Least,
    Greatest,
    If,
    AddDays,
    DaysBetween,
    Year,
}

#[derive(Debug)]
pub(super) enum Node {
    Constant(Value),
    Field(usize),
    Binary(Operator, Box<(Node, Node)>),
    Call(Function, Vec<Node>),
}

impl Node {
    pub(super) fn can_be_null(&self, is_nullable: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Self::Constant(_) | Self::Binary(Operator::Concatenate, _) => false,
            Self::Field(place) => is_nullable(*place),
            Self::Binary(Operator::Divide | Operator::Remainder, sides)
                if sides.1.can_be_zero() =>
            {
                true
            }
            Self::Binary(_, sides) => {
                sides.0.can_be_null(is_nullable) || sides.1.can_be_null(is_nullable)
            }
            // A null condition counts as false.
            Self::Call(Function::If, arguments) => {
                arguments.iter().skip(1).any(|node| node.can_be_null(is_nullable))
            }
            Self::Call(_, arguments) => arguments.iter().any(|node| node.can_be_null(is_nullable)),
        }
    }

    fn can_be_zero(&self) -> bool {
        !matches!(self, Self::Constant(Value::Number(number)) if *number != 0.0)
    }

    pub(super) fn value(&self, read: &mut dyn FnMut(usize) -> Value) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Field(place) => read(*place),
            Self::Binary(operator, sides) => {
                let (left, right) = (sides.0.value(read), sides.1.value(read));
                operate(*operator, left, right)
            }
            Self::Call(Function::If, arguments) => {
                let [condition, yes, no] = &**arguments else { return Value::Null };
                match condition.value(read) {
                    Value::Boolean(true) => yes.value(read),
                    _ => no.value(read),
                }
            }
            Self::Call(function, arguments) => {
                let first = arguments.first().map_or(Value::Null, |node| node.value(read));
                let second = arguments.get(1).map_or(Value::Null, |node| node.value(read));
                call(*function, first, second)
            }
        }
    }
}

fn operate(operator: Operator, left: Value, right: Value) -> Value {
    match (operator, left, right) {
        (Operator::Concatenate, left, right) => {
            let mut text = left.into_text();
            text.push_str(&right.into_text());
            Value::Text(cut(text))
        }
        (_, Value::Null, _) | (_, _, Value::Null) => Value::Null,
        (Operator::Equal, left, right) => Value::Boolean(left == right),
        (Operator::Less, Value::Text(left), Value::Text(right)) => Value::Boolean(left < right),
        (Operator::Greater, Value::Text(left), Value::Text(right)) => Value::Boolean(left > right),
        (operator, Value::Number(left), Value::Number(right)) => match operator {
            Operator::Add => Value::number(left + right),
            Operator::Subtract => Value::number(left - right),
            Operator::Multiply => Value::number(left * right),
            Operator::Divide => Value::number(left / right),
            Operator::Remainder => Value::number(left % right),
            Operator::Less => Value::Boolean(left < right),
            Operator::Greater => Value::Boolean(left > right),
            Operator::Concatenate | Operator::Equal => Value::Null,
        },
        _ => Value::Null,
    }
}

fn call(function: Function, first: Value, second: Value) -> Value {
    match (function, first, second) {
        (_, Value::Null, _) => Value::Null,
        (Function::Upper, first, _) => Value::Text(first.into_text().to_uppercase()),
        (Function::Lower, first, _) => Value::Text(first.into_text().to_lowercase()),
        (Function::Slug, first, _) => Value::Text(slug(&first.into_text())),
        (Function::Length, first, _) => Value::Number(first.into_text().chars().count() as f64),
        (Function::Left, first, Value::Number(count)) => {
            Value::Text(first.into_text().chars().take(count.max(0.0) as usize).collect())
        }
        (Function::Round, Value::Number(number), Value::Number(decimals)) => {
            // Negative numbers of decimals round to tens, hundreds and so on.
            let one = 10_f64.powi(decimals.abs().min(9.0) as i32);
            Value::number(match decimals < 0.0 {
                true => (number / one).round() * one,
                false => (number * one).round() / one,
            })
        }
        (Function::Floor, Value::Number(number), _) => Value::number(number.floor()),
        (Function::Ceiling, Value::Number(number), _) => Value::number(number.ceil()),
        (Function::Absolute, Value::Number(number), _) => Value::number(number.abs()),
        (Function::Least, Value::Number(left), Value::Number(right)) => {
            Value::number(left.min(right))
        }
        (Function::Greatest, Value::Number(left), Value::Number(right)) => {
            Value::number(left.max(right))
        }
        (Function::AddDays, Value::Text(text), Value::Number(count)) => added(&text, count),
        (Function::DaysBetween, Value::Text(from), Value::Text(to)) => {
            match (date(day_of(&from)), date(day_of(&to))) {
                (Some(from), Some(to)) => Value::Number((days(to) - days(from)) as f64),
                _ => Value::Null,
            }
        }
        (Function::Year, Value::Text(text), _) => {
            date(day_of(&text)).map_or(Value::Null, |date| Value::Number(f64::from(date.year())))
        }
        _ => Value::Null,
    }
}

/// Returns the date part of a date or timestamp.
fn day_of(text: &str) -> &str {
    text.split_once('T').map_or(text, |(day, _)| day)
}

/// Adds days to a date, or to the date part of a timestamp.
fn added(text: &str, count: f64) -> Value {
    let day = day_of(text);
    let moved = date(day).and_then(|date| date_after(days(date).saturating_add(count as i64)));
    moved.map_or(Value::Null, |moved| Value::Text(format!("{moved}{}", &text[day.len()..])))
}

/// Converts a string to lower-case letters and digits, with hyphens in place of anything in
/// between.
fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT));
    text
}
