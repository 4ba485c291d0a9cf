//! Proposes fields that match the columns of existing tables.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::days::moved;
use super::measures::{UUID, is_countable, is_plain, longest, shortest};
use super::names::{by_name, coordinate, usual};
use crate::model::records::kinds::pattern;

/// Share of nulls in nullable columns.
const NULLS: f64 = 0.1;
/// Default maximum for numbers.
const MOST_INTEGER: f64 = 1_000_000.0;
const MOST_DECIMAL: f64 = 1_000.0;
/// The largest integer that every JSON parser represents exactly.
pub const LARGEST_INTEGER: f64 = 9_007_199_254_740_991.0;
/// Maximum digits of a decimal.
pub const DIGITS: i32 = 15;
/// If the earliest allowed date is this late or later, it might be after the default date range, so
/// the range gets a new end.
const LATE: &str = "2024-01-01";
/// If the latest allowed date is earlier than this, it might be before the default date range, so
/// the range gets a new start.
const EARLY: &str = "2001-01-01";
/// Length in days of a range with a new start or end.
const YEAR: i64 = 365;
/// Maximum length of the column name that a helper field's name starts with.
const LONGEST_START: usize = 50;
/// Maximum number of days between two dates in the same row, such as an order date and a delivery
/// date.
const DAYS: i64 = 30;
/// Length of a timestamp without an offset.
const LOCAL: u32 = 19;
/// A pattern for timestamps without an offset, restricted to times that daylight saving time never
/// skips.
const LOCAL_TIMES: &str = "20[12][0-9]-0[1-9]-[12][0-8]T1[0-9]:[0-5][0-9]:[0-5][0-9]";
/// Usual length of the random strings that we use where realistic ones would have to be truncated.
const SHORT: u32 = 12;
/// Maximum length of strings generated from a pattern.
const LONG: u32 = 1_000;
/// Length of unique telephone numbers.
const PHONE: u32 = "+12015550123".len() as u32;
/// Length of unique email addresses that don't come from a generated person.
const SHORT_EMAIL: u32 = 20;

/// The type of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Integers.
    Integer,
    /// Decimals, with their number of decimal places.
    Decimal(u32),
    /// Booleans.
    Boolean,
    /// Dates.
    Date,
    /// Times of day.
    Time,
    /// Timestamps.
    Timestamp,
    /// UUIDs.
    Uuid,
    /// Strings, with their maximum length if limited.
    Text(Option<u32>),
    /// Values of the given field, for columns whose field is already decided.
    Known(Value),
}

/// A column of an existing table.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub stored: Stored,
    pub required: bool,
    pub unique: bool,
    /// Whether the column is a key on its own.
    pub is_key: bool,
    /// Whether the column is part of a unique combination of columns.
    pub is_combined: bool,
    /// The first number and the step of a column that only the database writes. Other fields can
    /// still refer to its numbers.
    pub identity: Option<(i64, i64)>,
    /// Whether all values must be null.
    pub is_null: bool,
    /// Whether timestamps must come without an offset.
    pub is_local: bool,
    /// Allowed values. Empty if any value is allowed.
    pub choices: Vec<Value>,
    /// Strings that checks exclude.
    pub excluded: Vec<Value>,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// The largest number that the type can store.
    pub limit: Option<f64>,
    /// The earliest and latest allowed dates.
    pub days: (Option<String>, Option<String>),
    /// A regular expression that strings must match.
    pub regex: Option<String>,
    /// Minimum length of strings.
    pub shortest: u32,
    /// Whether strings are in capitals.
    pub is_upper: bool,
    /// Whether strings are in lower case.
    pub is_lower: bool,
    /// Whether a column such as `state` means a status, because its table doesn't have an address.
    pub is_status: bool,
    /// The column with a date that this one must follow, and the minimum number of days in between.
    pub after: Option<(String, i64)>,
    /// The table and column that this column references.
    pub refers: Option<(String, String)>,
    /// The column that picks the referenced row for this one, too, as in a composite foreign key.
    pub with: Option<String>,
}

impl Column {
    pub fn new(name: String, stored: Stored) -> Self {
        Self {
            name,
            stored,
            required: false,
            unique: false,
            is_key: false,
            is_combined: false,
            identity: None,
            is_null: false,
            is_local: false,
            choices: Vec::new(),
            excluded: Vec::new(),
            least: None,
            most: None,
            limit: None,
            days: (None, None),
            regex: None,
            shortest: 0,
            is_upper: false,
            is_lower: false,
            is_status: false,
            after: None,
            refers: None,
            with: None,
        }
    }

    /// Returns the smallest difference between two numbers in the column.
    pub fn step(&self) -> f64 {
        match self.stored {
            Stored::Decimal(decimals) => 10_f64.powi(-decimals.cast_signed()),
            _ => 1.0,
        }
    }

