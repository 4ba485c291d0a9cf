//! Table names, with or without a schema.

use sqlparser::ast::{Ident, ObjectName};

/// Schemas whose tables don't have to be qualified, in PostgreSQL and in SQLite.
const USUAL: [&str; 3] = ["public", "main", "temp"];

/// Returns a table's name as the database spells it, in the form `schema.table` unless the schema
/// is a default one. If `is_folded`, unquoted names are in lower case.
pub fn full(name: &ObjectName, is_folded: bool) -> String {
    let parts = name.0.iter().filter_map(|part| part.as_ident());
    joined(parts.map(|part| spelled(part, is_folded)).collect())
}

/// Returns a name as the database spells it.
pub fn spelled(name: &Ident, is_folded: bool) -> String {
    match name.quote_style {
        None if is_folded => name.value.to_lowercase(),
        _ => name.value.clone(),
    }
}

/// Returns the name of a table as [`full`] does, from SQL text.
pub fn of_text(text: &str) -> String {
    let (mut parts, mut quote) = (vec![String::new()], None);
    for letter in text.trim().chars() {
        match (quote, letter) {
            (Some(end), letter) if letter == end => quote = None,
            (None, '"' | '`' | '\'') => quote = Some(letter),
            (None, '[') => quote = Some(']'),
            (None, '.') => parts.push(String::new()),
            (_, letter) => parts.last_mut().into_iter().for_each(|part| part.push(letter)),
        }
    }
    joined(parts)
}

fn joined(mut parts: Vec<String>) -> String {
    let name = parts.pop().unwrap_or_default();
    let is_usual = |schema: &String| USUAL.iter().any(|own| own.eq_ignore_ascii_case(schema));
    match parts.pop().filter(|schema| !schema.is_empty() && !is_usual(schema)) {
        Some(schema) => format!("{schema}.{name}"),
        None => name,
    }
}

/// Returns the position of the table that a name refers to. If no table has exactly this name, we
/// ignore letter case. Since we don't know the search path, a name without a schema can also match
/// the first table with this name in any schema.
pub fn find<'n>(names: impl Iterator<Item = &'n str> + Clone, name: &str) -> Option<usize> {
    let position = |fits: &dyn Fn(&str) -> bool| names.clone().position(fits);
    let ends = |own: &str| {
        let end = own.rsplit_once('.').map(|(_, end)| end);
        end.is_some_and(|end| end.eq_ignore_ascii_case(name))
    };
    position(&|own| own == name)
        .or_else(|| position(&|own| own.eq_ignore_ascii_case(name)))
        .or_else(|| position(&ends))
}

#[cfg(test)]
mod tests {
    use super::{find, of_text};

    #[test]
    fn only_unusual_schemas_are_kept_and_dots_in_quotes_do_not_separate() {
        for (text, expected) in [
            ("users", "users"),
            ("public.users", "users"),
            ("\"Public\".\"Users\"", "Users"),
            ("app.users", "app.users"),
            ("`shop`.`order`", "shop.order"),
            ("\"a.b\"", "a.b"),
            ("[main].[t]", "t"),
        ] {
            assert_eq!(of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn qualified_name_never_refers_to_a_table_of_another_schema() {
        let names = ["auth.users", "users", "app.orders"];
        for (name, expected) in [
            ("users", Some(1)),
            ("AUTH.users", Some(0)),
            ("app.users", None),
            ("orders", Some(2)),
            ("auth.orders", None),
        ] {
            assert_eq!(find(names.into_iter(), name), expected, "{name}");
        }
    }
}
