//! URLs with queries.

/// Returns the URL of a collection with a query.
pub fn address<'a>(collection: &str, query: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        pairs.append_pair(name, value);
    }
    // A literal plus sign is encoded, so every remaining one is a space.
    format!("{collection}?{}", pairs.finish().replace('+', "%20"))
}
