//! Addresses with queries.

/// Writes the address of a collection with a query.
pub fn address<'a>(collection: &str, query: impl Iterator<Item = &'a (String, String)>) -> String {
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        pairs.append_pair(name, value);
    }
    // A plus sign itself is encoded, so every one that stands here is a blank.
    format!("{collection}?{}", pairs.finish().replace('+', "%20"))
}
