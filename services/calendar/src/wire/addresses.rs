//! URLs with query strings.

/// Appends `query` to the URL of a collection.
pub fn address<'a>(collection: &str, query: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        pairs.append_pair(name, value);
    }
    // Literal plus signs are percent-encoded by now, so any that remain are spaces.
    format!("{collection}?{}", pairs.finish().replace('+', "%20"))
}
