//! Response objects that a write sends back.

use std::collections::HashMap;

use serde_json::Value;

use super::values::positive;
use crate::model::html;
use crate::model::linked::Kind;
use crate::model::term::Taxonomy;
use crate::model::urls::Urls;

/// The kind of a row that an object shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    Linked(Kind),
    Term(Taxonomy),
    Image,
}

/// The slug and name of a row, which a client's object must repeat.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// The slug; empty for an image.
    pub slug: String,
    /// Its name, or the original URL of an image.
    pub name: String,
}

/// Returns the id of a JSON object. `None` for other values and for objects without an id.
pub fn id_of_object(value: &Value) -> Option<i64> {
    value.as_object()?.get("id").and_then(positive)
}

/// The rows of the objects that a write sends back, without those that do not exist.
#[derive(Clone, Debug, Default)]
pub struct Objects(pub HashMap<(Row, i64), Labels>);

impl Objects {
    /// Returns whether an object refers to the row with its id: the row exists, and the object's
    /// slug or name matches it. Objects from another site usually do not match.
    pub fn agrees(&self, row: Row, id: i64, object: &Value, urls: &Urls) -> bool {
        let Some(labels) = self.0.get(&(row, id)) else { return false };
        let text =
            |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if row == Row::Image {
            return text("url")
                .is_none_or(|url| url == labels.name || urls.media_id(url) == Some(id));
        }
        let name = match row {
            Row::Linked(kind) => kind.word(),
            Row::Term(_) | Row::Image => "name",
        };
        match (text("slug"), text(name)) {
            (Some(slug), _) => slug.eq_ignore_ascii_case(&labels.slug),
            (None, Some(name)) => html::plain(name) == html::plain(&labels.name),
            (None, None) => true,
        }
    }
}
