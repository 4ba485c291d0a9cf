//! State shared by handlers, use cases and the server: connection pools, clock, gate, and the
//! in-memory snapshot.

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use auth::{Gate, KeyStore, Quotas};
use database::{Backend, DatabaseError, Db, Pools, WorkerReader};
use domain::{Sha1Digest, SharedClock};
use shell::SettingError;
use tokio::sync::Mutex;

use crate::config::Settings;
use crate::external::External;
use crate::model::form_key::FormKey;
use crate::model::verification::DenyList;
use crate::model::{BlockList, OptOut};
use crate::policy::KeyPolicy;
use crate::store::accounts::{AccountFilters, AccountRow};
use crate::store::known_keys::SharedKeys;
use crate::store::layout::Layout;
use crate::store::reader_cache::ReaderCache;
use crate::store::versions::Versions;
use crate::store::{blocks, breaches, opt_outs, server_keys, versions};
use crate::wire::CatalogueAnswers;

/// Server state. Cheap to clone; all clones share the same data.
#[derive(Clone)]
pub struct State {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    layout: Layout,
    reader: WorkerReader<ReaderCache>,
    /// Only on PostgreSQL. Connections to SQLite have their own caches.
    shared_keys: Option<SharedKeys>,
    clock: SharedClock,
    gate: Gate,
    quotas: Quotas,
    settings: Settings,
    external: External,
    deny_list: DenyList,
    form_key: FormKey,
    snapshot: ArcSwap<Snapshot>,
    /// Description of data that is currently unreachable.
    missing: ArcSwap<Option<String>>,
    /// Held while a new snapshot is read and stored.
    reloading: Mutex<()>,
}

/// In-memory copy of the catalogue, opt-outs and block list, all read at the same point in time.
/// Snapshots are immutable; if the database changes, a new one takes their place.
#[derive(Debug)]
pub struct Snapshot {
    /// The catalogue and its pre-rendered responses.
    pub answers: Arc<CatalogueAnswers>,
    pub opt_outs: Arc<opt_outs::OptOuts>,
    /// Clients blocked by the operator.
    pub blocks: BlockList,
    versions: Versions,
}

impl Snapshot {
    /// Reads everything that has changed since `previous`.
    ///
    /// # Errors
    /// Returns an error if a query fails.
    pub fn load(
        db: &mut Db,
        settings: &Settings,
        previous: Option<&Self>,
    ) -> Result<Self, DatabaseError> {
        // Read the versions first, so that the next reload notices any change made while we're
        // loading.
        let versions = versions::current(db)?;
        let answers = match previous {
            Some(old) if old.versions.has_same_catalogue(&versions) => Arc::clone(&old.answers),
            _ => {
                let catalogue = breaches::catalogue(db)?;
                Arc::new(CatalogueAnswers::new(catalogue).map_err(DatabaseError::broken)?)
            }
        };
        let opt_outs = match previous {
            Some(old) if old.versions.opt_out == versions.opt_out => Arc::clone(&old.opt_outs),
            _ => Arc::new(opt_outs::OptOuts::load(db, settings.optout_memory_max)?),
        };
        Ok(Self { answers, opt_outs, blocks: block_list(db)?, versions })
    }
}

impl Snapshot {
    /// Returns `true` if another snapshot has the same catalogue and opt-outs.
    pub fn has_same_data(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.answers, &other.answers) && Arc::ptr_eq(&self.opt_outs, &other.opt_outs)
    }

    /// Checks whether the owner of an account had all their data removed. In that case, the account
    /// shouldn't have a row at all.
    ///
    /// # Errors
    /// Returns an error if the query fails.
    pub fn is_removed(&self, db: &mut Db, row: &AccountRow) -> Result<bool, DatabaseError> {
        Ok(self.opt_outs.may_contain(row.key())
            && self.opt_outs.get(db, &Sha1Digest::of(row.address()))? == Some(OptOut::Breaches))
    }
}

/// Reads the block list. Entries that don't parse as networks are skipped with a warning.
fn block_list(db: &mut Db) -> Result<BlockList, DatabaseError> {
    let (mut list, mut invalid) = (BlockList::default(), HashSet::new());
    for row in blocks::all(db)? {
        match row.cidr.map(|cidr| cidr.parse()) {
            Some(Ok(network)) => list.add_network(network, row.until),
            Some(Err(_)) => drop(invalid.insert(row.id)),
            None => {}
        }
        if let Some(agent) = row.user_agent {
            list.add_agent(&agent, row.until);
        }
    }
    if !invalid.is_empty() {
        log::warn!("skipped block list entries that are not networks: {invalid:?}");
    }
    Ok(list)
}

/// Reads the deny list specified in the settings, or returns the built-in one.
///
/// # Errors
/// Fails if the file can't be read or a line isn't a domain. The error includes the file's path.
pub fn deny_list(settings: &Settings) -> anyhow::Result<DenyList> {
    let Some(path) = &settings.verification.verify_deny else {
        return DenyList::built_in().map_err(anyhow::Error::msg);
    };
    let list = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|text| DenyList::parse(&text));
    Ok(list.map_err(|error| SettingError(format!("VERIFY_DENY {}: {error}", path.display())))?)
}

