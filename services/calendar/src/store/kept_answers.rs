//! An in-memory response cache. Each response is valid for one version of the content.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, NumberReader, Pools, ReaderCache, WorkerReader};
use moka::sync::Cache;

use super::feeds;

/// Approximate overhead per entry in bytes, on top of the key and response.
const OVERHEAD: usize = 200;

/// How long to keep a response. Erased text can remain in memory for this long, but is never sent.
const LONGEST: Duration = Duration::from_secs(600);

/// Don't cache responses larger than 1/`LARGEST` of the cache.
const LARGEST: usize = 8;

/// The content version and time period that a response is valid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The content version.
    pub version: i64,
    /// The time period during which the response stays the same.
    pub period: i64,
}

/// A cached response. Might be outdated.
pub struct Kept<T> {
    pub moment: Moment,
    pub answer: Arc<T>,
}

/// Caches responses by request. A response is valid until its period ends or until an event, or
/// anything shown with events, changes.
///
/// The content version is read from the database after a request has arrived and before the
/// response is built, so the response reflects that version or a later one. It is only reused for
/// requests that see the same version. This way, a process never misses a write that any process
/// has acknowledged.
pub struct KeptAnswers {
    answers: Cache<String, Entry>,
    bytes: usize,
    /// Reads the content version on PostgreSQL.
    number: NumberReader,
    reader: WorkerReader<ContentVersion>,
}

#[derive(Clone)]
struct Entry {
    moment: Moment,
    bytes: u32,
    /// The response. Only the caller knows its type.
    answer: Arc<dyn Any + Send + Sync>,
}

/// The content version as seen by a connection.
#[derive(Default)]
struct ContentVersion(i64);

impl ReaderCache for ContentVersion {
    type Shared = ();

    fn refresh(&mut self, db: &mut Db, (): &()) -> Result<(), DatabaseError> {
        self.0 = feeds::version(db)?;
        Ok(())
    }
}

impl KeptAnswers {
    /// Creates an empty cache with a maximum size in bytes.
    pub fn new(pools: Pools, bytes: usize) -> KeptAnswers {
        let answers = Cache::builder()
            .max_capacity(u64::try_from(bytes).unwrap_or(u64::MAX))
            .weigher(|_: &String, entry: &Entry| entry.bytes)
            .time_to_live(LONGEST)
            .build();
        let number = NumberReader::new(pools.clone(), feeds::VERSION_QUERY);
        KeptAnswers { answers, bytes, number, reader: WorkerReader::new(pools, ()) }
    }

    /// Reads the content version.
    ///
    /// # Errors
    /// Returns any database error.
    pub async fn version(&self) -> Result<i64, DatabaseError> {
        if let Some(version) = self.number.read().await {
            return Ok(version);
        }
        let version = |db: &mut Db, known: Option<&mut ContentVersion>| match known {
            Some(version) => Ok(version.0),
            None => feeds::version(db),
        };
        self.reader.read(true, version).await
    }

    /// Returns the cached response to a request. The caller must check that it is still valid, by
    /// comparing its [`Moment`].
    pub fn get<T: Any + Send + Sync>(&self, request: &str) -> Option<Kept<T>> {
        let Entry { moment, answer, .. } = self.answers.get(request)?;
        Some(Kept { moment, answer: answer.downcast().ok()? })
    }

    /// Caches a response of this size in bytes. Replaces any earlier response to the same request.
    pub fn put<T: Any + Send + Sync>(
        &self,
        request: String,
        moment: Moment,
        answer: Arc<T>,
        bytes: usize,
    ) {
        let bytes = bytes + request.len() + OVERHEAD;
        if bytes > self.bytes / LARGEST {
            return;
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.answers.insert(request, Entry { moment, bytes, answer });
    }

    /// Drops expired responses and returns the approximate size of the rest in bytes.
    pub fn tidy(&self) -> u64 {
        self.answers.run_pending_tasks();
        self.answers.weighted_size()
    }
}
