//! Table columns. Also escapes strings that a spreadsheet would otherwise evaluate as a formula.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A field of the create request with the same name.
    Field(&'static str),
    /// Like [`Field`](Self::Field), but an empty cell clears the field. With
    /// [`Field`](Self::Field), it would leave the field unchanged.
    Clearing(&'static str),
    /// Like [`Clearing`](Self::Clearing), but a cell may have several values with separators in
    /// between.
    Several(&'static str),
    /// Yes or no.
    Flag(&'static str),
    /// Names of venues or organizers.
    Linked(&'static str),
    /// Category or tag names, or their slugs.
    Terms(&'static str),
}

/// The columns of an exported table, in order.
pub const COLUMNS: [Column; 22] = [
    Column::Field("slug"),
    Column::Field("title"),
    Column::Field("status"),
    Column::Field("start_date"),
    Column::Field("end_date"),
    Column::Flag("all_day"),
    Column::Field("timezone"),
    Column::Linked("venue"),
    Column::Linked("organizer"),
    Column::Terms("categories"),
    Column::Terms("tags"),
    Column::Several("cost"),
    Column::Clearing("website"),
    Column::Flag("featured"),
    Column::Flag("hide_from_listings"),
    Column::Field("event_status"),
    Column::Clearing("event_status_reason"),
    Column::Clearing("excerpt"),
    Column::Clearing("description"),
    Column::Field("date_utc"),
    Column::Field("external_id"),
    Column::Field("recurrence"),
];

impl Column {
    pub fn name(self) -> &'static str {
        match self {
            Column::Field(name)
            | Column::Flag(name)
            | Column::Clearing(name)
            | Column::Several(name)
            | Column::Linked(name)
            | Column::Terms(name) => name,
        }
    }

    /// Finds a column by name. Ignores case, and treats spaces and hyphens as underscores.
    pub fn named(text: &str) -> Option<Column> {
        let name = text.trim().to_lowercase().replace([' ', '-'], "_");
        COLUMNS.into_iter().find(|column| column.name() == name)
    }
}

/// Separates the values in a cell. Within a value, it is doubled.
pub const SEPARATOR: char = '|';

/// Doubles any separators in a value.
pub fn escaped(value: &str) -> String {
    value.replace(SEPARATOR, "||")
}

/// Splits a cell into its values and drops empty ones.
pub fn values(cell: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut rest = cell.chars().peekable();
    while let Some(c) = rest.next() {
        let is_separator = c == SEPARATOR && rest.next_if_eq(&SEPARATOR).is_none();
        match values.last_mut() {
            Some(value) if !is_separator => value.push(c),
            _ => values.push(String::new()),
        }
    }
    let trimmed = values.iter().map(|value| value.trim().to_owned());
    trimmed.filter(|value| !value.is_empty()).collect()
}

/// Prefix of a reference to a venue or organizer by id. The name may follow the id.
pub const ID: &str = "id:";

/// Returns whether a string needs an apostrophe: either a spreadsheet might evaluate it, or it
/// already starts with an apostrophe.
fn is_active(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\''])
}

/// Prepends an apostrophe to a string that a spreadsheet might evaluate. This makes it plain text.
pub fn inert(text: &str) -> String {
    if is_active(text) { format!("'{text}") } else { text.to_owned() }
}

/// Removes an apostrophe added by [`inert`].
pub fn active(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| is_active(rest)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_texts_and_return() {
        for text in ["=1+1", "+1", "-5", "@a", "\tx", "'", "'=1", "plain", "", "''"] {
            assert_eq!(active(&inert(text)), text);
            assert!(!inert(text).starts_with(['=', '+', '-', '@', '\t']), "{text}");
        }
        // An apostrophe that [`inert`] would not have added is part of the text.
        assert_eq!(active("'tis"), "'tis");
    }

    #[test]
    fn values_return_as_they_were_escaped() {
        for names in [vec!["A | B", "|", "C"], vec!["plain"], vec![]] {
            let cell = names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(" | ");
            assert_eq!(values(&cell), names);
        }
        assert_eq!(values("a|b | | c"), ["a", "b", "c"]);
    }

    #[test]
    fn headers_are_recognized_as_people_write_them() {
        assert_eq!(Column::named(" Start date"), Some(Column::Field("start_date")));
        assert_eq!(Column::named("All-Day"), Some(Column::Flag("all_day")));
        assert_eq!(Column::named("colour"), None);
    }
}
