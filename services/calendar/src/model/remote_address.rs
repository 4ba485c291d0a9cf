//! Addresses of other calendars.

/// Returns the URL to store, without a fragment, which is never sent. `webcals` becomes `https`.
pub fn requested_url(text: &str) -> String {
    let text = text.trim();
    let text = text.split_once('#').map_or(text, |(url, _)| url);
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    match scheme.to_ascii_lowercase().as_str() {
        "webcal" => format!("{WEBCAL}{rest}"),
        "webcals" => format!("https://{rest}"),
        _ => text.to_owned(),
    }
}

const WEBCAL: &str = "webcal://";

/// Returns the https and http URLs for a `webcal` URL, which doesn't specify which of them works.
/// `None` for other URLs.
pub fn webcal_urls(url: &str) -> Option<[String; 2]> {
    let rest = url.strip_prefix(WEBCAL)?;
    Some(["https://", "http://"].map(|scheme| format!("{scheme}{rest}")))
}

/// Returns the URLs that are likely to lead to the same file as this one, including itself.
pub fn similar_urls(url: &str) -> Vec<String> {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let others = webcal_urls(url).map_or_else(|| vec![format!("{WEBCAL}{rest}")], Vec::from);
    [vec![url.to_owned()], others].concat()
}

/// Returns whether a URL contains a user name or password.
pub fn has_login(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    rest.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webcal_addresses_are_requested_by_https_first() {
        let urls = webcal_urls("webcal://a.example/c.ics").unwrap();
        assert_eq!(urls, ["https://a.example/c.ics", "http://a.example/c.ics"]);
        assert_eq!(webcal_urls("https://a.example/webcal://"), None);
        assert_eq!(
            similar_urls("https://a.example/"),
            ["https://a.example/", "webcal://a.example/"]
        );
        for (given, requested) in [
            ("WebCal://a.example/c.ics", "webcal://a.example/c.ics"),
            (" WebCals://a.example/ ", "https://a.example/"),
            ("http://a.example/webcal://", "http://a.example/webcal://"),
            ("http://a.example/c.ics#part", "http://a.example/c.ics"),
            ("webcal://a.example/c.ics?b=1#", "webcal://a.example/c.ics?b=1"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(requested_url(given), requested);
        }
    }
}
