//! Decodes venue and organizer writes.

use serde_json::Value;

use super::names::{Input, Known, Names};
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
use crate::model::urls::Urls;

/// The parameters of a venue or organizer write.
pub struct LinkedInput {
    creating: bool,
    given: Given,
    errors: Errors,
}

enum Given {
    Venue(Box<VenueFields>),
    Organizer(Box<OrganizerFields>),
}

impl Input for LinkedInput {
    fn names(&self, urls: &Urls) -> Names {
        let mut names = Names::default();
        self.add_names(&mut names, urls);
        names
    }
}

impl LinkedInput {
    /// Reads the parameters. If `creating` is set, a name is required.
    pub fn read(params: &Params, kind: Kind, creating: bool) -> LinkedInput {
        let (given, mut errors) = match kind {
            Kind::Venue => {
                let (given, errors) = read_parameters(params);
                (Given::Venue(Box::new(given)), errors)
            }
            Kind::Organizer => {
                let (given, errors) = read_parameters(params);
                (Given::Organizer(Box::new(given)), errors)
            }
        };
        if creating {
            errors.require(params);
        }
        LinkedInput { creating, given, errors }
    }

    /// Adds the rows that the parameters mention to `names`.
    pub(super) fn add_names(&self, names: &mut Names, urls: &Urls) {
        let (author, image) = match &self.given {
            Given::Venue(given) => (&given.author, &given.image),
            Given::Organizer(given) => (&given.author, &given.image),
        };
        names.add_post(author.as_ref(), image.as_ref(), urls);
    }

    /// Decodes the request.
    ///
    /// # Errors
    /// Returns all missing or invalid parameters.
    pub fn decode(
        self,
        known: &Known,
        writer: WriteOptions<'_>,
    ) -> Result<LinkedChange, ParameterErrors> {
        decode(self, known, writer)
    }
}

fn decode(
    input: LinkedInput,
    known: &Known,
    writer: WriteOptions<'_>,
) -> Result<LinkedChange, ParameterErrors> {
    let LinkedInput { creating, given, mut errors } = input;
    /// Decodes the shared fields, and then the fields specific to the kind.
    macro_rules! change {
        ($kind:ident . $name:ident, |$errors:ident, $given:ident| $own:expr) => {{
            let $errors = &mut errors;
            let change = LinkedChange {
                name: linked_name($errors, Kind::$kind, $given.$name, writer, creating),
                post: post_change!($errors, known, $given, writer),
                phone: text($given.phone),
                website: $given.website.map(|website| website.0),
                ..$own
            };
            errors.finish(change)
        }};
    }
    match given {
        Given::Venue(given) => change!(Venue.venue, |errors, given| LinkedChange {
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
        Given::Organizer(given) => change!(Organizer.organizer, |errors, given| LinkedChange {
            email: text(given.email),
            ..LinkedChange::default()
        }),
    }
}

/// Strips HTML tags from a short text, if present.
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
        // A new name that consists only of tags is reported when the row is created.
        true => given.map(|name| writer.sanitize_inline(name.0)),
        false => name(errors, kind.word(), given, writer),
    }
}

/// Decodes coordinates, which must be given together. Two empty strings remove the stored
/// coordinates, which is represented as `Some(None)`. Returns `None` if they are absent or invalid.
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
