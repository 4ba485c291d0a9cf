//! Venues and organizers: two kinds with one life cycle and mostly the same fields.

use super::geo::Point;
use super::html;
use super::status::Status;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Venue,
    Organizer,
}

impl Kind {
    /// Returns the word in parameters, codes and single urls.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Venue => "venue",
            Kind::Organizer => "organizer",
        }
    }

    /// Returns the collection in paths and envelopes.
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

/// A venue or an organizer; fields that its kind lacks stay empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    pub kind: Kind,
    pub id: i64,
    pub author: i64,
    pub status: Status,
    pub previous: Option<Status>,
    pub name: String,
    pub description: String,
    pub excerpt: String,
    pub slug: String,
    pub published_utc: i64,
    pub published_local: i64,
    pub modified_utc: i64,
    pub image: Option<i64>,
    pub phone: String,
    pub website: String,
    pub email: String,
    pub place: Place,
}

/// Where a venue is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    pub address: String,
    pub city: String,
    pub country: String,
    pub province: String,
    pub state: String,
    pub stateprovince: String,
    pub zip: String,
    pub show_map: bool,
    pub show_map_link: bool,
    pub geo: Option<Point>,
}

impl Place {
    /// Returns what stands for state or province when none is given: the state in the United States,
    /// else the province.
    pub fn default_stateprovince(&self) -> String {
        let american = matches!(self.country.as_str(), "" | "US" | "United States");
        match (american && !self.state.is_empty(), &self.state, &self.province) {
            (true, state, _) => state.clone(),
            (false, _, province) => province.clone(),
        }
    }
}

impl Linked {
    /// Returns the fields that `search` looks into, one per line.
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
