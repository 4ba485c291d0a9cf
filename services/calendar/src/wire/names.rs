//! The rows that a request refers to. They are looked up between reading and decoding its
//! parameters.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::objects::{Objects, Row, id_of_object};
use super::values::{Positive, positive};
use crate::model::linked::Kind;
use crate::model::term::Taxonomy;
use crate::model::urls::Urls;

/// An operation's parameters, read but not yet decoded.
pub trait Input {
    /// Returns the rows that the parameters refer to.
    fn names(&self, urls: &Urls) -> Names;
}

/// The rows that a request refers to.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub users: Vec<i64>,
    pub events: Vec<i64>,
    pub series: Vec<i64>,
    pub images: Vec<i64>,
    pub venues: Vec<i64>,
    pub organizers: Vec<i64>,
    pub categories: TermNames,
    pub tags: TermNames,
    /// Rows that the request refers to by sending an object from an earlier response.
    pub objects: Vec<(Row, i64)>,
}

/// The terms of one taxonomy that a request refers to.
#[derive(Clone, Debug, Default)]
pub struct TermNames {
    pub ids: Vec<i64>,
    pub slugs: Vec<String>,
}

/// The rows in [`Names`] that exist.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub users: HashSet<i64>,
    pub events: HashSet<i64>,
    pub series: HashSet<i64>,
    pub images: HashSet<i64>,
    pub venues: HashSet<i64>,
    pub organizers: HashSet<i64>,
    pub categories: KnownTerms,
    pub tags: KnownTerms,
    pub objects: Objects,
}

/// The terms in [`TermNames`] that exist.
#[derive(Clone, Debug, Default)]
pub struct KnownTerms {
    pub ids: HashSet<i64>,
    /// Ids by slug.
    pub slugs: HashMap<String, i64>,
}

impl Names {
    pub fn linked(&mut self, kind: Kind) -> &mut Vec<i64> {
        match kind {
            Kind::Venue => &mut self.venues,
            Kind::Organizer => &mut self.organizers,
        }
    }

    pub fn terms(&mut self, taxonomy: Taxonomy) -> &mut TermNames {
        match taxonomy {
            Taxonomy::Category => &mut self.categories,
            Taxonomy::Tag => &mut self.tags,
        }
    }

    /// Adds the author and image in a write request.
    pub(super) fn add_post(
        &mut self,
        author: Option<&Positive>,
        image: Option<&Value>,
        urls: &Urls,
    ) {
        self.users.extend(author.map(|id| id.0));
        let by_address = |image: &Value| {
            let address = image.as_str().or_else(|| image.get("url")?.as_str());
            urls.media_id(address?.trim())
        };
        let id = |image: &Value| positive(image).or_else(|| by_address(image));
        self.images.extend(image.and_then(id));
        let object = image.and_then(id_of_object);
        self.objects.extend(object.map(|id| (Row::Image, id)));
    }
}

impl Known {
    pub fn linked(&self, kind: Kind) -> &HashSet<i64> {
        match kind {
            Kind::Venue => &self.venues,
            Kind::Organizer => &self.organizers,
        }
    }

    pub fn terms(&self, taxonomy: Taxonomy) -> &KnownTerms {
        match taxonomy {
            Taxonomy::Category => &self.categories,
            Taxonomy::Tag => &self.tags,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::event_input::EventInput;
    use crate::wire::params::Params;

    #[test]
    fn write_names_all_rows_that_it_refers_to() {
        let params = Params::from_json(json!({
            "author": 1, "image": "http://calendar.example/media/2/a.png",
            "categories": [3, "4", "jazz", {"id": 5}], "tags": "6",
            "venue": [7, {"venue": "Hall", "author": 8, "image": 9}], "organizer": "10, 11",
        }));
        let urls = Urls { base: "http://calendar.example".to_owned(), ..Urls::default() };
        let names = EventInput::read(&params, true).names(&urls);
        assert_eq!((names.users, names.images), (vec![1, 8], vec![2, 9]));
        assert_eq!((names.venues, names.organizers), (vec![7], vec![10, 11]));
        assert_eq!((names.categories.ids, names.categories.slugs), (vec![3, 4], vec!["4".into()]));
        assert_eq!((names.tags.ids, names.events), (vec![6], vec![]));
        assert_eq!(names.objects, [(Row::Term(Taxonomy::Category), 5)]);
    }
}