    /// Returns the field for this column. If it depends on a hidden helper field, that field comes
    /// first. `names` are the names of all columns, which the helper field must not have.
    pub fn fields(&self, own: &str, names: &HashSet<&str>) -> Vec<Value> {
        let letters = self.name.replace(|c: char| !c.is_alphanumeric(), "_");
        let letters: String = letters.chars().take(LONGEST_START).collect();
        let helper = |end: &str| {
            let mut name = format!("{letters}_{end}");
            while names.contains(name.as_str()) {
                name.push('_');
            }
            name
        };
        let pair = |mut hidden: Value, name: &str, expression: String| {
            hidden["name"] = name.into();
            hidden["hidden"] = true.into();
            let shown = json!({"name": self.name, "type": "expression", "expression": expression});
            vec![hidden, shown]
        };
        if let Some((before, least)) = self.after.as_ref().filter(|_| !self.is_null) {
            let name = helper("days");
            let days = json!({"type": "integer", "min": least, "max": least + DAYS});
            let mut fields = pair(days, &name, format!("addDays({before}, {name})"));
            if !self.required {
                fields[1]["nulls"] = NULLS.into();
            }
            return fields;
        }
        let (field, length) = self.field(own);
        if let Some((table, key)) = &self.refers
            && table == own
            && self.required
            && is_plain(key)
        {
            // In the first row, there is no earlier row, so the reference points at the row itself.
            let name = helper("earlier");
            return pair(field, &name, format!("if({name} = {name}, {name}, {key})"));
        }
        match length {
            None => vec![field],
            Some(length) => {
                let name = helper("whole");
                pair(field, &name, format!("left({name}, {length})"))
            }
        }
    }

    /// Returns the field, along with the maximum length if its values have to be truncated.
    pub fn field(&self, own: &str) -> (Value, Option<u32>) {
        let unique = self.unique || self.is_key;
        let mut field = match &self.refers {
            _ if self.is_null => json!({"type": "constant", "value": null}),
            Some((table, column)) => self.reference(table, column, unique),
            None => self.made(unique),
        };
        field["name"] = self.name.as_str().into();
        if self.identity.is_some() {
            field["hidden"] = true.into();
        }
        let is_own = self.refers.as_ref().is_some_and(|(table, _)| table == own);
        let has_nulls = !self.required && !self.is_key && !self.is_null;
        if has_nulls && !is_own && self.with.is_none() {
            field["nulls"] = NULLS.into();
        }
        let length = match self.stored {
            Stored::Text(Some(length)) if length < longest(&field) && !self.is_ordered() => {
                Some(length)
            }
            Stored::Timestamp if self.is_local && !self.is_null && !self.is_local_pattern() => {
                Some(LOCAL).filter(|_| !self.is_combined)
            }
            _ => None,
        };
        (field, length)
    }

    /// Returns the field for use inside an object, an array or alternatives, where no other field
    /// can truncate its strings.
    pub fn inner_field(&self) -> Value {
        let (mut field, length) = self.field("");
        if let (Some(length), Stored::Text(_)) = (length, &self.stored) {
            let count = length.min(SHORT).max(self.shortest).clamp(1, LONG);
            let regex = format!("[A-Za-z0-9]{{{count}}}");
            let mut cut = json!({"name": field["name"], "type": "pattern", "regex": regex});
            if let Some(nulls) = field.get_mut("nulls") {
                cut["nulls"] = nulls.take();
            }
            return cut;
        }
        field
    }

    fn reference(&self, table: &str, column: &str, unique: bool) -> Value {
        let mut field = json!({"type": "reference", "table": table, "field": column});
        if let Some(with) = &self.with {
            field["with"] = with.as_str().into();
        } else if unique {
            field["choose"] = "once".into();
        }
        field
    }

    /// Returns whether values must be selected by number because each can only be used once.
    pub fn is_ordered(&self) -> bool {
        self.unique || self.is_key || self.is_combined
    }

    /// Returns whether the column can be unique, either on its own or in combination with others.
    pub fn can_be_unique(&self) -> bool {
        match &self.refers {
            Some(_) => true,
            // Dates computed from different dates can be equal.
            None if self.after.is_some() => false,
            None => is_countable(&Self { is_combined: true, ..self.clone() }.made(false)),
        }
    }

