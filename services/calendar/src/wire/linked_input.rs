//! Writes of venues and organizers.

use serde_json::Value;

use super::lookup::Lookup;
use super::parameter_errors::ParameterErrors;
use super::parameters::{OrganizerFields, VenueFields};
use super::params::Params;
use super::reading::{Errors, read_parameters};
use super::values::{FilledText, ShortText, number};
use super::write_input::{WriteOptions, name, post_change};
use crate::model::change::LinkedChange;
use crate::model::geo::Point;
use crate::model::html;
use crate::model::linked::Kind;

/// Decodes a write. A create requires a name.
///
/// # Errors
/// All missing or invalid parameters.
pub fn decode(
    params: &Params,
    lookup: &mut dyn Lookup,
    kind: Kind,
    writer: WriteOptions<'_>,
    creating: bool,
) -> Result<LinkedChange, ParameterErrors> {
    /// Decodes the fields of a kind: the shared fields, then the given ones.
    macro_rules! change {
        ($fields:ident . $name:ident, |$errors:ident, $given:ident| $own:expr) => {{
            let ($given, mut errors) = read_parameters::<$fields>(params);
            if creating {
                errors.require(params);
            }
            let $errors = &mut errors;
            let change = LinkedChange {
                name: linked_name($errors, kind, $given.$name, writer, creating),
                post: post_change!($errors, lookup, $given, writer),
                phone: text($given.phone),
                website: $given.website.map(|website| website.0),
                ..$own
            };
            errors.finish(change)
        }};
    }
    match kind {
        Kind::Venue => change!(VenueFields.venue, |errors, given| LinkedChange {
            show_map: given.show_map.map(|flag| flag.0),
            show_map_link: given.show_map_link.map(|flag| flag.0),
            address: text(given.address),
            city: text(given.city),
            country: text(given.country),
            province: text(given.province),
            state: text(given.state),
            zip: text(given.zip),
            stateprovince: text(given.stateprovince),
            geo: geo(errors, given.geo_lat.as_ref(), given.geo_lng.as_ref()),
            ..LinkedChange::default()
        }),
        Kind::Organizer => change!(OrganizerFields.organizer, |errors, given| LinkedChange {
            email: text(given.email),
            ..LinkedChange::default()
        }),
    }
}

/// Decodes a short plain text.
fn text(text: Option<ShortText>) -> Option<String> {
    text.map(|text| html::without_tags(&text.0))
}

fn linked_name(
    errors: &mut Errors,
    kind: Kind,
    given: Option<FilledText>,
    writer: WriteOptions<'_>,
    creating: bool,
) -> Option<String> {
    match creating {
        // A name of only tags has its own error when the row is created.
        true => given.map(|name| writer.sanitize_inline(name.0)),
        false => name(errors, kind.word(), given, writer),
    }
}

/// Decodes both coordinates or none. Two empty texts clear them.
fn geo(errors: &mut Errors, lat: Option<&Value>, lng: Option<&Value>) -> Option<Option<Point>> {
    let cleared = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(str::is_empty);
    if cleared(lat) && cleared(lng) {
        return Some(None);
    }
    let mut degrees = |name: &'static str, value: Option<&Value>, most: f64| {
        let read = number(value?, -most, most);
        read.map_err(|text| errors.fail(name, text)).ok()
    };
    let point = (degrees("geo_lat", lat, 90.0), degrees("geo_lng", lng, 180.0));
    match (lat.is_some(), lng.is_some()) {
        (true, false) => errors.fail("geo_lat", "needs geo_lng"),
        (false, true) => errors.fail("geo_lng", "needs geo_lat"),
        _ => {}
    }
    Some(Some(Point { lat: point.0?, lng: point.1? }))
}
