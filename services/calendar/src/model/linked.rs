//! Venues and organizers: two kinds with one life cycle and mostly the same fields.

use super::geo::Point;
use super::html;
use super::status::Status;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A place.
    Venue,
    /// Somebody who organizes.
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
    /// Whether it is a venue or an organizer.
    pub kind: Kind,
    /// Its id.
    pub id: i64,
    /// Id of the user who owns it.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before the trash.
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
    /// Date of publication on the clock of the site.
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
    /// Where a venue is.
    pub place: Place,
}

/// Where a venue is.
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
    /// Where it lies.
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
