//! Writes of venues and organizers.

use serde_json::Value;

use super::decode::{Decoder, ParameterErrors};
use super::lookup::Lookup;
use super::params::Params;
use super::write_input::{WriteOptions, author, image, markup, name, publication, status};
use crate::model::change::LinkedChange;
use crate::model::geo::Point;
use crate::model::linked::Kind;

/// Reads a write; a name is required to create.
pub fn decode(
    params: &Params,
    lookup: &mut dyn Lookup,
    kind: Kind,
    writer: WriteOptions<'_>,
    creating: bool,
) -> Result<LinkedChange, ParameterErrors> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    if creating {
        d.require(kind.word());
    }
    let mut change = LinkedChange {
        name: match creating {
            // Whether it can be created is told when that is tried.
            true => d.filled_text(kind.word()).map(|name| writer.sanitize_inline(name)),
            false => name(d, kind.word(), writer),
        },
        author: author(d, lookup),
        publication: publication(d, writer),
        description: markup(d, "description", writer),
        excerpt: markup(d, "excerpt", writer),
        slug: d.slug("slug"),
        status: status(d),
        phone: d.short_text("phone"),
        website: d.website("website"),
        image: image(d, lookup, writer),
        ..LinkedChange::default()
    };
    match kind {
        Kind::Organizer => change.email = d.short_text("email"),
        Kind::Venue => place(d, &mut change),
    }
    decoder.finish(change)
}

fn place(d: &mut Decoder<'_>, change: &mut LinkedChange) {
    change.show_map = d.flag("show_map");
    change.show_map_link = d.flag("show_map_link");
    change.address = d.short_text("address");
    change.city = d.short_text("city");
    change.country = d.short_text("country");
    change.province = d.short_text("province");
    change.state = d.short_text("state");
    change.zip = d.short_text("zip");
    change.stateprovince = d.short_text("stateprovince");
    change.geo = geo(d);
}

/// Reads both coordinates or none; two empty texts clear them.
fn geo(d: &mut Decoder<'_>) -> Option<Option<Point>> {
    let cleared = |name| d.raw(name).and_then(Value::as_str).is_some_and(str::is_empty);
    if cleared("geo_lat") && cleared("geo_lng") {
        return Some(None);
    }
    let lat = d.number("geo_lat", -90.0, 90.0);
    let lng = d.number("geo_lng", -180.0, 180.0);
    match (d.raw("geo_lat").is_some(), d.raw("geo_lng").is_some()) {
        (true, false) => d.fail("geo_lat", "needs geo_lng"),
        (false, true) => d.fail("geo_lng", "needs geo_lat"),
        _ => {}
    }
    Some(Some(Point { lat: lat?, lng: lng? }))
}
