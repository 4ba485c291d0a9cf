//! Case conversion for single characters.

/// Converts a character to lower case, unless the result would be more than one character.
pub fn lower(c: char) -> char {
    let mut mapped = c.to_lowercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Converts a character to upper case, unless the result would be more than one character, as with
/// `ß`.
pub fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}
