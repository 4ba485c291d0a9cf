//! URLs with query strings.

/// Appends a query to a collection URL.
pub fn address<'a>(collection: &str, query: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        pairs.append_pair(name, value);
    }
    // Literal plus signs are already encoded, so any that remain are spaces.
    format!("{collection}?{}", pairs.finish().replace('+', "%20"))
}
