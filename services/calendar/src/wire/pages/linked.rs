//! Venues and organizers on pages.

use super::images::origins;
use crate::model::html;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};
use crate::wire::render_context::RenderContext;

/// A venue or organizer, as shown on its own page or on an event page.
#[derive(Clone, Debug, Default)]
pub struct LinkedView {
    pub name: String,
    pub href: String,
    /// The address, line by line.
    pub lines: Vec<String>,
    /// Map URL. Empty if there is no map.
    pub map: String,
    pub phone: String,
    /// The phone number as used in `tel:` links.
    pub tel: String,
    pub email: String,
    pub website: String,
    /// HTML.
    pub description: String,
    pub image: Option<ImageView>,
    /// Origins of externally hosted images, for the content security policy.
    pub origins: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ImageView {
    pub src: String,
    pub width: Option<i64>,
    pub height: Option<i64>,
}

/// Returns the image with this `id`, if any.
pub fn image_view(
    id: Option<i64>,
    included: &Included,
    view: RenderContext<'_>,
) -> Option<ImageView> {
    let image = included.images.get(&id?)?;
    let src = view.urls.image(image);
    Some(ImageView { src, width: image.width, height: image.height })
}

/// Renders a venue or organizer.
pub fn linked(row: &Linked, included: &Included, view: RenderContext<'_>) -> LinkedView {
    let phone = html::without_tags(&row.phone);
    let description = html::paragraphs(&row.description);
    let image = image_view(row.image, included, view);
    LinkedView {
        name: html::plain(&row.name),
        href: view.urls.linked_page(row.kind, &row.slug),
        lines: lines(row),
        map: map(row),
        tel: phone.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect(),
        phone,
        email: mail(&html::without_tags(&row.email)),
        website: web(&row.website),
        origins: origins(image.as_ref().map(|image| image.src.as_str()), &description),
        description: html::with_focusable(&description, &html::plain(&row.name)),
        image,
    }
}

/// Returns the URL if it is safe to link to, or an empty string otherwise.
pub fn web(text: &str) -> String {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    if is_web { text.to_owned() } else { String::new() }
}

/// Returns the address if it is safe to use in a `mailto:` link, or an empty string otherwise.
fn mail(text: &str) -> String {
    let text = text.trim();
    let fits = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"?&".contains(&byte));
    if fits && text.contains('@') { text.to_owned() } else { String::new() }
}

fn lines(row: &Linked) -> Vec<String> {
    if row.kind == Kind::Organizer {
        return Vec::new();
    }
    let place = &row.place;
    let town = format!("{} {}", place.zip, place.city);
    let parts = [place.address.as_str(), &town, &place.stateprovince, &place.country];
    let lines = parts.into_iter().map(|part| html::without_tags(part).trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns the URL of a map that shows the coordinates, or else the postal address.
fn map(row: &Linked) -> String {
    const MAPS: &str = "https://www.openstreetmap.org/";
    let place = &row.place;
    if row.kind == Kind::Organizer || !place.show_map_link {
        return String::new();
    }
    if let Some(point) = place.geo {
        let (lat, lng) = (point.lat, point.lng);
        return format!("{MAPS}?mlat={lat}&mlon={lng}#map=17/{lat}/{lng}");
    }
    if place.address.is_empty() && place.city.is_empty() {
        return String::new();
    }
    let query: String =
        url::form_urlencoded::byte_serialize(lines(row).join(", ").as_bytes()).collect();
    format!("{MAPS}search?query={query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_addresses_become_links() {
        assert_eq!(web("https://a.example/"), "https://a.example/");
        assert_eq!(web("javascript:alert(1)"), "");
        assert_eq!(mail(" a@b.example "), "a@b.example");
        for text in ["a@b.example?cc=x", "no-address", "a b@c.example", ""] {
            assert_eq!(mail(text), "", "{text}");
        }
    }
}