/// Reads the form token key. It is created on first start and shared by all replicas. If the
/// database is read-only, returns a key known only to this process.
fn form_key(pools: &Pools) -> Result<FormKey, DatabaseError> {
    if let Some(known) = pools.read_blocking(server_keys::forms)? {
        return Ok(FormKey::new(known));
    }
    let mut new = vec![0; 32];
    getrandom::fill(&mut new).map_err(DatabaseError::broken)?;
    let stored = pools.write_blocking(|db| server_keys::ensure_forms(db, &new));
    Ok(FormKey::new(stored.unwrap_or_else(|error: DatabaseError| {
        log::warn!("the form token key could not be stored: {error}");
        new
    })))
}

impl State {
    /// Creates the state and loads the first snapshot.
    ///
    /// # Errors
    /// Fails if the database or the deny list can't be read.
    pub fn new(
        pools: Pools,
        clock: SharedClock,
        settings: Settings,
        external: External,
    ) -> anyhow::Result<Self> {
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let quotas = Quotas::new(clock.clone());
        let gate = Gate::new(keys, quotas.clone(), KeyPolicy::new(&settings));
        let deny_list = deny_list(&settings)?;
        let snapshot = pools.read_blocking(|db| Snapshot::load(db, &settings, None))?;
        let layout = pools.read_blocking(Layout::of)?;
        let form_key = form_key(&pools)?;
        Ok(Self {
            inner: Arc::new(Inner {
                reader: WorkerReader::new(pools.clone(), AccountFilters::default()),
                shared_keys: (pools.backend() == Backend::Postgres)
                    .then(|| SharedKeys::new(pools.clone())),
                gate,
                quotas,
                pools,
                layout,
                clock,
                settings,
                external,
                deny_list,
                form_key,
                snapshot: ArcSwap::from_pointee(snapshot),
                missing: ArcSwap::from_pointee(None),
                reloading: Mutex::default(),
            }),
        })
    }

    /// Returns the database connection pools.
    pub fn pools(&self) -> &Pools {
        &self.inner.pools
    }

    /// Returns the layout of the account tables.
    pub fn layout(&self) -> Layout {
        self.inner.layout
    }

    /// Returns the reader for short queries during a request.
    pub fn reader(&self) -> &WorkerReader<ReaderCache> {
        &self.inner.reader
    }

    /// Returns the cache of API keys. `None` on SQLite.
    pub fn shared_keys(&self) -> Option<&SharedKeys> {
        self.inner.shared_keys.as_ref()
    }

    pub fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// Returns the gate that checks keys and charges requests.
    pub fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    /// Returns the rate limits for the web pages.
    pub fn quotas(&self) -> &Quotas {
        &self.inner.quotas
    }

    /// Returns the key that signs form tokens.
    pub fn form_key(&self) -> &FormKey {
        &self.inner.form_key
    }

    /// Returns the settings of this service.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Returns the clients for mail servers, name servers and websites.
    pub fn external(&self) -> &External {
        &self.inner.external
    }

    /// Returns the domains that can't be verified.
    pub fn deny_list(&self) -> &DenyList {
        &self.inner.deny_list
    }

    /// Returns the account filters, which all read connections share.
    pub fn account_filters(&self) -> &AccountFilters {
        self.inner.reader.shared()
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot.load_full()
    }

    /// Describes any unreachable data to the operator. `None` if everything is reachable.
    pub fn missing(&self) -> Option<String> {
        self.inner.missing.load().as_ref().clone()
    }

    /// Records which data is unreachable.
    pub fn set_missing(&self, missing: Option<String>) {
        self.inner.missing.store(Arc::new(missing));
    }

    /// Returns the versions of the current snapshot.
    pub fn snapshot_versions(&self) -> Versions {
        self.inner.snapshot.load().versions
    }

    /// Renews the cache of domain names. For PostgreSQL.
    ///
    /// # Errors
    /// Returns an error if the query fails.
    pub async fn renew_names(&self) -> Result<(), DatabaseError> {
        let (state, now) = (self.clone(), self.clock().unix());
        self.inner.pools.read_long(move |db| state.account_filters().renew_names(db, now)).await
    }

    /// Loads a new snapshot if the database has changed. Concurrent calls run one at a time so that
    /// an older snapshot can't replace a newer one.
    ///
    /// # Errors
    /// Returns an error if a query fails. The old snapshot stays in place.
    pub async fn reload(&self) -> Result<(), DatabaseError> {
        let state = self.clone();
        let _turn = self.inner.reloading.lock().await;
        self.inner
            .pools
            .read(move |db| {
                let old = state.snapshot();
                let new = Snapshot::load(db, state.settings(), Some(&old))?;
                state.inner.snapshot.store(Arc::new(new));
                Ok(())
            })
            .await
    }
}
