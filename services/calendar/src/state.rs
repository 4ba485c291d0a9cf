//! The state shared by all requests: database, clock, gate, settings and image files.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use auth::{Gate, KeyStore, Quotas};
use batch::PagePermits;
use database::{FairTurns, Pools};
use domain::SharedClock;
use outbound::WebhookSender;
use tokio::sync::Semaphore;

use crate::config::Settings;
use crate::model::cost::Currency;
use crate::policy::CalendarPolicy;
use crate::store::event_index::EventIndex;
use crate::store::kept_answers::KeptAnswers;
use crate::store::media::Media;
use crate::store::remote_calendars::CalendarFetcher;
use crate::store::remote_images::ImageFetcher;

/// Maximum number of concurrent sanitizers, each of which uses several times as much memory as its
/// input.
const MAX_SANITIZERS: usize = 2;

/// Total bytes of text on the long pages that can be built concurrently. Building a page takes
/// about three times as much memory as its text.
const BYTES_OF_LONG_PAGES: u32 = 8 << 20;

/// The shared state of the service. Cheap to clone.
#[derive(Clone)]
pub struct State {
    pub pools: Pools,
    pub clock: SharedClock,
    pub gate: Gate,
    pub site: Arc<Site>,
    pub media: Media,
    /// Fetches images that requests specify by URL. `None` if URLs are only recorded.
    pub image_fetcher: Option<ImageFetcher>,
    /// Fetches subscribed files. `None` if this process doesn't fetch any.
    pub calendar_fetcher: Option<CalendarFetcher>,
    /// Sends webhooks. `None` if webhooks are disabled.
    pub webhooks: Option<WebhookSender>,
    /// Limits how many write requests can sanitize long text at the same time.
    pub sanitizers: Arc<FairTurns>,
    /// The in-memory index of all events, for list queries that would be too slow in the database.
    pub index: Arc<EventIndex>,
    /// The response cache. `None` if responses aren't cached.
    pub answers: Option<Arc<KeptAnswers>>,
    /// Permits for expensive list requests. Each request takes one, and there are few enough to
    /// leave a connection and a core for other reads.
    pub costly_lists: Arc<Semaphore>,
    /// Memory permits for pages with a large amount of text.
    pub long_pages: PagePermits,
    /// Whether SQLite's write-ahead log might still contain erased data.
    pub has_erased: Arc<AtomicBool>,
}

/// Settings in the form that the rules require.
pub struct Site {
    pub settings: Settings,
    pub currency: Currency,
    /// PUBLIC_URL, for commands. Requests provide the URL that they were sent to.
    pub public_url: Option<String>,
    /// The hosts in this server's own addresses. UIDs in its feeds end with a request's host.
    pub hosts: Vec<String>,
}

impl State {
    /// Builds the state from an open database, the settings and the media folder.
    pub fn new(pools: Pools, clock: SharedClock, settings: Settings, media: Media) -> State {
        let policy =
            CalendarPolicy { reads: settings.rate_read_rpm, writes: settings.rate_write_rpm };
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let gate = Gate::new(keys, Quotas::new(clock.clone()), policy);
        let answers = match settings.render_cache_mb {
            0 => None,
            mebibytes => Some(Arc::new(KeptAnswers::new(pools.clone(), mebibytes << 20))),
        };
        let currency = settings.currency();
        let site = Arc::new(Site { settings, currency, public_url: None, hosts: Vec::new() });
        let sanitizers = FairTurns::new(MAX_SANITIZERS);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let costly_lists = Arc::new(Semaphore::new((cores / 2).max(1)));
        let long_pages = PagePermits::new(BYTES_OF_LONG_PAGES);
        let index = Arc::default();
        pools.watch_folder("media", media.folder());
        State {
            pools,
            clock,
            gate,
            site,
            media,
            image_fetcher: None,
            calendar_fetcher: None,
            webhooks: None,
            sanitizers,
            index,
            answers,
            costly_lists,
            long_pages,
            // An earlier process might have been killed after it erased something.
            has_erased: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Sets the site's URL. This must be done before the state is shared.
    #[must_use]
    pub fn with_public_url(mut self, url: Option<String>) -> State {
        if let Some(site) = Arc::get_mut(&mut self.site) {
            site.public_url = url;
        }
        self
    }

    /// Sets the hosts under which the server is reached. This must be done before the state is
    /// shared.
    #[must_use]
    pub fn with_hosts(mut self, hosts: Vec<String>) -> State {
        if let Some(site) = Arc::get_mut(&mut self.site) {
            site.hosts = hosts;
        }
        self
    }

    /// Enables fetching images that requests specify by URL.
    #[must_use]
    pub fn with_image_fetcher(self, fetcher: ImageFetcher) -> State {
        State { image_fetcher: Some(fetcher), ..self }
    }
}

impl State {
    /// Enables webhooks.
    #[must_use]
    pub fn with_webhooks(self, sender: WebhookSender) -> State {
        State { webhooks: Some(sender), ..self }
    }

    /// Enables fetching subscribed files.
    #[must_use]
    pub fn with_calendar_fetcher(self, fetcher: CalendarFetcher) -> State {
        State { calendar_fetcher: Some(fetcher), ..self }
    }
}

/// The OpenAPI document as served by the API. Built on first use.
pub struct Document(fn() -> &'static serde_json::Value);

impl Document {
    /// Wraps a function that builds the document.
    pub fn new(build: fn() -> &'static serde_json::Value) -> Document {
        Document(build)
    }

    pub fn get(&self) -> &'static serde_json::Value {
        (self.0)()
    }
}
