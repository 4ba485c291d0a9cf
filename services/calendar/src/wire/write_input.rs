//! Decodes the parts that event, venue and organizer writes have in common.

use jiff::Timestamp;
use serde_json::Value;

use super::names::Known;
use super::objects::{Row, id_of_object};
use super::reading::Errors;
use super::sanitized::SanitizedTexts;
use super::values::{DateInput, FilledText, Positive, Text, positive};
use crate::model::change::Publication;
use crate::model::cost::Currency;
use crate::model::html;
use crate::model::image::{ImageRef, encoded_for_attribute, image_url};
use crate::model::role::{self, Role, User};
use crate::model::schedule::wall_seconds;
use crate::model::urls::Urls;
use crate::model::when::PointInTime;
use crate::model::zone::Zone;

/// The user and site settings needed to decode a write request.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    pub user: &'a User,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
    pub urls: &'a Urls,
    pub now: Timestamp,
    /// Whether editors and administrators are allowed to use arbitrary HTML.
    pub unfiltered_html: bool,
    /// Long text that was sanitized before the transaction started.
    pub sanitized: &'a SanitizedTexts,
}

impl WriteOptions<'_> {
    /// Returns whether this user's HTML is stored without being sanitized.
    fn is_unfiltered(&self) -> bool {
        self.unfiltered_html && self.user.role >= Role::Editor
    }

    /// Sanitizes long text. Returns `None` if it is rejected.
    fn sanitize(&self, text: String) -> Option<String> {
        if self.is_unfiltered() { Some(text) } else { self.sanitized.get(&text) }
    }

    /// Sanitizes a title or name.
    pub fn sanitize_inline(&self, text: String) -> String {
        if self.is_unfiltered() { text } else { html::sanitize_inline(&text) }
    }
}

/// Sanitizes a title or name. Reports an error if the result is empty.
pub fn name(
    errors: &mut Errors,
    name: &'static str,
    text: Option<FilledText>,
    writer: WriteOptions<'_>,
) -> Option<String> {
    let sanitized = writer.sanitize_inline(text?.0);
    if html::plain(&sanitized).is_empty() {
        errors.fail(name, "must not be empty");
        return None;
    }
    Some(sanitized)
}

/// Sanitizes long text, or returns `None` if it is absent. Reports an error if its tags aren't
/// closed in order.
pub fn markup(
    errors: &mut Errors,
    name: &'static str,
    text: Option<Text>,
    writer: WriteOptions<'_>,
) -> Option<String> {
    let sanitized = writer.sanitize(text?.0);
    if sanitized.is_none() {
        errors.fail(name, "must close its tags in order");
    }
    sanitized
}

/// Resolves a date in `zone`, or returns `None` if it is absent. Reports an error if the zone can't
/// represent it.
pub fn point_in_time(
    errors: &mut Errors,
    name: &'static str,
    date: Option<DateInput>,
    zone: &Zone,
    now: Timestamp,
) -> Option<PointInTime> {
    let point = date?.0.resolve(zone, now);
    // Make sure that the zone can represent the date. If it can't, this parameter is invalid rather
    // than the zone.
    let point = point.and_then(|point| point.instant(zone).map(|_| point));
    if point.is_err() {
        errors.fail(name, "must be a date");
    }
    point.ok()
}

/// Decodes `date` and `date_utc`. If only one of them is given, the other one is derived from it.
/// If both are given, they are used unchanged.
pub fn publication(
    errors: &mut Errors,
    (date, date_utc): (Option<DateInput>, Option<DateInput>),
    writer: WriteOptions<'_>,
) -> Publication {
    let utc = Zone::utc();
    let local = point_in_time(errors, "date", date, writer.zone, writer.now);
    let universal = point_in_time(errors, "date_utc", date_utc, &utc, writer.now);
    let read = |point: PointInTime, zone: &Zone| {
        let instant = point.instant(zone).ok()?;
        Some((wall_seconds(writer.zone.wall(instant)), instant.as_second()))
    };
    let local = local.and_then(|point| read(point, writer.zone));
    let universal = universal.and_then(|point| read(point, &utc));
    Publication(match (local, universal) {
        (Some((wall, _)), Some((_, instant))) => Some((wall, instant)),
        (one, other) => one.or(other),
    })
}

/// Decodes the fields that events, venues and organizers have in common.
macro_rules! post_change {
    ($errors:ident, $known:ident, $given:ident, $writer:ident) => {{
        use $crate::wire::write_input::{author, image, markup, publication};
        $crate::model::change::PostChange {
            description: markup($errors, "description", $given.description, $writer),
            excerpt: markup($errors, "excerpt", $given.excerpt, $writer),
            slug: $given.slug.map(|slug| slug.0),
            status: $given.status.map(|status| status.0),
            author: author($errors, $known, $given.author),
            publication: publication($errors, ($given.date, $given.date_utc), $writer),
            image: image($errors, $known, $given.image.as_ref(), $writer),
        }
    }};
}
pub(super) use post_change;

/// Returns the author's id. Reports an error if the user doesn't exist.
pub fn author(errors: &mut Errors, known: &Known, author: Option<Positive>) -> Option<i64> {
    let Positive(id) = author?;
    if !known.users.contains(&id) {
        errors.fail("author", "must be the id of a user");
        return None;
    }
    Some(id)
}

/// Decodes an image, which is an id, a URL, or a value that removes the image. Returns `None` if
/// the parameter is absent. Reports an error if it is invalid.
pub fn image(
    errors: &mut Errors,
    known: &Known,
    image: Option<&Value>,
    writer: WriteOptions<'_>,
) -> Option<ImageRef> {
    let sent = image?;
    if sent.is_object() && sent.get("id").is_some_and(|id| !id.is_null()) {
        let id = id_of_object(sent);
        let found = id.filter(|id| known.objects.agrees(Row::Image, *id, sent, writer.urls));
        if found.is_none() {
            errors.fail("image", "must have the id and the url of the same image");
        }
        return found.map(ImageRef::Id);
    }
    // An object without an id refers to the image by its URL.
    let sent = sent.get("url").unwrap_or(sent);
    let reference = match image_ref(sent, writer) {
        Ok(reference) => reference,
        Err(text) => {
            errors.fail("image", text);
            return None;
        }
    };
    if let ImageRef::Id(id) = reference
        && !known.images.contains(&id)
    {
        errors.fail("image", "must be the id of an image");
        return None;
    }
    Some(reference)
}

fn image_ref(value: &Value, writer: WriteOptions<'_>) -> Result<ImageRef, &'static str> {
    const WRONG: &str = "must be an image id or an address on a public host";
    match value {
        Value::Bool(false) => return Ok(ImageRef::Clear),
        Value::Number(number) if number.as_i64() == Some(0) => return Ok(ImageRef::Clear),
        Value::String(text) if matches!(text.trim(), "" | "0") => return Ok(ImageRef::Clear),
        _ => {}
    }
    if let Some(id) = positive(value) {
        return Ok(ImageRef::Id(id));
    }
    let address = value.as_str().map(str::trim).filter(|text| text.len() <= 2000).ok_or(WRONG)?;
    // If the URL belongs to an image stored here, refer to that image.
    if let Some(id) = writer.urls.media_id(address) {
        return Ok(ImageRef::Id(id));
    }
    if !role::may_use_images(writer.user) {
        return Err("must be an image id, as this role may not add images");
    }
    // The URL parser ignores control characters, but the original string would be stored.
    if address.chars().any(char::is_control) {
        return Err(WRONG);
    }
    image_url(address).ok_or(WRONG)?;
    Ok(ImageRef::Url(encoded_for_attribute(address)))
}
