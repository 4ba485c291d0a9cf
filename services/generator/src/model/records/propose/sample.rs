//! Proposes a schema for sample data. We detect the columns' names and shapes, but no sample values
//! end up in the schema.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::column::{Column, Stored};
use super::existing::is_name;
use crate::model::records::dates::{date, instant, time};

/// Maximum length of a column name, before we append a number.
const LONGEST_NAME: usize = 50;

/// Maximum digits of a number.
const LONGEST_NUMBER: usize = 15;

/// Proposes a schema for a sample, given its column names and the values in each row.
///
/// # Errors
/// Returns an error if the header is missing.
pub fn of_sample(names: &[String], rows: &[Vec<String>]) -> Result<Value, String> {
    if names.is_empty() || names.iter().all(String::is_empty) {
        return Err("the sample has no header".to_owned());
    }
    let mut fields = Vec::new();
    let names = distinct(names.iter().map(|name| name.trim()));
    let all: Vec<_> = names.iter().map(String::as_str).collect();
    for (place, name) in names.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.trim());
        let cells: Vec<&str> = cells.collect();
        let values: Vec<&str> = cells.iter().copied().filter(|cell| !cell.is_empty()).collect();
        let mut column = Column::new(name.clone(), stored(name, &values));
        column.required = values.len() == cells.len();
        if matches!(column.stored, Stored::Integer | Stored::Decimal(_)) {
            let numbers = values.iter().filter_map(|value| value.parse::<f64>().ok());
            let (least, most) = numbers.fold((0.0_f64, 0.0_f64), |(least, most), number| {
                (least.min(number), most.max(number))
            });
            // Only the sample's order of magnitude matters.
            column.least = Some(0.0 - rounded(-least));
            column.most = Some(rounded(most).max(1.0));
        }
        fields.extend(column.fields("", &all));
    }
    Ok(json!({"fields": fields}))
}

/// Returns names that are valid in a schema. Missing and duplicate names get a number, and so do
/// names that only become equal to others when they are cut.
pub fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let wanted: HashSet<&str> = names.iter().copied().collect();
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    for (place, name) in names.into_iter().enumerate() {
        let (mut own, mut number) = (shortened(name), place + 1);
        let is_taken = |own: &String, known: &HashSet<String>| {
            own.is_empty() || known.contains(own) || own != name && wanted.contains(own.as_str())
        };
        while is_taken(&own, &known) {
            own = format!("{}_{number}", cut(name));
            number += 1;
        }
        known.insert(own.clone());
        all.push(own);
    }
    all
}

/// Returns a name that a table or field can have.
pub fn shortened(name: &str) -> String {
    if is_name(name) { name.to_owned() } else { cut(name) }
}

fn cut(name: &str) -> String {
    let is_letter = |letter: &char| !letter.is_control() && *letter != '"';
    name.chars().filter(is_letter).take(LONGEST_NAME).collect()
}

/// Rounds up to a power of ten. Returns 0 unless the number is positive.
fn rounded(number: f64) -> f64 {
    if number <= 0.0 { 0.0 } else { 10_f64.powf(number.log10().ceil()) }
}

fn stored(name: &str, values: &[&str]) -> Stored {
    let all =
        |fits: &dyn Fn(&str) -> bool| !values.is_empty() && values.iter().all(|value| fits(value));
    let known = |field: Value| Stored::Known(field);
    let is_number = |value: &str| value.parse::<f64>().is_ok_and(f64::is_finite);
    // Numbers with a leading zero or plus are codes, and so are those too long for a JSON parser.
    let is_digits = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    let is_code = values.iter().any(|value| {
        value.len() > 1 && value.starts_with(['0', '+']) && !value.contains('.')
            || value.len() > LONGEST_NUMBER && is_digits(value)
    });
    let words = ["true", "false", "yes", "no", "t", "f"];
    if all(&|value| words.contains(&value.to_lowercase().as_str())) {
        Stored::Boolean
    } else if !is_code && all(&|value| value.parse::<i64>().is_ok()) {
        let counted = (1..).zip(values).all(|(count, value)| *value == format!("{count}"));
        match super::names::by_name(name) {
            // Postcodes, telephone numbers and card numbers aren't quantities.
            Some(field) if field["type"] == "person" => Stored::Text(None),
            _ if counted && values.len() > 1 => known(json!({"type": "sequence"})),
            _ => Stored::Integer,
        }
    } else if !is_code && all(&is_number) {
        let decimals = values.iter().filter_map(|value| Some(value.split_once('.')?.1.len()));
        Stored::Decimal(decimals.max().unwrap_or(2).min(9) as u32)
    } else if all(&|value| date(value).is_some()) {
        Stored::Date
    } else if all(&|value| time(value).is_some()) {
        Stored::Time
    } else if all(&|value| value.len() > 10 && instant(value, &jiff::tz::TimeZone::UTC).is_some()) {
        Stored::Timestamp
    } else if all(&is_uuid) {
        Stored::Uuid
    } else if all(&|value| value.split_once('@').is_some_and(|(_, host)| host.contains('.'))) {
        known(json!({"type": "person", "part": "email"}))
    } else if all(&|value| value.starts_with("http://") || value.starts_with("https://")) {
        known(json!({"type": "url"}))
    } else if all(&is_colour) {
        known(json!({"type": "colour"}))
    } else if super::names::by_name(name).is_some() {
        Stored::Text(None)
    } else {
        let shapes: Vec<_> = values.iter().map(|value| shape(value)).collect();
        match shapes.first() {
            // It takes more than one value to find a common shape.
            Some(first)
                if shapes.len() > 1
                    && first.len() < 200
                    && shapes.iter().all(|shape| shape == first) =>
            {
                known(json!({"type": "pattern", "regex": first}))
            }
            _ => Stored::Text(None),
        }
    }
}

fn is_uuid(value: &str) -> bool {
    let fits = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    value.len() == 36 && value.bytes().enumerate().all(fits)
}

/// Returns whether a value is a colour such as `#3c6e91`.
fn is_colour(value: &str) -> bool {
    let digits = value.strip_prefix('#');
    digits.is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns a regular expression for values of the same shape, made of punctuation and classes of
/// letters and digits.
fn shape(value: &str) -> String {
    let class = |letter: char| match letter {
        'A'..='Z' => "[A-Z]".to_owned(),
        'a'..='z' => "[a-z]".to_owned(),
        '0'..='9' => "[0-9]".to_owned(),
        sign if sign.is_alphanumeric() => "[a-z]".to_owned(),
        sign => regex_syntax::escape(&sign.to_string()),
    };
    let mut shape = String::new();
    let mut letters = value.chars().map(class).peekable();
    while let Some(class) = letters.next() {
        let mut count = 1;
        while letters.next_if(|next| *next == class).is_some() {
            count += 1;
        }
        shape.push_str(&class);
        if count > 1 {
            shape.push_str(&format!("{{{count}}}"));
        }
    }
    shape
}
