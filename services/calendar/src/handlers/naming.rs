//! Slugs and images of resources as writes settle them.

use database::{DatabaseError, Db};

use super::linked_write::Moment;
use crate::error::Error;
use crate::model::html;
use crate::model::image::{self, ImageRef};
use crate::model::slug;
use crate::store::{images, slugs};

/// Settles the slug of a resource.
///
/// A slug that is sent wins, then the one it has, then its title; where neither leaves anything
/// that can stand in an address, its id. What lies in the trash carries a suffix.
pub fn settle_slug(
    db: &mut Db,
    table: &'static str,
    id: i64,
    (sent, current, title): (Option<&str>, &str, &str),
    (was_trashed, is_trashed): (bool, bool),
) -> Result<String, DatabaseError> {
    // What a read shows can be sent back, from the trash too.
    let sent = sent.filter(|sent| !sent.eq_ignore_ascii_case(current));
    let standing =
        if was_trashed { current.strip_suffix(slug::TRASHED).unwrap_or(current) } else { current };
    if sent.is_none() && !current.is_empty() && was_trashed == is_trashed {
        return Ok(current.to_owned());
    }
    let chosen = match sent {
        Some(sent) => slug::clean(sent),
        None => standing.to_owned(),
    };
    let candidates = [chosen, slug::clean(&html::decode(title)), id.to_string()];
    let base = candidates.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    slugs::free(db, table, &base, if is_trashed { slug::TRASHED } else { "" }, id)
}

/// Settles the image that a write names.
pub fn settle_image(
    db: &mut Db,
    sent: Option<&ImageRef>,
    current: Option<i64>,
    at: Moment<'_>,
) -> Result<Option<i64>, Error> {
    match sent {
        None => Ok(current),
        Some(ImageRef::Clear) => Ok(None),
        Some(ImageRef::Id(id)) => Ok(Some(*id)),
        Some(ImageRef::Address(address)) => image_at(db, address, at).map(Some),
    }
}

/// Returns the id of the image at an address; one that is not known yet is linked, or stored as it
/// was fetched.
fn image_at(db: &mut Db, address: &str, at: Moment<'_>) -> Result<i64, Error> {
    let Some(fetched) = at.fetched else {
        let extension =
            image::image_address(address).map(|url| image::extension(&url)).unwrap_or_default();
        return Ok(images::link(db, address, &extension, at.person.id, at.now)?);
    };
    if let Some(id) = images::fetched_from(db, address)? {
        return Ok(id);
    }
    match fetched.get(address) {
        Some(picture) => Ok(images::keep(db, address, picture, at.person.id, at.now)?),
        None => Err(Error::ImageWanted(address.to_owned())),
    }
}
