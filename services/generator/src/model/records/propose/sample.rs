//! Proposes a schema for sample data. It is based on column names and the shape of the values, so
//! it doesn't contain any of the sample values.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::column::{Column, Stored};
use super::days::local;
use super::existing::is_name;
use super::names::{by_name, coordinate, is_id, usual};
use super::values::{answers, digests, is_colour, is_uuid, network, plain_numbers, shape};
use crate::model::records::dates::{date, instant, time};

/// Maximum length of a column name before a number is appended.
const LONGEST_NAME: usize = 50;

/// Length of a date.
const DAY: usize = 10;
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
    let all: HashSet<_> = names.iter().map(String::as_str).collect();
    for (place, name) in names.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.trim());
        let cells: Vec<&str> = cells.collect();
        let values: Vec<&str> = cells.iter().copied().filter(|cell| !cell.is_empty()).collect();
        let numbers = plain_numbers(&values);
        let values: Vec<&str> = match &numbers {
            Some(numbers) => numbers.iter().map(String::as_str).collect(),
            None => values,
        };
        let mut column = Column::new(name.clone(), stored(name, &values));
        column.required = values.len() == cells.len();
        // The first column is the key if its name suggests that.
        let different: HashSet<_> = values.iter().collect();
        let is_key = place == 0 && is_id(name) && column.required && values.len() > 1;
        if is_key && column.stored == Stored::Integer && different.len() == values.len() {
            column.stored = Stored::Known(json!({"type": "sequence"}));
        }
        let is_instant = |value: &&str| value.parse::<jiff::Timestamp>().is_ok();
        column.is_local = !values.iter().any(is_instant);
        if matches!(column.stored, Stored::Integer | Stored::Decimal(_)) {
            let numbers = values.iter().filter_map(|value| value.parse::<f64>().ok());
            let (least, most) = numbers.fold((0.0_f64, 0.0_f64), |(least, most), number| {
                (least.min(number), most.max(number))
            });
            // Keep just the order of magnitude, so that no sample values end up in the schema.
            column.least = Some(0.0 - rounded(-least));
            column.most = Some(rounded(most).max(1.0));
            if let Some((first, last)) = usual(name)
                && values
                    .iter()
                    .all(|value| value.parse().is_ok_and(|n| (first..=last).contains(&n)))
            {
                (column.least, column.most) = (Some(first), Some(last));
            }
        }
        fields.extend(column.fields("", &all));
    }
    Ok(json!({"fields": fields}))
}

/// Returns names that are valid in a schema. Adds a number to missing and duplicate names, and to
/// names that would be duplicates after shortening.
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

/// Returns the name in a form that is valid for a table or field.
pub fn shortened(name: &str) -> String {
    if is_name(name) { name.to_owned() } else { cut(name) }
}

fn cut(name: &str) -> String {
    let is_letter = |letter: &char| !letter.is_control() && *letter != '"';
    name.chars().filter(is_letter).take(LONGEST_NAME).collect()
}

/// Rounds up to a power of ten. Returns 0 if the number isn't positive.
fn rounded(number: f64) -> f64 {
    if number <= 0.0 { 0.0 } else { 10_f64.powf(number.log10().ceil()) }
}

fn stored(name: &str, values: &[&str]) -> Stored {
    let all =
        |fits: &dyn Fn(&str) -> bool| !values.is_empty() && values.iter().all(|value| fits(value));
    let known = |field: Value| Stored::Known(field);
    let is_number = |value: &str| value.parse::<f64>().is_ok_and(f64::is_finite);
    // Numbers are codes if they have a leading zero or plus sign, or are too long for a JSON
    // parser.
    let is_digits = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    let is_code = values.iter().any(|value| {
        value.len() > 1 && value.starts_with(['0', '+']) && !value.contains('.')
            || value.len() > LONGEST_NUMBER && is_digits(value)
    });
    let words = ["true", "false", "yes", "no", "t", "f"];
    if all(&|value| words.contains(&value.to_lowercase().as_str())) {
        Stored::Boolean
    } else if let Some(answers) = answers(values) {
        known(json!({"type": "choice", "values": answers}))
    } else if !is_code && all(&|value| value.parse::<i64>().is_ok()) {
        let counted = (1..).zip(values).all(|(count, value)| *value == format!("{count}"));
        match by_name(name) {
            // Postcodes, telephone numbers and card numbers aren't quantities.
            Some(field) if field["type"] == "person" => Stored::Text(None),
            _ if counted && values.len() > 1 => known(json!({"type": "sequence"})),
            _ => Stored::Integer,
        }
    } else if !is_code && all(&is_number) {
        let decimals = values.iter().filter_map(|value| Some(value.split_once('.')?.1.len()));
        let decimals = decimals.max().unwrap_or(2).min(9) as u32;
        let is_near = |largest: f64| {
            all(&|value| value.parse::<f64>().is_ok_and(|number| number.abs() <= largest))
        };
        match coordinate(name) {
            Some((kind, largest)) if is_near(largest) => known(json!({"type": kind})),
            _ => Stored::Decimal(decimals),
        }
    } else if all(&|value| value.len() > DAY && instant(value, &jiff::tz::TimeZone::UTC).is_some())
    {
        Stored::Timestamp
    } else if all(&|value| date(value).is_some()) {
        Stored::Date
    } else if all(&|value| time(value).is_some()) {
        Stored::Time
    } else if let Some(field) = network(values) {
        known(field)
    } else if all(&is_uuid) {
        Stored::Uuid
    } else if all(&|value| value.split_once('@').is_some_and(|(_, host)| host.contains('.'))) {
        known(json!({"type": "person", "part": "email"}))
    } else if all(&|value| value.starts_with("http://") || value.starts_with("https://")) {
        known(json!({"type": "url"}))
    } else if all(&is_colour) {
        known(json!({"type": "colour"}))
    } else if let Some(regex) = digests(values) {
        known(json!({"type": "pattern", "regex": regex}))
    } else if by_name(name).is_some() {
        Stored::Text(None)
    } else if let Some(regex) = local(values).or_else(|| shape(values)) {
        known(json!({"type": "pattern", "regex": regex}))
    } else {
        Stored::Text(None)
    }
}
