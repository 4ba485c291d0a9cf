//! What every request works with: database, clock, keys, the site.

use std::sync::Arc;

use auth::{Gate, KeyStore, Quotas};
use domain::SharedClock;
use jiff::Timestamp;
use store::{Db, Pools};

use crate::access::Access;
use crate::config::SiteSettings;
use crate::error::Error;
use crate::facts::with_facts;
use crate::model::cost::Currency;
use crate::model::role::{self, Actor, Deed, Person};
use crate::model::schedule::wall_seconds;
use crate::request::Input;
use crate::store::{people, sql};
use crate::wire::addresses::Addresses;
use crate::wire::decode::Problems;
use crate::wire::facts::Facts;
use crate::wire::list_input::Lister;
use crate::wire::params::Params;
use crate::wire::view::View;
use crate::wire::write_input::Writer;

/// The state of the service; a clone is another handle to the same.
#[derive(Clone)]
pub struct State {
    pub pools: Pools,
    pub clock: SharedClock,
    pub gate: Gate,
    pub site: Arc<Site>,
}

/// The settings in the form that rules use.
pub struct Site {
    pub settings: SiteSettings,
    pub currency: Currency,
}

/// What the work of one request may use, on its connection.
pub struct Scene<'a> {
    pub db: &'a mut Db,
    pub actor: Actor,
    pub site: &'a Site,
    pub addresses: Addresses,
    pub now: Timestamp,
}

impl State {
    /// Builds the state over an open database.
    pub fn new(pools: Pools, clock: SharedClock, settings: SiteSettings) -> State {
        let access = Access { reads: settings.rate_read_rpm, writes: settings.rate_write_rpm };
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let gate = Gate::new(keys, Quotas::new(clock.clone()), access);
        let currency = settings.currency();
        State { pools, clock, gate, site: Arc::new(Site { settings, currency }) }
    }

    /// Does the reading work of a request in one visit to the database.
    pub async fn read<T, F>(&self, input: Input, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Scene<'_>, Params) -> Result<T, Error> + Send + 'static,
    {
        let (site, now) = (self.site.clone(), self.clock.now());
        self.pools.read(move |db| input.perform(db, &site, now, work)).await
    }

    /// Does the writing work of a request in one transaction; one writer works at a time.
    pub async fn write<T, F>(&self, input: Input, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Scene<'_>, Params) -> Result<T, Error> + Send + 'static,
    {
        let (site, now) = (self.site.clone(), self.clock.now());
        let work = move |db: &mut Db| {
            sql::one_writer(db)?;
            input.perform(db, &site, now, work)
        };
        self.pools.write(work).await
    }
}

impl Input {
    fn perform<T>(
        self,
        db: &mut Db,
        site: &Site,
        now: Timestamp,
        work: impl FnOnce(&mut Scene<'_>, Params) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let actor = match &self.login {
            // A key whose owner is gone opens nothing.
            Some(login) => Some(people::by_login(db, login)?.ok_or(Error::InvalidCredentials)?),
            None => None,
        };
        let mut scene = Scene { db, actor, site, addresses: self.addresses, now };
        if let Some(deed) = self.deed {
            scene.permit(deed)?;
        }
        work(&mut scene, self.params?)
    }
}

impl Scene<'_> {
    /// Refuses a deed that the caller's role does not allow at all.
    fn permit(&self, deed: Deed) -> Result<(), Error> {
        let person = self.actor.as_ref().ok_or(Error::Unauthorized)?;
        if role::may(person, deed) { Ok(()) } else { Err(Error::Forbidden) }
    }

    /// Returns who writes.
    pub fn person(&self) -> Result<Person, Error> {
        self.actor.clone().ok_or(Error::Unauthorized)
    }

    /// Returns what answers are rendered from.
    pub fn view(&self) -> View<'_> {
        View {
            addresses: &self.addresses,
            zone: &self.site.settings.site_timezone,
            currency: &self.site.currency,
        }
    }

    /// Returns the present as (Unix seconds, wall clock of the site).
    pub fn present(&self) -> (i64, i64) {
        let wall = self.site.settings.site_timezone.wall(self.now);
        (self.now.as_second(), wall_seconds(wall))
    }

    /// Reads a write with everything that its reading needs to know.
    pub fn read_write<T>(
        &mut self,
        person: &Person,
        decode: impl FnOnce(&mut dyn Facts, Writer<'_>) -> Result<T, Problems>,
    ) -> Result<T, Error> {
        let writer = Writer {
            person,
            zone: &self.site.settings.site_timezone,
            currency: &self.site.currency,
            addresses: &self.addresses,
            now: self.now,
            unfiltered_html: self.site.settings.unfiltered_html.is_on(),
        };
        with_facts(self.db, |facts| decode(facts, writer))
    }

    /// Reads the query of a list.
    pub fn read_list<T>(
        &mut self,
        decode: impl FnOnce(&mut dyn Facts, Lister<'_>) -> Result<T, Problems>,
    ) -> Result<T, Error> {
        let settings = &self.site.settings;
        let lister = Lister {
            actor: &self.actor,
            zone: &settings.site_timezone,
            now: self.now,
            per_page: settings.per_page,
            per_page_max: settings.per_page_max,
            geo_radius: settings.geo_radius,
            geo_unit: settings.geo_unit.into(),
        };
        with_facts(self.db, |facts| decode(facts, lister))
    }
}
