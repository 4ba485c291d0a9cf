//! Sanitizes the long text in a write request before its transaction starts.
//!
//! Sanitizing takes longer than storing the text, and only one writer can run at a time.

use std::collections::HashMap;

use serde_json::Value;

use super::params::Params;
use super::values::text;
use crate::model::html;
use crate::model::linked::Kind;

/// Parameters of events, venues and organizers that can contain long text.
const NAMES: [&str; 2] = ["description", "excerpt"];

/// Maps each text to its sanitized form, or to `None` if it was rejected.
#[derive(Clone, Debug, Default)]
pub struct SanitizedTexts(HashMap<String, Option<String>>);

impl SanitizedTexts {
    /// Returns the text that might be slow to sanitize, including text for venues and organizers
    /// that are created along with an event.
    pub fn sources(params: &Params) -> Vec<String> {
        let marked = |value: &Value| text(value).ok().filter(|text| html::is_rewritten(text));
        let own = NAMES.iter().filter_map(|name| params.get(name));
        let lists = [Kind::Venue, Kind::Organizer].map(|kind| match params.get(kind.word()) {
            Some(Value::Array(items)) => items.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        });
        let inline = lists.into_iter().flatten();
        let inline = inline.flat_map(|item| NAMES.iter().filter_map(|name| item.get(name)));
        own.chain(inline).filter_map(marked).collect()
    }

    pub fn of(texts: Vec<String>) -> SanitizedTexts {
        let sanitize = |text: String| {
            let sanitized = html::sanitize(&text);
            (text, sanitized)
        };
        SanitizedTexts(texts.into_iter().map(sanitize).collect())
    }

    /// Returns the sanitized form of `text`, or `None` if it was rejected. Text that wasn't
    /// sanitized in advance is sanitized now.
    pub fn get(&self, text: &str) -> Option<String> {
        self.0.get(text).cloned().unwrap_or_else(|| html::sanitize(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_include_every_sanitized_text() {
        let params = Params::from_json(json!({
            "title": "<b>t</b>", "description": "<p>a</p>", "excerpt": "plain",
            "venue": {"venue": "<i>x</i>", "excerpt": "<p>b</p>\u{0}", "description": "R & B"},
            "organizer": [7, {"organizer": "x", "description": "<p>c</p>"}],
        }));
        assert_eq!(SanitizedTexts::sources(&params), ["<p>a</p>", "R & B", "<p>b</p>", "<p>c</p>"]);
    }
}
