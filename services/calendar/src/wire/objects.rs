//! Objects from earlier responses that clients send back in write requests.

use std::collections::HashMap;

use serde_json::Value;

use super::values::positive;
use crate::model::html;
use crate::model::linked::Kind;
use crate::model::term::Taxonomy;
use crate::model::urls::Urls;

/// The kind of row that an object represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Row {
    Linked(Kind),
    Term(Taxonomy),
    Image,
}

/// A row's slug and name, for comparison with an object from a client.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// The slug. Empty for images.
    pub slug: String,
    /// The name. For images, the original URL.
    pub name: String,
}

/// Returns the id of a JSON object, or `None` if `value` isn't an object with a valid id.
pub fn id_of_object(value: &Value) -> Option<i64> {
    value.as_object()?.get("id").and_then(positive)
}

/// The rows that the objects in a write request refer to. Rows that don't exist are left out.
#[derive(Clone, Debug, Default)]
pub struct Objects(pub HashMap<(Row, i64), Labels>);

impl Objects {
    /// Returns whether `object` really refers to the row with this `id`, i.e. whether that row
    /// exists and has the same slug or name. Objects from another site usually don't match.
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
