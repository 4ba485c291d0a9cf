//! Finds SQLite's virtual tables and the tables in which SQLite stores their data. Both are left
//! out of proposals.

use super::statements::{begins, statements};

/// Table name suffixes that FTS5, FTS4 and R*Tree use for storing a virtual table's data.
const DATA: [&str; 11] = [
    "_data",
    "_idx",
    "_content",
    "_docsize",
    "_config",
    "_segments",
    "_segdir",
    "_stat",
    "_node",
    "_parent",
    "_rowid",
];

/// Returns the names of the virtual tables created in an SQL file.
pub fn virtual_tables(text: &str) -> Vec<String> {
    statements(text).iter().filter_map(|part| created(part.text)).collect()
}

/// Returns the name of the virtual table created by a statement, or `None` for any other statement.
pub fn created(statement: &str) -> Option<String> {
    let rest = after(statement, &["CREATE", "VIRTUAL", "TABLE"])?;
    let rest = after(rest, &["IF", "NOT", "EXISTS"]).unwrap_or(rest);
    let upper = rest.to_ascii_uppercase();
    let mut ends = upper.match_indices("USING");
    let (end, _) = ends.find(|(end, _)| upper[..*end].ends_with(char::is_whitespace))?;
    let name = rest[..end].trim_end().rsplit('.').next()?;
    Some(name.trim_matches(['"', '\'', '`', '[', ']']).to_owned())
}

/// Returns whether the table `name` stores the data of a virtual table.
pub fn has_data_of(virtual_table: &str, name: &str) -> bool {
    let is_own = |start: &&str| start.eq_ignore_ascii_case(virtual_table);
    let end = name.get(..virtual_table.len()).filter(is_own).map(|start| &name[start.len()..]);
    end.is_some_and(|end| DATA.iter().any(|own| end.eq_ignore_ascii_case(own)))
}

/// Returns the rest of the text after `words`, provided that it starts with them.
fn after<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().try_fold(text.trim_start(), |rest, word| {
        begins(rest, word).then(|| rest[word.len()..].trim_start())
    })
}

#[cfg(test)]
mod tests {
    use super::{created, has_data_of};

    #[test]
    fn names_of_virtual_tables_are_found_in_any_quotes() {
        for statement in [
            "CREATE VIRTUAL TABLE ft USING fts5(a, b)\n/* ft(a,b) */",
            "create virtual table if not exists main.'ft'\nusing fts4(a)",
            "CREATE VIRTUAL TABLE [ft] USING rtree(id, a, b)",
        ] {
            assert_eq!(created(statement).as_deref(), Some("ft"), "{statement}");
        }
        let housing = created("CREATE VIRTUAL TABLE \"housing\" USING fts5(a)");
        assert_eq!(housing.as_deref(), Some("housing"));
        assert_eq!(created("CREATE TABLE ft (a TEXT)"), None);
        assert!(has_data_of("ft", "FT_data") && !has_data_of("ft", "ft_tags"));
        assert!(!has_data_of("ft", "f") && !has_data_of("é", "e_data"));
    }
}
