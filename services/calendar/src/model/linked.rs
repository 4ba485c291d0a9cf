//! Venues and organizers: two kinds with the same life cycle and mostly the same fields.

use super::geo::Point;
use super::html;
use super::status::Status;

/// The kind of a linked resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A place at which events take place.
    Venue,
    /// A person or an organization that hosts events.
    Organizer,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 2] = [Kind::Venue, Kind::Organizer];

    /// Returns the singular used in parameters, codes and URLs.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Venue => "venue",
            Kind::Organizer => "organizer",
        }
    }

    /// Returns the collection name in paths and envelopes.
    pub fn collection(self) -> &'static str {
        match self {
            Kind::Venue => "venues",
            Kind::Organizer => "organizers",
        }
    }

    /// Returns the number that identifies the kind in the shared id space.
    pub fn entity(self) -> i32 {
        match self {
            Kind::Venue => 2,
            Kind::Organizer => 3,
        }
    }
}

/// A venue or an organizer. Fields that do not apply to its kind are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// Whether it is a venue or an organizer.
    pub kind: Kind,
    /// The id, which is unique among events, venues, organizers and images.
    pub id: i64,
    /// Id of the user who owns the row.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before it was moved to the trash.
    pub previous: Option<Status>,
    /// The name.
    pub name: String,
    /// The description, as HTML.
    pub description: String,
    /// The excerpt, as HTML.
    pub excerpt: String,
    /// The slug.
    pub slug: String,
    /// When it was published, in Unix seconds.
    pub published_utc: i64,
    /// Date of publication in the site's local time.
    pub published_local: i64,
    /// When it was last changed, in Unix seconds.
    pub modified_utc: i64,
    /// Id of the image, or `None` if there is none.
    pub image: Option<i64>,
    /// The telephone number.
    pub phone: String,
    /// The website; empty if there is none.
    pub website: String,
    /// The mail address.
    pub email: String,
    /// Address and coordinates of a venue.
    pub place: Place,
}

/// Address and coordinates of a venue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Street and number.
    pub address: String,
    /// The city.
    pub city: String,
    /// The country.
    pub country: String,
    /// The province.
    pub province: String,
    /// The state.
    pub state: String,
    /// State or province, as shown.
    pub stateprovince: String,
    /// The postal code.
    pub zip: String,
    /// Whether a map is shown.
    pub show_map: bool,
    /// Whether a link to a map is shown.
    pub show_map_link: bool,
    /// The coordinates, if known.
    pub geo: Option<Point>,
}

impl Place {
    /// Returns the default of `stateprovince`: the state in the United States, else the province.
    pub fn default_stateprovince(&self) -> String {
        let american = matches!(self.country.as_str(), "" | "US" | "United States");
        match (american && !self.state.is_empty(), &self.state, &self.province) {
            (true, state, _) => state.clone(),
            (false, _, province) => province.clone(),
        }
    }
}

impl Linked {
    /// Returns the fields that `search` uses, one per line.
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
