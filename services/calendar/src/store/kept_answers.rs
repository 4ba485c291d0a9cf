//! Answers in memory, each of one state of the content.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db, Pools, ReaderCache, WorkerReader};
use moka::sync::Cache;

use super::feeds;

/// Bytes of memory of an entry besides its key and its answer, about.
const OVERHEAD: usize = 200;

/// How long an answer is kept at most. It can show a text that was erased meanwhile, although it is
/// not sent any more.
const LONGEST: Duration = Duration::from_secs(600);

/// An answer larger than 1 in `LARGEST` of the memory is not kept.
const LARGEST: usize = 8;

/// The state that an answer shows: the content, and the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The version of the content.
    pub version: i64,
    /// The period of time during which the answer stays the same.
    pub period: i64,
}

/// Answers in memory, by request. An answer is used while its moment lasts: until any event, or
/// anything that an event shows, changes.
///
/// The version of the content is read from the database for each request, after the request came
/// in. An answer is made after that, so it shows this version or a later one, and it is only used for
/// requests that find the same version. A process therefore never shows less than the writes that
/// any process has acknowledged.
pub struct KeptAnswers {
    answers: Cache<String, Entry>,
    bytes: usize,
    reader: WorkerReader<ContentVersion>,
}

#[derive(Clone)]
struct Entry {
    moment: Moment,
    bytes: u32,
    /// Of a type that only the caller knows.
    answer: Arc<dyn Any + Send + Sync>,
}

/// The version of the content that a connection sees.
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
    /// Creates an empty store for this many bytes of memory.
    pub fn new(pools: Pools, bytes: usize) -> KeptAnswers {
        let answers = Cache::builder()
            .max_capacity(u64::try_from(bytes).unwrap_or(u64::MAX))
            .weigher(|_: &String, entry: &Entry| entry.bytes)
            .time_to_live(LONGEST)
            .build();
        KeptAnswers { answers, bytes, reader: WorkerReader::new(pools, ()) }
    }

    /// Reads the version of the content.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn version(&self) -> Result<i64, DatabaseError> {
        let version = |db: &mut Db, known: Option<&mut ContentVersion>| match known {
            Some(version) => Ok(version.0),
            None => feeds::version(db),
        };
        self.reader.read(true, version).await
    }

    /// Returns the answer to a request if it was made at this moment.
    pub fn get<T: Any + Send + Sync>(&self, request: &str, moment: Moment) -> Option<Arc<T>> {
        let entry = self.answers.get(request).filter(|entry| entry.moment == moment)?;
        entry.answer.downcast().ok()
    }

    /// Keeps the answer to a request, which takes this many bytes. It replaces that of an earlier
    /// moment.
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

    /// Drops old answers, and returns the bytes of memory of the others, about.
    pub fn tidy(&self) -> u64 {
        self.answers.run_pending_tasks();
        self.answers.weighted_size()
    }
}
