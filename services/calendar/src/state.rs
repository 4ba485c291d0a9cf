//! What every request works with: database, clock, keys, the site.

use std::collections::HashMap;
use std::sync::Arc;

use auth::{Gate, KeyStore, Quotas};
use database::{Backend, Db, Pools};
use domain::SharedClock;
use jiff::Timestamp;
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::config::SiteSettings;
use crate::error::Error;
use crate::facts::with_facts;
use crate::fetch::{Fetcher, NotFetched};
use crate::media::{Media, NotStored};
use crate::model::cost::Currency;
use crate::model::image::Picture;
use crate::model::role::{self, Actor, Deed, Person};
use crate::model::schedule::wall_seconds;
use crate::request::Input;
use crate::store::snapshot::snapshot;
use crate::store::{people, sql};
use crate::wire::addresses::Addresses;
use crate::wire::cleaned::Cleaned;
use crate::wire::decode::Problems;
use crate::wire::facts::Facts;
use crate::wire::list_input::Lister;
use crate::wire::params::Params;
use crate::wire::view::View;
use crate::wire::write_input::Writer;

/// The most images that one write fetches.
const MOST_IMAGES: usize = 10;

/// How many writes are cleaned at a time: a parser holds many times the bytes of a text.
const MOST_CLEANERS: usize = 2;

/// The state of the service; a clone is another handle to the same.
#[derive(Clone)]
pub struct State {
    pub pools: Pools,
    pub clock: SharedClock,
    pub gate: Gate,
    pub site: Arc<Site>,
    pub media: Media,
    /// Fetches images that writes name by address; none where addresses are only recorded.
    fetcher: Option<Fetcher>,
    cleaners: Arc<Semaphore>,
}

/// Images that were fetched for a write, by their address.
pub type Fetched = HashMap<String, Picture>;

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
    /// Images that were fetched for the write; none where addresses are only recorded.
    pub fetched: Option<&'a Fetched>,
    /// Longer texts that were cleaned for the write.
    pub cleaned: &'a Cleaned,
}

impl State {
    /// Builds the state over an open database and a folder of images.
    pub fn new(pools: Pools, clock: SharedClock, settings: SiteSettings, media: Media) -> State {
        let access = Access { reads: settings.rate_read_rpm, writes: settings.rate_write_rpm };
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let gate = Gate::new(keys, Quotas::new(clock.clone()), access);
        let currency = settings.currency();
        let site = Arc::new(Site { settings, currency });
        let cleaners = Arc::new(Semaphore::new(MOST_CLEANERS));
        State { pools, clock, gate, site, media, fetcher: None, cleaners }
    }

    /// Lets writes fetch the images that they name by address.
    pub fn fetching(self, fetcher: Fetcher) -> State {
        State { fetcher: Some(fetcher), ..self }
    }

    /// Does the reading work of a request in one visit to the database.
    ///
    /// SQLite shows all of it one moment. On PostgreSQL, where a transaction costs two more round
    /// trips, most reads are one statement, and lists that need several have a moment of their own.
    pub async fn read<T, F>(&self, input: Input, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Scene<'_>, Params) -> Result<T, Error> + Send + 'static,
    {
        let (site, now) = (self.site.clone(), self.clock.now());
        let perform =
            move |db: &mut Db| input.perform(db, &site, now, None, &Cleaned::default(), work);
        self.pools
            .read(|db| match db.backend() {
                Backend::Sqlite => snapshot(db, perform),
                Backend::Postgres => perform(db),
            })
            .await
    }

    /// Does the writing work of a request in one transaction; one writer works at a time.
    ///
    /// No transaction waits for the web: work that lacks an image is rolled back, and done again
    /// once the image is there. So nothing is fetched where permissions or fields are refused.
    pub async fn write<T, F>(&self, mut input: Input, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&mut Scene<'_>, Params) -> Result<T, Error> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let cleaned = Arc::new(self.clean(&input).await?);
        let Some(fetcher) = &self.fetcher else {
            return self.attempt(input, work, None, cleaned).await;
        };
        let mut fetched = Fetched::new();
        loop {
            let again = input.copy();
            let known = Some(fetched.clone());
            match (self.attempt(input, work.clone(), known, cleaned.clone()).await, again) {
                (Err(Error::ImageWanted(address)), Some(again)) => {
                    if fetched.len() == MOST_IMAGES {
                        return Err(Problems::one("image", "must not name so many images").into());
                    }
                    let picture = self.fetch(fetcher, &address).await?;
                    fetched.insert(address, picture);
                    input = again;
                }
                (outcome, _) => return outcome,
            }
        }
    }

    /// Cleans the longer texts of a write before its transaction; who is nobody writes none.
    async fn clean(&self, input: &Input) -> Result<Cleaned, Error> {
        let params = input.params.as_ref().ok().filter(|_| input.login.is_some());
        let texts = params.map(Cleaned::wanted).unwrap_or_default();
        if texts.is_empty() {
            return Ok(Cleaned::default());
        }
        let internal = |error: String| Error::Internal(error);
        let turn = self.cleaners.clone().acquire_owned().await;
        let turn = turn.map_err(|error| internal(error.to_string()))?;
        let work = move || {
            let _turn = turn;
            Cleaned::of(texts)
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| internal(error.to_string()))
    }

    async fn attempt<T, F>(
        &self,
        input: Input,
        work: Arc<F>,
        fetched: Option<Fetched>,
        cleaned: Arc<Cleaned>,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&mut Scene<'_>, Params) -> Result<T, Error> + Send + Sync + 'static,
    {
        let (site, now) = (self.site.clone(), self.clock.now());
        let work = move |db: &mut Db| {
            sql::one_writer(db)?;
            let work = |scene: &mut Scene<'_>, params| work(scene, params);
            input.perform(db, &site, now, fetched.as_ref(), &cleaned, work)
        };
        self.pools.write(work).await
    }

    async fn fetch(&self, fetcher: &Fetcher, address: &str) -> Result<Picture, Error> {
        let refused = |why: NotFetched| Problems::one("image", &why.to_string());
        let bytes = fetcher.fetch(address).await.map_err(refused)?;
        let media = self.media.clone();
        let stored = tokio::task::spawn_blocking(move || media.store(&bytes)).await;
        match stored.map_err(|error| Error::Internal(error.to_string()))? {
            Ok(picture) => Ok(picture),
            Err(NotStored::Unknown) => Err(refused(NotFetched::Type).into()),
            Err(error) => Err(Error::Internal(error.to_string())),
        }
    }
}

impl Input {
    fn perform<T>(
        self,
        db: &mut Db,
        site: &Site,
        now: Timestamp,
        fetched: Option<&Fetched>,
        cleaned: &Cleaned,
        work: impl FnOnce(&mut Scene<'_>, Params) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let actor = match &self.login {
            // A key whose owner is gone opens nothing.
            Some(login) => Some(people::by_login(db, login)?.ok_or(Error::InvalidCredentials)?),
            None => None,
        };
        let addresses = self.addresses;
        let mut scene = Scene { db, actor, site, addresses, now, fetched, cleaned };
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
            cleaned: self.cleaned,
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
