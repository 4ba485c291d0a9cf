//! What every request works with: database, clock, gate, the site, stored images. Data only.

use std::sync::Arc;

use auth::{Gate, KeyStore, Quotas};
use database::Pools;
use domain::SharedClock;
use outbound::WebhookSender;
use tokio::sync::Semaphore;

use crate::config::Settings;
use crate::model::cost::Currency;
use crate::policy::CalendarPolicy;
use crate::store::event_index::EventIndex;
use crate::store::media::Media;
use crate::store::remote_images::ImageFetcher;

/// How many writes are sanitized at a time: a parser holds many times the bytes of a text.
const MAX_SANITIZERS: usize = 2;

/// How many KiB of texts the long pages of lists that are made at a time may have. An answer takes about
/// three times its texts while it is made.
pub const KIB_OF_LONG_PAGES: u32 = 8 << 10;

/// The state of the service; a clone is another handle to the same.
#[derive(Clone)]
pub struct State {
    pub pools: Pools,
    pub clock: SharedClock,
    pub gate: Gate,
    pub site: Arc<Site>,
    pub media: Media,
    /// Fetches the images that writes name by URL; `None` where URLs are only recorded.
    pub image_fetcher: Option<ImageFetcher>,
    /// Sends webhooks; `None` where none are sent.
    pub webhooks: Option<WebhookSender>,
    /// One permit for each write that may be sanitized at the same time.
    pub sanitizers: Arc<Semaphore>,
    /// All events in memory, for lists that the database cannot answer quickly.
    pub index: Arc<EventIndex>,
    /// One permit for each costly list that may be read at the same time: other reads keep a
    /// connection and a core of their own.
    pub costly_lists: Arc<Semaphore>,
    /// One permit for each KiB of the texts of long pages that are in memory at the same time.
    pub long_pages: Arc<Semaphore>,
}

/// The settings in the form that rules use.
pub struct Site {
    pub settings: Settings,
    pub currency: Currency,
}

impl State {
    /// Builds the state over an open database and a folder of images.
    pub fn new(pools: Pools, clock: SharedClock, settings: Settings, media: Media) -> State {
        let policy =
            CalendarPolicy { reads: settings.rate_read_rpm, writes: settings.rate_write_rpm };
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let gate = Gate::new(keys, Quotas::new(clock.clone()), policy);
        let currency = settings.currency();
        let site = Arc::new(Site { settings, currency });
        let sanitizers = Arc::new(Semaphore::new(MAX_SANITIZERS));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let costly_lists = Arc::new(Semaphore::new((cores / 2).max(1)));
        let long_pages = Arc::new(Semaphore::new(KIB_OF_LONG_PAGES as usize));
        let index = Arc::default();
        pools.watch_folder("media", media.folder());
        State {
            pools,
            clock,
            gate,
            site,
            media,
            image_fetcher: None,
            webhooks: None,
            sanitizers,
            index,
            costly_lists,
            long_pages,
        }
    }

    /// Lets writes fetch the images that they name by URL.
    #[must_use]
    pub fn with_image_fetcher(self, fetcher: ImageFetcher) -> State {
        State { image_fetcher: Some(fetcher), ..self }
    }
}

impl State {
    /// Lets the server send webhooks.
    #[must_use]
    pub fn with_webhooks(self, sender: WebhookSender) -> State {
        State { webhooks: Some(sender), ..self }
    }
}

/// The OpenAPI document as the interface itself answers it, built when it is first asked for.
pub struct Document(fn() -> &'static serde_json::Value);

impl Document {
    /// Takes the function that builds the document once.
    pub fn new(build: fn() -> &'static serde_json::Value) -> Document {
        Document(build)
    }

    /// Returns the document.
    pub fn get(&self) -> &'static serde_json::Value {
        (self.0)()
    }
}
