//! Compares the formats and patterns of JSON Schemas.

use serde_json::Value;

use super::settled::is_match;
use crate::model::records::kinds::pattern;

/// Examples of the strings that are generated for formats.
const EXAMPLES: [(&[&str], [&str; 3]); 9] = [
    (&["date"], ["1996-12-31", "2009-06-08", "2029-10-17"]),
    (&["date-time"], ["2009-06-08T00:00:00Z", "2024-12-31T19:38:45Z", "2029-10-17T23:59:59Z"]),
    (&["time"], ["00:00:00Z", "19:38:45Z", "23:59:59Z"]),
    (&["email", "idn-email"], ["g.vogel139@example.org", "m_lind@example.net", "ab@example.com"]),
    (&["hostname", "idn-hostname"], ["abc.example", "zyxwvutsrq.example", "lmnopq.example"]),
    (
        &["uri", "url", "uri-reference", "uri-template", "iri", "iri-reference"],
        [
            "https://www.example.com/about/about-60003",
            "https://www.example.net/help/orders-94513",
            "https://www.example.org/cart/login-75357",
        ],
    ),
    (&["ipv4"], ["192.0.2.10", "198.51.100.215", "203.0.113.164"]),
    (
        &["ipv6"],
        [
            "2001:db8:8c38:7cf9:1bd6:4d07:4288:b3d6",
            "2001:db8:2fd3:56a5:7973:e9c7:b01a:3f39",
            "2001:db8::e",
        ],
    ),
    (
        &["uuid"],
        [
            "8c387cf9-1bd6-4d07-8288-b3d6a77af5af",
            "2fd356a5-7973-49c7-b01a-3f397b3e195a",
            "f0e1d2c3-b4a5-4968-9788-a9bacbdcedfe",
        ],
    ),
];

/// Returns whether strings that are generated for a schema's format match its pattern. Returns
/// `None` if the schema doesn't have both.
pub fn fits_pattern(schema: &Value) -> Option<bool> {
    let (format, regex) = (schema["format"].as_str()?, schema["pattern"].as_str()?);
    let (_, examples) = EXAMPLES.iter().find(|(names, _)| names.contains(&format))?;
    pattern::lengths(regex)?;
    Some(examples.iter().all(|example| is_match(regex, example)))
}