    /// Returns the number of possible values, if it is small. `rows` returns the size of a table
    /// that the column refers to.
    pub fn count(&self, rows: impl Fn(&str) -> Option<u64>) -> Option<u64> {
        if let Some((table, _)) = &self.refers {
            return rows(table);
        }
        let field = Self { is_combined: true, ..self.clone() }.made(false);
        match field["type"].as_str()? {
            "boolean" => Some(2),
            "choice" => field["values"].as_array().map(|values| values.len() as u64),
            "sequence" => {
                let (first, step) = self.identity.unwrap_or((self.first(), 1));
                let most = self.most.into_iter().chain(self.limit).reduce(f64::min)? as i64;
                let step = u64::try_from(step).ok()?;
                Some(u64::try_from(most.saturating_sub(first)).unwrap_or_default() / step + 1)
            }
            "integer" | "decimal" => {
                let bound = |name: &str, usual: f64| field[name].as_f64().unwrap_or(usual);
                let is_integer = field["type"] == "integer";
                let usual = if is_integer { MOST_INTEGER } else { MOST_DECIMAL };
                let width = bound("max", usual) - bound("min", 0.0);
                Some((width / self.step()).round() as u64 + 1)
            }
            kind @ ("date" | "timestamp") => {
                let day = |name: &str| field[name].as_str()?.parse::<jiff::civil::Date>().ok();
                let days = day("min")?.until(day("max")?).ok()?.get_days();
                // Timestamps end at midnight, the start of the last day.
                let per_day = if kind == "date" { 1 } else { 24 * 60 * 60 };
                Some(u64::try_from(days).ok()? * per_day + 1)
            }
            "pattern" => pattern::count(field["regex"].as_str()?),
            _ => None,
        }
    }

    fn made(&self, unique: bool) -> Value {
        let mut field = self.any();
        let is_alone = matches!(field["type"].as_str(), Some("sequence" | "uuid" | "person"));
        if unique && !is_alone && is_countable(&field) {
            field["unique"] = true.into();
        }
        field
    }

    fn any(&self) -> Value {
        if let Some((first, step)) = self.identity {
            return sequence(first, step);
        }
        if !self.choices.is_empty() {
            return json!({"type": "choice", "values": self.choices});
        }
        if let (Stored::Decimal(2..), Some(kind)) = (&self.stored, self.coordinate()) {
            return json!({"type": kind});
        }
        match &self.stored {
            Stored::Integer | Stored::Decimal(0) if self.is_counted() => sequence(self.first(), 1),
            Stored::Integer => match usual(&self.name).filter(|_| !self.has_bounds()) {
                Some((least, most)) => {
                    json!({"type": "integer", "min": least as i64, "max": most as i64})
                }
                None => self.number(json!({"type": "integer"}), MOST_INTEGER),
            },
            Stored::Decimal(decimals) => {
                self.number(json!({"type": "decimal", "decimals": decimals}), MOST_DECIMAL)
            }
            Stored::Boolean => json!({"type": "boolean"}),
            Stored::Date => match by_name(&self.name) {
                Some(field) if field["part"] == "birthDate" && !self.is_dated() => field,
                _ => self.dated(json!({"type": "date"})),
            },
            Stored::Time => json!({"type": "time"}),
            Stored::Timestamp if self.is_local_pattern() => {
                json!({"type": "pattern", "regex": LOCAL_TIMES})
            }
            Stored::Timestamp => self.dated(json!({"type": "timestamp"})),
            Stored::Uuid => json!({"type": "uuid"}),
            Stored::Known(field) if self.is_ordered() && field["version"] == 6 => json!({
                "type": "pattern", "regex": "2001:db8::[1-9a-f][0-9a-f]{3}:[1-9a-f][0-9a-f]{3}"}),
            Stored::Known(field) if self.is_ordered() && field["type"] == "ip" => json!({
                "type": "pattern", "regex": "10\\.[1-9][0-9]\\.[1-9][0-9]\\.[1-9][0-9]"}),
            Stored::Known(field) if self.is_ordered() && field["type"] == "mac" => json!({
                "type": "pattern", "regex": "02:00:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}"}),
            Stored::Known(field) if self.is_ordered() && field["type"] == "url" => json!({
                "type": "pattern", "regex": "https://[a-z]{8}\\.example/[a-z]{4}"}),
            Stored::Known(field) => field.clone(),
            Stored::Text(length) => self.text(*length),
        }
    }

    /// Returns whether the integers need explicit bounds, because the column has limits or might
    /// need every integer to be unique.
    fn has_bounds(&self) -> bool {
        self.is_ordered() || self.least.is_some() || self.most.is_some()
    }

