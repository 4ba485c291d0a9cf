//! What the service serves from.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use actix_web::HttpRequest;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::HeaderValue;
use domain::HashPrefix;
use futures_util::future::LocalBoxFuture;
use shell::{ErrorFormat, Next, Service, ServiceInfo, Shell};
use utoipa::openapi::OpenApi;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::config::{INFO, RangeSettings};
use crate::error::PlainErrors;
use crate::handlers::range::Scratch;
use crate::handlers::{self};
use crate::jobs::reload::{self, Reloader};
use crate::model::{Kind, query};
use crate::routes;
use crate::store::corpus::BucketProblem;
use crate::store::slot::Seen;
use crate::store::{Corpus, KindFolder, Slot};

/// A corpus in use, with what its answers say about it.
pub struct Served {
    /// The corpus.
    pub corpus: Corpus,
    /// When it was built.
    pub built_at: SystemTime,
    /// The same as a header.
    pub last_modified: HeaderValue,
}

impl From<Corpus> for Served {
    fn from(corpus: Corpus) -> Self {
        let seconds = u64::try_from(corpus.header().built_at).unwrap_or(0);
        // Dates that HTTP cannot write stand for the beginning of time.
        let built_at = UNIX_EPOCH + Duration::from_secs(seconds.min(253_402_300_799));
        let last_modified = HeaderValue::from_str(&httpdate::fmt_http_date(built_at))
            .unwrap_or(HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"));
        Self { corpus, built_at, last_modified }
    }
}

/// No prefix has this value.
const SOUND: u32 = u32::MAX;

/// What all workers share.
pub struct State {
    settings: RangeSettings,
    cache_control: HeaderValue,
    slots: [Slot<Served>; 2],
    /// For each kind the prefix whose bucket could not be served, or [`SOUND`].
    failing: [AtomicU32; 2],
}

impl State {
    /// The settings.
    pub fn settings(&self) -> &RangeSettings {
        &self.settings
    }

    /// `Cache-Control` of answers that may be kept.
    pub fn cache_control(&self) -> &HeaderValue {
        &self.cache_control
    }

    /// Whether each bucket is compared with its digest.
    pub fn verifies(&self) -> bool {
        self.settings.verify_on_read.is_on()
    }

    /// Where the corpus of a kind is.
    pub fn slot(&self, kind: Kind) -> &Slot<Served> {
        &self.slots[kind.position()]
    }

    /// Puts a corpus in place.
    pub fn serve(&self, corpus: Corpus) {
        let kind = corpus.kind();
        self.slot(kind).put(Served::from(corpus));
        self.failing[kind.position()].store(SOUND, Ordering::Relaxed);
    }

    /// Notes that a bucket could not be served. The prefix stays out of the log.
    pub fn note_failure(&self, kind: Kind, prefix: HashPrefix, problem: &BucketProblem) {
        self.failing[kind.position()].store(prefix.value(), Ordering::Relaxed);
        reload::count_failure(kind);
        log::error!("a bucket of the {} corpus cannot be served: {problem}", kind.label());
    }

    /// Why the service cannot do its work, if so.
    fn trouble(&self) -> Option<String> {
        let mut loaded = false;
        for kind in Kind::ALL {
            let Some(served) = self.slot(kind).get() else { continue };
            loaded = true;
            let failing = &self.failing[kind.position()];
            let prefix = HashPrefix::from_value(failing.load(Ordering::Relaxed));
            let Some(prefix) = prefix else { continue };
            // A disk may recover: the bucket that failed is tried again.
            if served.corpus.sound_bytes(prefix, &mut Vec::new()).is_err() {
                return Some(format!("the {} corpus cannot be read", kind.label()));
            }
            failing.store(SOUND, Ordering::Relaxed);
        }
        (!loaded).then(|| "no corpus is loaded".to_owned())
    }
}

/// What one worker has for itself.
pub struct Worker {
    /// What all share.
    pub state: Arc<State>,
    /// Its clones of the corpora in use.
    pub seen: [Seen<Served>; 2],
    /// Memory that it uses again.
    pub scratch: Scratch,
}

/// A worker's own part of the application data.
pub type WorkerCell = RefCell<Worker>;

/// The service.
#[derive(Clone)]
pub struct PasswordRanges {
    state: Arc<State>,
    reloader: Arc<Reloader>,
}

impl PasswordRanges {
    /// Loads the active corpora of a data folder; none is no error, since one may come later.
    pub fn open(settings: &RangeSettings, data_dir: &Path) -> Self {
        let max_age = format!("public, max-age={}", settings.max_age);
        let state = Arc::new(State {
            settings: settings.clone(),
            cache_control: HeaderValue::from_str(&max_age)
                .unwrap_or(HeaderValue::from_static("no-store")),
            slots: Default::default(),
            failing: [const { AtomicU32::new(SOUND) }; 2],
        });
        let folders = settings.kinds.iter().map(|kind| KindFolder::new(data_dir, *kind)).collect();
        let memory_limit = settings.in_memory_limit_mb.saturating_mul(1 << 20);
        let reloader = Arc::new(Reloader::new(folders, memory_limit));
        let service = Self { state, reloader };
        service.reload(true);
        service
    }

    /// Loads corpora that were activated since the last look, or all of them.
    pub fn reload(&self, all: bool) {
        self.reloader.look(all, |corpus| self.state.serve(corpus));
    }

    /// What all workers share.
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Service for PasswordRanges {
    const INFO: ServiceInfo = INFO;

    fn document() -> OpenApi {
        routes::document()
    }

    fn routes(config: &mut ServiceConfig<'_>) {
        routes::routes(config);
    }

    fn state(&self, config: &mut actix_web::web::ServiceConfig) {
        let (seen, scratch) = Default::default();
        config.app_data(RefCell::new(Worker { state: self.state.clone(), seen, scratch }));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(PlainErrors)
    }

    fn shell(&self) -> Shell {
        Shell { compression: false, path: Shell::keep_path, log_path, log_note, ..Shell::default() }
    }

    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>> {
        handlers::around(request, next, self.state.settings.require_user_agent.is_on())
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let trouble = self.state.trouble();
        Box::pin(async move { trouble.map_or(Ok(()), Err) })
    }

    fn background(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        let service = self.clone();
        let interval = self.state.settings.reload_interval;
        vec![Box::pin(reload::watch(interval, move |all| service.reload(all)))]
    }
}

/// What the access log shows: never a prefix, nor anything that could be one.
fn log_path(uri: &Uri) -> std::borrow::Cow<'_, str> {
    let path = uri.path();
    let shown = match path {
        "/" | "/openapi.json" | "/docs" => path,
        _ if path.starts_with("/docs/") => "/docs/",
        _ if handlers::page::SITE.has(path) => path,
        _ if path.starts_with("/range/") => match query::kind(uri.query()) {
            Kind::Sha1 => handlers::range::ROUTE,
            Kind::Ntlm => "/range/{prefix}?mode=ntlm",
        },
        _ => "(other)",
    };
    shown.into()
}

/// What else the access log shows: whether padding was asked for.
fn log_note(request: &HttpRequest) -> &'static str {
    if handlers::range::wants_padding(request) { ", padded" } else { ", not padded" }
}
