//! Writes of categories and tags.

use serde_json::Value;

use super::decode::{Decoder, ParameterErrors, positive};
use super::lookup::Lookup;
use super::params::Params;
use crate::model::html;
use crate::model::term::{Taxonomy, TermChange};

/// Reads a write; a name is required to create.
pub fn decode(
    params: &Params,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
    creating: bool,
) -> Result<TermChange, ParameterErrors> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    if creating {
        d.require("name");
    }
    let name = d.filled_text("name").map(|name| plain_name(&name));
    if name.as_deref() == Some("") {
        d.fail("name", "must not be empty");
    }
    let description = match creating {
        true => d.filled_text("description"),
        false => d.short_text("description"),
    };
    let slug = if creating { filled_slug(d) } else { d.slug("slug") };
    let parent = match taxonomy {
        Taxonomy::Category => parent(d, lookup),
        Taxonomy::Tag => None,
    };
    let description = description.map(|text| html::sanitize_inline(&text));
    decoder.finish(TermChange { name, description, slug, parent })
}

/// Removes markup from a name, which is stored plain and escaped when shown.
pub fn plain_name(name: &str) -> String {
    html::decode(&html::strip_tags(name)).trim().to_owned()
}

fn filled_slug(d: &mut Decoder<'_>) -> Option<String> {
    let slug = d.slug("slug")?;
    if slug.trim().is_empty() {
        d.fail("slug", "must not be empty");
        return None;
    }
    Some(slug)
}

/// Reads the id of an existing category, or 0 for the root.
fn parent(d: &mut Decoder<'_>, lookup: &mut dyn Lookup) -> Option<i64> {
    const WRONG: &str = "must be the id of a category";
    let id = d.check("parent", |value| match value {
        Value::Number(number) if number.as_i64() == Some(0) => Ok(0),
        Value::String(text) if text.trim() == "0" => Ok(0),
        other => positive(other).ok_or(WRONG),
    })?;
    if id != 0 && !lookup.term(Taxonomy::Category, id) {
        d.fail("parent", WRONG);
        return None;
    }
    Some(id)
}