    /// Returns the coordinate type that the column name suggests, unless the column's limits rule
    /// it out.
    fn coordinate(&self) -> Option<&'static str> {
        let (kind, largest) = coordinate(&self.name).filter(|_| !self.is_ordered())?;
        let fits = self.least.is_none_or(|least| least <= -largest)
            && self.most.is_none_or(|most| most >= largest)
            && self.limit.is_none_or(|limit| limit >= largest);
        fits.then_some(kind)
    }

    /// Returns whether dates are subject to any limits.
    fn is_dated(&self) -> bool {
        self.is_ordered() || self.days != (None, None)
    }

    fn dated(&self, mut field: Value) -> Value {
        let (first, last) = match self.days.clone() {
            // The default range would end before the earliest allowed date, or start after the
            // latest one.
            (Some(first), None) if first.as_str() >= LATE => {
                let last = moved(&first, YEAR);
                (Some(first), last)
            }
            (None, Some(last)) if self.stored == Stored::Timestamp || last.as_str() < EARLY => {
                (moved(&last, -YEAR), Some(last))
            }
            days => days,
        };
        for (name, day) in [("min", first), ("max", last)] {
            if let Some(day) = day {
                field[name] = day.into();
            }
        }
        field
    }

    fn number(&self, mut field: Value, usual: f64) -> Value {
        let bound = |value: f64, round: fn(f64) -> f64| match self.stored {
            Stored::Decimal(decimals) => {
                let largest = 10_f64.powi(DIGITS - decimals.cast_signed());
                json!(value.clamp(-largest, largest))
            }
            _ => json!(round(value).clamp(-LARGEST_INTEGER, LARGEST_INTEGER) as i64),
        };
        let limit = self.limit.unwrap_or(f64::MAX);
        let least = self.least.map(|least| least.max(-limit));
        let most = match (self.most, least) {
            (Some(most), _) => Some(most),
            (None, Some(least)) if least >= usual => Some(least + usual),
            (None, _) => (limit < usual).then_some(limit),
        };
        // The default minimum is 0, so a negative maximum needs a lower one.
        let below = |most: f64| (most - usual).max(-limit);
        let least = least.or(most.filter(|most| *most < 0.0).map(below));
        if let Some(least) = least {
            field["min"] = bound(least, f64::ceil);
        }
        if let Some(most) = most {
            field["max"] = bound(most.min(limit), f64::floor);
        }
        field
    }

    fn text(&self, length: Option<u32>) -> Value {
        let letters = |usual: u32, class: &str| {
            let count = usual.max(self.shortest).min(length.unwrap_or(1_000)).clamp(1, 1_000);
            json!({"type": "pattern", "regex": format!("{class}{{{count}}}")})
        };
        if let Some(regex) = &self.regex {
            return json!({"type": "pattern", "regex": regex});
        }
        let known = match self.is_status {
            true => Some(json!({"type": "text", "words": 1})),
            // Currency codes have three letters.
            false => by_name(&self.name)
                .filter(|field| field["type"] != "choice" || length.is_none_or(|most| most > 2)),
        };
        let is_part = |part: &str| known.as_ref().is_some_and(|field| field["part"] == part);
        if self.is_ordered() {
            // Email addresses and usernames are the only parts of a person that are unique.
            let is_uuid = known.as_ref().is_some_and(|field| field["type"] == "uuid");
            if is_uuid && length.is_none_or(|length| length >= UUID) && !self.is_upper {
                return json!({"type": "uuid"});
            }
            if is_part("phone")
                && length.is_none_or(|length| length >= PHONE)
                && self.shortest <= PHONE
                && !self.is_upper
            {
                return json!({"type": "phone"});
            }
            let is_long = length.is_none_or(|length| length >= 64);
            let is_known = (is_part("email") || is_part("username")) && !self.is_combined;
            let fits = |field: &Value| self.shortest <= shortest(field) && !self.is_upper;
            return match known.clone().filter(|field| is_known && is_long && fits(field)) {
                Some(field) => field,
                None if is_part("email") && length.is_none_or(|length| length >= SHORT_EMAIL) => {
                    json!({"type": "pattern", "regex": "[a-z]{8}@example\\.com"})
                }
                None if self.is_upper => letters(12, "[A-Z]"),
                None => letters(12, "[a-z0-9]"),
            };
        }
        // Country and region columns in capitals contain codes.
        let is_code = is_part("countryCode") && length.is_none_or(|length| length >= 2);
        let is_exact = length.is_some_and(|length| length == self.shortest);
        match known {
            // Names of people and countries contain capitals, but email addresses and usernames
            // don't.
            _ if self.is_lower && !is_part("email") && !is_part("username") => letters(6, "[a-z]"),
            Some(field) if is_code && self.shortest <= 2 => field,
            _ if self.is_upper => letters(6, "[A-Z]"),
            _ if is_exact => letters(1, "[A-Za-z0-9]"),
            Some(field) if self.shortest <= shortest(&field) => field,
            _ if self.shortest > 2 => letters(12, "[a-z]"),
            _ => match length {
                Some(length @ 1..=12) => letters(length, "[A-Za-z0-9]"),
                _ => json!({"type": "text", "words": 5}),
            },
        }
    }
}

/// Returns a field with the numbers that start with `first`.
fn sequence(first: i64, step: i64) -> Value {
    let mut field = json!({"type": "sequence"});
    for (name, number) in [("start", first), ("step", step)] {
        if number != 1 {
            field[name] = number.into();
        }
    }
    field
}
