//! Converts the letter case of single characters.

/// Returns the lower-case letter, or the character itself if its lower case is not a single
/// character.
pub fn lower(c: char) -> char {
    let mut mapped = c.to_lowercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Returns the capital letter, or the character itself if its capital is not a single character,
/// such as that of `ß`.
pub fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}
