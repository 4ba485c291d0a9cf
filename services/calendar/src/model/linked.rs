//! Venues and organizers: two kinds with the same life cycle and mostly the same fields.

use super::geo::Point;
use super::html;
use super::status::Status;

/// The kind of a linked resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A place.
    Venue,
    /// A person or organization.
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

    /// Returns the number of the kind in the shared id space.
    pub fn entity(self) -> i32 {
        match self {
            Kind::Venue => 2,
            Kind::Organizer => 3,
        }
    }
}

/// A venue or an organizer. Fields that its kind does not have are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// Whether it is a venue or an organizer.
    pub kind: Kind,
    /// Its id.
    pub id: i64,
    /// Id of the owning user.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before it was moved to the trash.
    pub previous: Option<Status>,
    /// The name.
    pub name: String,
    /// The description, HTML.
    pub description: String,
    /// The excerpt, HTML.
    pub excerpt: String,
    /// The slug.
    pub slug: String,
    /// Date of publication, Unix seconds.
    pub published_utc: i64,
    /// Date of publication in the site's local time.
    pub published_local: i64,
    /// Last change, Unix seconds.
    pub modified_utc: i64,
    /// Id of its image.
    pub image: Option<i64>,
    /// The telephone number.
    pub phone: String,
    /// The website; empty for none.
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
    /// The coordinates.
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
