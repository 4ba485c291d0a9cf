//! What the writes of events, venues and organizers have in common.

use jiff::Timestamp;
use serde_json::Value;

use super::decode::{Decoder, positive, text};
use super::lookup::Lookup;
use super::sanitized::SanitizedTexts;
use super::urls::Urls;
use crate::model::change::Publication;
use crate::model::cost::Currency;
use crate::model::html;
use crate::model::image::{ImageRef, image_url};
use crate::model::role::{self, Role, User};
use crate::model::schedule::wall_seconds;
use crate::model::status::Status;
use crate::model::when::{PointInTime, When};
use crate::model::zone::Zone;

/// Who writes, and to which site.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    pub user: &'a User,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
    pub urls: &'a Urls,
    pub now: Timestamp,
    /// Editors and administrators may write any HTML.
    pub unfiltered_html: bool,
    /// Longer texts that were cleaned before.
    pub sanitized: &'a SanitizedTexts,
}

impl WriteOptions<'_> {
    /// Tells whether texts of this writer are stored as they come.
    fn is_unfiltered(&self) -> bool {
        self.unfiltered_html && self.user.role >= Role::Editor
    }

    /// Cleans a longer text; none where its tags are tangled.
    fn sanitize(&self, text: String) -> Option<String> {
        if self.is_unfiltered() { Some(text) } else { self.sanitized.get(&text) }
    }

    /// Cleans a title or a name.
    pub fn sanitize_inline(&self, text: String) -> String {
        if self.is_unfiltered() { text } else { html::sanitize_inline(&text) }
    }
}

/// Reads a title or a name of which something is left when it is cleaned.
pub fn name(
    decoder: &mut Decoder<'_>,
    name: &'static str,
    writer: WriteOptions<'_>,
) -> Option<String> {
    let cleaned = writer.sanitize_inline(decoder.filled_text(name)?);
    if html::plain(&cleaned).is_empty() {
        decoder.fail(name, "must not be empty");
        return None;
    }
    Some(cleaned)
}

/// Reads a longer text and cleans it.
pub fn markup(
    decoder: &mut Decoder<'_>,
    name: &'static str,
    writer: WriteOptions<'_>,
) -> Option<String> {
    let cleaned = writer.sanitize(decoder.long_text(name)?);
    if cleaned.is_none() {
        decoder.fail(name, "must close its tags in order");
    }
    cleaned
}

/// Reads a date; integers are timestamps.
pub fn moment(
    decoder: &mut Decoder<'_>,
    name: &'static str,
    zone: &Zone,
    now: Timestamp,
) -> Option<PointInTime> {
    decoder.check(name, |value| {
        let written = match value {
            Value::Number(number) => number.to_string(),
            other => text(other)?,
        };
        let when = When::parse(&written).and_then(|when| when.resolve(zone, now));
        let moment = when.map_err(|_| "must be a date")?;
        // What the zone cannot place is refused here, where the parameter is known.
        moment.instant(zone).map_err(|_| "must be a date")?;
        Ok(moment)
    })
}

/// Reads `date` and `date_utc`: either computes the other, both are taken as given.
pub fn publication(decoder: &mut Decoder<'_>, writer: WriteOptions<'_>) -> Publication {
    let utc = Zone::utc();
    let local = moment(decoder, "date", writer.zone, writer.now);
    let universal = moment(decoder, "date_utc", &utc, writer.now);
    let read = |moment: PointInTime, zone: &Zone| {
        let instant = moment.instant(zone).ok()?;
        Some((wall_seconds(writer.zone.wall(instant)), instant.as_second()))
    };
    let local = local.and_then(|moment| read(moment, writer.zone));
    let universal = universal.and_then(|moment| read(moment, &utc));
    Publication(match (local, universal) {
        (Some((wall, _)), Some((_, instant))) => Some((wall, instant)),
        (one, other) => one.or(other),
    })
}

/// Reads the id of an existing user.
pub fn author(decoder: &mut Decoder<'_>, lookup: &mut dyn Lookup) -> Option<i64> {
    let id = decoder.positive("author")?;
    if !lookup.user(id) {
        decoder.fail("author", "must be the id of a user");
        return None;
    }
    Some(id)
}

/// Reads a status.
pub fn status(decoder: &mut Decoder<'_>) -> Option<Status> {
    decoder.check("status", |value| {
        Status::parse(&text(value)?).ok_or("must be a status of 1 to 20 characters")
    })
}

/// Reads an image: an id, an address, or what clears it.
pub fn image(
    decoder: &mut Decoder<'_>,
    lookup: &mut dyn Lookup,
    writer: WriteOptions<'_>,
) -> Option<ImageRef> {
    let reference = decoder.check("image", |value| image_ref(value, writer))?;
    if let ImageRef::Id(id) = reference
        && !lookup.image(id)
    {
        decoder.fail("image", "must be the id of an image");
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
    // The address of an image that is stored here, as answers show it, names that image.
    if let Some(id) = writer.urls.media_id(address) {
        return Ok(ImageRef::Id(id));
    }
    if !role::may_use_images(writer.user) {
        return Err("must be an image id, as this role may not add images");
    }
    // Parsing drops control characters, but what is stored is the text.
    if address.chars().any(char::is_control) {
        return Err(WRONG);
    }
    image_url(address).ok_or(WRONG)?;
    Ok(ImageRef::Url(address.to_owned()))
}
