//! Table columns. Also escapes text that a spreadsheet would otherwise evaluate as a formula.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The field of this name in a create request.
    Field(&'static str),
    /// Like [`Field`](Self::Field), with a date.
    Date(&'static str),
    /// Like [`Field`](Self::Field), except that an empty cell clears the field instead of leaving
    /// it unchanged.
    Clearing(&'static str),
    /// Like [`Clearing`](Self::Clearing), except that a cell can contain several values with
    /// separators between them.
    Several(&'static str),
    /// Yes or no.
    Flag(&'static str),
    /// Names of venues or organizers.
    Linked(&'static str),
    /// Names or slugs of categories or tags.
    Terms(&'static str),
}

/// The columns of an exported table, in order.
pub const COLUMNS: [Column; 22] = [
    Column::Field("slug"),
    Column::Field("title"),
    Column::Field("status"),
    Column::Date("start_date"),
    Column::Date("end_date"),
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
    Column::Date("date_utc"),
    Column::Field("external_id"),
    Column::Field("recurrence"),
];

impl Column {
    pub fn name(self) -> &'static str {
        match self {
            Column::Field(name)
            | Column::Date(name)
            | Column::Flag(name)
            | Column::Clearing(name)
            | Column::Several(name)
            | Column::Linked(name)
            | Column::Terms(name) => name,
        }
    }

    /// Finds a column by name. Case is ignored, and spaces and hyphens count as underscores.
    pub fn named(text: &str) -> Option<Column> {
        let name = text.trim().to_lowercase().replace([' ', '-'], "_");
        COLUMNS.into_iter().find(|column| column.name() == name)
    }
}

/// Separates the values in a cell. It is doubled within a value.
pub const SEPARATOR: char = '|';

/// Doubles any separators in `value`.
pub fn escaped(value: &str) -> String {
    value.replace(SEPARATOR, "||")
}

/// Splits a cell into its values, dropping empty ones.
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

/// The prefix of a reference to a venue or organizer by id. The name can follow the id.
pub const ID: &str = "id:";

/// Returns whether `text` needs an apostrophe, either because a spreadsheet might evaluate it or
/// because it already starts with one.
fn is_active(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\''])
}

/// Prepends an apostrophe to text that a spreadsheet might evaluate, so that it is taken literally.
pub fn inert(text: &str) -> String {
    if is_active(text) { format!("'{text}") } else { text.to_owned() }
}

/// Removes the apostrophe that [`inert`] added, if any.
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
        assert_eq!(Column::named(" Start date"), Some(Column::Date("start_date")));
        assert_eq!(Column::named("All-Day"), Some(Column::Flag("all_day")));
        assert_eq!(Column::named("colour"), None);
    }
}
