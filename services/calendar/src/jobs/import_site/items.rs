//! Converts items from the remote site to the fields of our write requests.

use jiff::civil::DateTime;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::model::linked::Kind;
use crate::model::schedule::{instant_from_seconds, wall_seconds};
use crate::model::term::Taxonomy;
use crate::model::zone::Zone;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Term(Taxonomy),
    Linked(Kind),
    Event,
}

impl ItemKind {
    /// All kinds, ordered so that an item comes after the items it refers to.
    pub const ALL: [ItemKind; 5] = [
        ItemKind::Term(Taxonomy::Category),
        ItemKind::Term(Taxonomy::Tag),
        ItemKind::Linked(Kind::Venue),
        ItemKind::Linked(Kind::Organizer),
        ItemKind::Event,
    ];

    /// Returns the list's name in the REST API.
    pub fn collection(self) -> &'static str {
        match self {
            ItemKind::Term(taxonomy) => taxonomy.collection(),
            ItemKind::Linked(kind) => kind.collection(),
            ItemKind::Event => "events",
        }
    }

    /// Returns the fields that are copied unchanged.
    fn fields(self) -> &'static [&'static str] {
        match self {
            ItemKind::Term(_) => &["name", "slug", "description"],
            ItemKind::Linked(Kind::Venue) => &[
                "venue",
                "description",
                "excerpt",
                "slug",
                "status",
                "date_utc",
                "address",
                "city",
                "country",
                "province",
                "state",
                "stateprovince",
                "zip",
                "phone",
                "website",
                "show_map",
                "show_map_link",
                "geo_lat",
                "geo_lng",
            ],
            ItemKind::Linked(Kind::Organizer) => &[
                "organizer",
                "description",
                "excerpt",
                "slug",
                "status",
                "date_utc",
                "phone",
                "website",
                "email",
            ],
            ItemKind::Event => &[
                "title",
                "description",
                "excerpt",
                "slug",
                "status",
                "date_utc",
                "start_date",
                "end_date",
                "timezone",
                "all_day",
                "cost",
                "website",
                "show_map",
                "show_map_link",
                "hide_from_listings",
                "sticky",
                "featured",
                "event_status",
                "event_status_reason",
                "password",
            ],
        }
    }

    /// Copies the fields that don't need to be converted.
    pub fn copied(self, item: &Value) -> Map<String, Value> {
        let given = self.fields().iter().filter_map(|name| Some((*name, item.get(name)?)));
        let given = given.filter(|(_, value)| !value.is_null());
        let mut fields: Map<String, Value> =
            given.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        // The remote site represents an unknown date as zeros.
        if fields
            .get("date_utc")
            .and_then(Value::as_str)
            .is_some_and(|text| text.starts_with("0000"))
        {
            fields.remove("date_utc");
        }
        // Costs without a currency are shown in the site's currency.
        let cost = &item["cost_details"];
        if cost["currency_symbol"] == ""
            && let Some(values) = cost["values"].as_array().filter(|values| !values.is_empty())
        {
            fields.insert("cost".to_owned(), values.clone().into());
        }
        // Terms without a description have an empty string here.
        if fields.get("description").and_then(Value::as_str) == Some("")
            && matches!(self, ItemKind::Term(_))
        {
            fields.remove("description");
        }
        // The site sometimes reports the item's own page as its website.
        if fields.contains_key("website") && fields.get("website") == item.get("url") {
            fields.insert("website".to_owned(), "".into());
        }
        if self == ItemKind::Event {
            fields.extend(clear_times(item));
        }
        fields
    }

    /// Returns a digest of the fields to write. For a term, it includes the parent.
    pub fn digest(self, item: &Value, fields: &Map<String, Value>) -> String {
        let text = match (self, parent_of(item)) {
            (ItemKind::Term(_), Some(parent)) => json!([fields, parent]).to_string(),
            _ => json!(fields).to_string(),
        };
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns the times of an event that would be another instant without their UTC time, which is the
/// case in the hour that is repeated when clocks are set back. A UTC time that doesn't agree with
/// the local one is ignored, because some sites don't convert times in zones such as `UTC-3:30`.
fn clear_times(item: &Value) -> Vec<(String, Value)> {
    let Some(zone) = item["timezone"].as_str().and_then(Zone::parse) else { return Vec::new() };
    let time = |name: &str| {
        let text = item[name].as_str()?;
        DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok()
    };
    let clear = |name: &str| {
        let (local, utc) = (time(name)?, time(&format!("utc_{name}"))?);
        let at = instant_from_seconds(wall_seconds(utc));
        let is_needed = zone.wall(at) == local && zone.instant(local) != Some(at);
        let written = utc.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        is_needed.then(|| (name.to_owned(), written.into()))
    };
    ["start_date", "end_date"].into_iter().filter_map(clear).collect()
}

/// Returns the name under which items from a site's list are recorded.
pub fn source(root: &str, kind: ItemKind) -> String {
    format!("{root} {}", kind.collection())
}

/// Returns the id of a term's parent, or `None` for a root term.
pub fn parent_of(item: &Value) -> Option<i64> {
    number(item.get("parent")?)
}

/// Returns an item's id, or `None` if it is missing or not positive.
pub fn id_of(item: &Value) -> Option<i64> {
    number(item.get("id")?)
}

/// Parses a positive integer, given as a JSON number or a string. Returns `None` for anything else.
pub fn number(value: &Value) -> Option<i64> {
    let id = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (id > 0).then_some(id)
}

/// Returns the URL of an item's image, or an empty string if it has none.
pub fn image_url(item: &Value) -> &str {
    match item.get("image") {
        Some(Value::Object(image)) => image.get("url").and_then(Value::as_str).unwrap_or_default(),
        Some(Value::String(url)) => url,
        _ => "",
    }
}

/// Returns the objects in the member `name`, which is either a list or a single object.
pub fn objects<'a>(item: &'a Value, name: &str) -> Vec<&'a Value> {
    match item.get(name) {
        Some(Value::Array(items)) => items.iter().filter(|one| one.is_object()).collect(),
        Some(one @ Value::Object(members)) if !members.is_empty() => vec![one],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_hour_is_read_from_utc_times_that_agree() {
        for (zone, utc_end, expected) in [
            ("Europe/Vienna", "2027-10-31 01:10:00", "2027-10-31T01:10:00Z"),
            ("Europe/Vienna", "2027-10-31 00:10:00", "2027-10-31 02:10:00"),
            ("Europe/Vienna", "2027-10-31 02:10:00", "2027-10-31 02:10:00"),
            ("UTC-3:30", "2027-10-31 02:10:00", "2027-10-31 02:10:00"),
            ("Mars", "2027-10-31 01:10:00", "2027-10-31 02:10:00"),
        ] {
            let item = json!({
                "timezone": zone, "start_date": "2027-10-30 22:00:00",
                "utc_start_date": "2027-10-30 20:00:00", "end_date": "2027-10-31 02:10:00",
                "utc_end_date": utc_end,
            });
            let fields = ItemKind::Event.copied(&item);
            assert_eq!(fields["end_date"], expected, "{zone} {utc_end}");
            assert_eq!(fields["start_date"], "2027-10-30 22:00:00");
        }
    }
}
