//! Determines whether proposed fields can be unique and how long their strings are.

use serde_json::Value;

use crate::model::records::kinds::pattern;

/// Length of the shortest email addresses of people.
const SHORTEST_EMAIL: u32 = 15;
/// Length of a UUID.
pub const UUID: u32 = 36;

/// Returns whether a name can be used in an expression.
pub fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.chars().all(is_letter) && !name.starts_with(|letter: char| letter.is_numeric())
}

/// Returns whether a field can have unique values.
pub fn is_countable(field: &Value) -> bool {
    match field["type"].as_str().unwrap_or_default() {
        "pattern" => field["regex"].as_str().is_some_and(|regex| pattern::count(regex).is_some()),
        "person" => field["part"] == "email" || field["part"] == "username",
        "integer" | "decimal" | "boolean" | "date" | "time" | "timestamp" | "choice"
        | "sequence" | "uuid" | "phone" => true,
        _ => false,
    }
}

/// Returns a lower bound for the length of a field's strings. Some names only have two letters.
pub fn shortest(field: &Value) -> u32 {
    match field["part"].as_str() {
        None | Some("givenName" | "surname" | "region" | "countryCode") => 2,
        Some("houseNumber") => 1,
        Some("username" | "cardCvv") => 3,
        Some("sex" | "city" | "street" | "cardType") => 4,
        Some("email") => SHORTEST_EMAIL,
        Some(_) => 5,
    }
}

/// Returns the length of the longest string to be expected from a field.
pub fn longest(field: &Value) -> u32 {
    let word = |name: &str| field[name].as_str().unwrap_or_default();
    match (word("type"), word("part")) {
        ("pattern" | "choice" | "reference" | "constant", _) => 0,
        ("uuid", _) => UUID,
        ("iban", _) => 22,
        ("person", "sex" | "countryCode" | "birthDate" | "cardCvv") => 10,
        ("person", "postcode" | "houseNumber" | "phone" | "cardNumber") => 20,
        ("person", "iban") => 34,
        ("person", "email" | "fullName" | "address" | "nameLatin") => 100,
        // Words have up to 13 letters, and are followed by a comma and a space, or a full stop.
        ("text", _) => 15 * field["words"].as_u64().unwrap_or(10) as u32,
        ("userAgent", _) => 140,
        _ => 50,
    }
}
