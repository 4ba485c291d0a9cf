//! Venues and organizers. Both have the same life cycle and mostly the same fields.

use super::geo::Point;
use super::html;
use super::status::Status;

/// The type of a linked resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A place where events are held.
    Venue,
    /// A person or organization that hosts events.
    Organizer,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 2] = [Kind::Venue, Kind::Organizer];

    /// Returns the singular name used in parameters, codes and URLs.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Venue => "venue",
            Kind::Organizer => "organizer",
        }
    }

    /// Returns the collection name used in paths and envelopes.
    pub fn collection(self) -> &'static str {
        match self {
            Kind::Venue => "venues",
            Kind::Organizer => "organizers",
        }
    }

    /// Returns the kind code in the shared id space.
    pub fn entity(self) -> i32 {
        match self {
            Kind::Venue => 2,
            Kind::Organizer => 3,
        }
    }
}

/// A venue or organizer. Fields that don't apply to its kind are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// Whether it is a venue or an organizer.
    pub kind: Kind,
    /// The id, unique across events, venues, organizers and images.
    pub id: i64,
    /// Id of the user who owns the row.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before the row was trashed.
    pub previous: Option<Status>,
    /// The name.
    pub name: String,
    /// The description as HTML.
    pub description: String,
    /// The excerpt as HTML.
    pub excerpt: String,
    /// The slug.
    pub slug: String,
    /// Publication time in Unix seconds.
    pub published_utc: i64,
    /// Publication time in the site's local time.
    pub published_local: i64,
    /// Time of the last change in Unix seconds.
    pub modified_utc: i64,
    /// Id of the image, if any.
    pub image: Option<i64>,
    /// The phone number.
    pub phone: String,
    /// The website. Empty if there isn't one.
    pub website: String,
    /// The email address.
    pub email: String,
    /// A venue's address and coordinates.
    pub place: Place,
}

/// A venue's address and coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Street name and number.
    pub address: String,
    /// The city.
    pub city: String,
    /// The country.
    pub country: String,
    /// The province.
    pub province: String,
    /// The state.
    pub state: String,
    /// The state or province to display.
    pub stateprovince: String,
    /// The postal code.
    pub zip: String,
    /// Whether to show a map.
    pub show_map: bool,
    /// Whether to show a link to a map.
    pub show_map_link: bool,
    /// The coordinates, if known.
    pub geo: Option<Point>,
}

impl Place {
    /// Returns the default for `stateprovince`: the state in the United States, and the province
    /// elsewhere.
    pub fn default_stateprovince(&self) -> String {
        let american = matches!(self.country.as_str(), "" | "US" | "United States");
        match (american && !self.state.is_empty(), &self.state, &self.province) {
            (true, state, _) => state.clone(),
            (false, _, province) => province.clone(),
        }
    }
}

impl Linked {
    /// Returns the fields that `search` looks at, one per line.
    pub fn searched(&self) -> String {
        let place = &self.place;
        let (name, description) = (html::plain(&self.name), html::plain(&self.description));
        let excerpt = html::plain(&self.excerpt);
        let website = match self.kind {
            Kind::Venue => "",
            Kind::Organizer => self.website.as_str(),
        };
        let fields: [&str; 12] = [
            &name,
            &description,
            &excerpt,
            &place.address,
            &place.city,
            &place.province,
            &place.state,
            &place.stateprovince,
            &place.zip,
            &self.phone,
            &self.email,
            website,
        ];
        fields.join("\n")
    }
}
