//! Protects files that may be opened in a spreadsheet.

use std::borrow::Cow;

/// Keeps spreadsheets from running a cell as a formula, since a leaked address may start with any
/// character.
pub fn inert(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_looks_like_a_formula_is_quoted() {
        assert_eq!(inert("=1+1@corp.example"), "'=1+1@corp.example");
        assert_eq!(inert("ada@corp.example"), "ada@corp.example");
    }
}
