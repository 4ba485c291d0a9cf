//! Resources that a list refers to.

use std::collections::HashMap;
use std::sync::Arc;

use super::event::Links;
use super::event_status::{EventStatus, Occurring};
use super::image::Image;
use super::linked::Linked;
use super::role::{self, Actor};
use super::series::{Membership, Series};
use super::term::Term;

/// An event's series and its membership.
#[derive(Clone, Debug, PartialEq)]
pub struct InSeries {
    /// The series.
    pub series: Arc<Series>,
    /// The event's position in the series.
    pub membership: Membership,
}

/// All resources that a list page refers to, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Included {
    /// Links by event id.
    pub links: HashMap<i64, Links>,
    /// Terms and all their ancestors, by id.
    pub terms: HashMap<i64, Term>,
    /// Venues by id.
    pub venues: HashMap<i64, Linked>,
    /// Organizers by id.
    pub organizers: HashMap<i64, Linked>,
    /// Images by id.
    pub images: HashMap<i64, Image>,
    /// Statuses by event id. There is no entry for events that are going ahead as announced.
    pub statuses: HashMap<i64, EventStatus>,
    /// Former starts of rescheduled events in Unix seconds, by event id.
    pub previous_starts: HashMap<i64, i64>,
    /// Series by event id. There is no entry for events without a series.
    pub series: HashMap<i64, InSeries>,
}

impl Included {
    /// Removes venues and organizers that are trashed or that the caller isn't allowed to read.
    pub fn readable_by(mut self, actor: &Actor) -> Included {
        for rows in [&mut self.venues, &mut self.organizers] {
            rows.retain(|_, row| {
                !row.status.is_trashed() && role::may_read(actor, &row.status, row.author)
            });
        }
        self
    }

    /// Returns whether an event is going ahead as announced.
    pub fn occurring(&self, event: i64) -> Occurring {
        self.statuses.get(&event).map(|status| status.occurring).unwrap_or_default()
    }

    /// Returns the slugs from the top level down to a term.
    pub fn path<'a>(&'a self, term: &'a Term) -> Vec<&'a str> {
        let mut path = vec![term.slug.as_str()];
        let mut parent = term.parent;
        // Parent cycles can't be stored. The limit only prevents a hang if the database is damaged.
        while let Some(above) = self.terms.get(&parent).filter(|_| path.len() < 100) {
            path.push(above.slug.as_str());
            parent = above.parent;
        }
        path.reverse();
        path
    }
}
