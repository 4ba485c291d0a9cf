//! Columns of existing tables, and suitable fields for them.

use serde_json::{Value, json};

use super::names::by_name;

/// The share of nulls in nullable columns.
const NULLS: f64 = 0.1;

/// The type of the values in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Whole numbers.
    Integer,
    /// Decimals with this number of decimal places.
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
    /// Texts with a maximum length, if limited.
    Text(Option<u32>),
    /// The suitable field is already known.
    Known(Value),
}

/// A column of an existing table.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub stored: Stored,
    pub required: bool,
    pub unique: bool,
    /// Whether the column identifies a row by itself.
    pub is_key: bool,
    /// Whether only the database may write it: other fields refer to the numbers that it will give.
    pub is_hidden: bool,
    /// The permitted values; empty for any.
    pub choices: Vec<Value>,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// The table and column that it refers to.
    pub refers: Option<(String, String)>,
}

impl Column {
    pub fn new(name: String, stored: Stored) -> Self {
        Self {
            name,
            stored,
            required: false,
            unique: false,
            is_key: false,
            is_hidden: false,
            choices: Vec::new(),
            least: None,
            most: None,
            refers: None,
        }
    }

    /// Returns the field for this column. If its values must be shortened, a hidden field precedes
    /// it.
    pub fn fields(&self, own: &str) -> Vec<Value> {
        let (whole, length) = match self.field(own) {
            (field, None) => return vec![field],
            (field, Some(length)) => (field, length),
        };
        let name = format!("{}_whole", self.name.replace(|c: char| !c.is_alphanumeric(), "_"));
        let expression = format!("left({name}, {length})");
        let mut hidden = whole;
        hidden["name"] = name.into();
        hidden["hidden"] = true.into();
        let shown = json!({"name": self.name, "type": "expression", "expression": expression});
        vec![hidden, shown]
    }

    /// Returns the field, and the maximum length if its values must be shortened.
    pub fn field(&self, own: &str) -> (Value, Option<u32>) {
        let unique = self.unique || self.is_key;
        let mut field = match &self.refers {
            Some((table, column)) => self.reference(table, column, own, unique),
            None => self.made(unique),
        };
        field["name"] = self.name.as_str().into();
        if self.is_hidden {
            field["hidden"] = true.into();
        }
        let is_own = self.refers.as_ref().is_some_and(|(table, _)| table == own);
        if !self.required && !self.is_key && !is_own {
            field["nulls"] = NULLS.into();
        }
        let length = match self.stored {
            Stored::Text(Some(length)) if length < longest(&field) && !unique => Some(length),
            _ => None,
        };
        (field, length)
    }

    fn reference(&self, table: &str, column: &str, own: &str, unique: bool) -> Value {
        let mut field = json!({"type": "reference", "table": table, "field": column});
        if unique && table != own {
            field["choose"] = "once".into();
        }
        field
    }

    fn made(&self, unique: bool) -> Value {
        if !self.choices.is_empty() {
            return json!({"type": "choice", "values": self.choices});
        }
        let mut field = match &self.stored {
            Stored::Integer if self.is_key => return json!({"type": "sequence"}),
            Stored::Integer => json!({"type": "integer"}),
            Stored::Decimal(decimals) => json!({"type": "decimal", "decimals": decimals}),
            Stored::Boolean => return json!({"type": "boolean"}),
            Stored::Date => match by_name(&self.name) {
                Some(field) if field["part"] == "birthDate" => return field,
                _ => json!({"type": "date"}),
            },
            Stored::Time => json!({"type": "time"}),
            Stored::Timestamp => json!({"type": "timestamp"}),
            Stored::Uuid => return json!({"type": "uuid"}),
            Stored::Known(field) => return field.clone(),
            Stored::Text(length) => return self.text(*length, unique),
        };
        if matches!(self.stored, Stored::Integer | Stored::Decimal(_)) {
            let bound = |value: f64| match self.stored {
                Stored::Integer => json!(value as i64),
                _ => json!(value),
            };
            if let Some(least) = self.least {
                field["min"] = bound(least);
            }
            if let Some(most) = self.most {
                field["max"] = bound(most);
            }
        }
        if unique {
            field["unique"] = true.into();
        }
        field
    }

    fn text(&self, length: Option<u32>, unique: bool) -> Value {
        let known = by_name(&self.name);
        if unique {
            // Of the parts of a person, only e-mail addresses and user names are unique.
            let fits = |field: &Value| field["part"] == "email" || field["part"] == "username";
            let is_long = length.is_none_or(|length| length >= 64);
            return known.filter(|field| fits(field) && is_long).unwrap_or_else(|| {
                let letters = length.unwrap_or(12).clamp(1, 12);
                json!({"type": "pattern", "regex": format!("[a-z0-9]{{{letters}}}"), "unique": true})
            });
        }
        known.unwrap_or_else(|| match length {
            Some(length @ 1..=12) => {
                json!({"type": "pattern", "regex": format!("[A-Za-z0-9]{{{length}}}")})
            }
            _ => json!({"type": "text", "words": 5}),
        })
    }
}

/// Returns the expected maximum length of a field's strings.
fn longest(field: &Value) -> u32 {
    let word = |name: &str| field[name].as_str().unwrap_or_default();
    match (word("type"), word("part")) {
        ("pattern" | "uuid" | "choice" | "reference", _) => 0,
        ("person", "sex" | "countryCode" | "birthDate" | "cardCvv") => 10,
        ("person", "postcode" | "houseNumber" | "phone" | "cardNumber") => 20,
        ("person", "iban") => 34,
        ("person", "email" | "fullName" | "address" | "nameLatin") => 100,
        ("text", _) => 12 * field["words"].as_u64().unwrap_or(10) as u32,
        ("userAgent", _) => 140,
        _ => 50,
    }
}
