//! Downloads search results as CSV or NDJSON.

use std::sync::Arc;

use database::{Db, off_worker};
use futures_util::stream::{once, try_unfold};
use futures_util::{Stream, StreamExt};

use super::files::{Extent, record, run_prepared};
use super::search::{limits, list};
use super::takedowns::takedowns_in_force;
use crate::engine::FileList;
use crate::error::Error;
use crate::metrics;
use crate::model::takedowns::Takedowns;
use crate::state::{Snapshot, State};
use crate::wire::download::DownloadFormat;
use crate::wire::files::FileSearch;

/// Files per chunk. With the longest possible paths, a chunk takes about 5 MB.
const PART: usize = 256;

/// A download that is ready to stream.
pub struct Download<S> {
    /// Total number of matching files.
    pub results: u64,
    /// Number of files in the download.
    pub files: u64,
    /// Streams the chunks. Dropping the stream cancels the download.
    pub parts: S,
}

/// Runs a search within the limits of the caller's package and streams its files in chunks, as fast
/// as the client reads them. All chunks come from the same index state, minus any files that are
/// removed during the download.
pub async fn download_files(
    state: &State,
    caller: (&str, Option<&str>),
    request: &FileSearch,
    format: DownloadFormat,
) -> Result<Download<impl Stream<Item = Result<Vec<u8>, Error>> + use<>>, Error> {
    if request.scrolling {
        let text = "paging-mode=scrolling is only for JSON: a download has all files";
        return Err(Error::parameter("paging-mode", text));
    }
    let place = DownloadPlace::take(state, caller.0)?;
    let run = async |snapshot: &Snapshot, query| list(state, snapshot, caller.0, query).await;
    let (prepared, list) = run_prepared(state, caller, request, Extent::Download, run).await?;
    metrics::searched("searchFiles", list.total());
    let (results, files) = (list.total(), list.files());
    let snapshot = prepared.snapshot;
    let reading = Reading { state: state.clone(), snapshot, list, format, _place: place };
    let header = once(async move { Ok(format.header().as_bytes().to_vec()) });
    let parts = try_unfold(reading, Reading::next);
    Ok(Download { results, files, parts: header.chain(parts) })
}

/// A download in progress.
struct Reading {
    state: State,
    /// Keeps the index open for as long as `list` needs it.
    snapshot: Arc<Snapshot>,
    list: Box<dyn FileList>,
    format: DownloadFormat,
    _place: DownloadPlace,
}

impl Reading {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, Error> {
        let (limits, _guard) = limits(&self.state);
        let reading = off_worker(move || -> Result<_, Error> {
            let Some(rows) = self.list.next(PART, &limits)? else { return Ok(None) };
            let takedowns = self.takedowns()?;
            let mut part = Vec::new();
            for row in rows.into_iter().filter(|row| !takedowns.hides(row.bucket, &row.path)) {
                if let Some(file) = record(&self.snapshot, row) {
                    self.format.push(&file, &mut part);
                }
            }
            Ok(Some((part, self)))
        });
        reading.await.map_err(|error| Error::Internal(error.to_string()))?
    }

    /// Returns the removals that hide files from the rest of the download. If a rebuild has
    /// replaced this index, that includes completed removals, because they no longer erase files
    /// from it.
    fn takedowns(&self) -> Result<Takedowns, Error> {
        let now = self.state.snapshot();
        let mut takedowns = now.takedowns.clone();
        if now.generation != self.snapshot.generation {
            let in_force = |db: &mut Db| takedowns_in_force(db, &self.snapshot);
            takedowns.add_all(&self.state.pools().read_blocking(in_force)?);
        }
        Ok(takedowns)
    }
}

/// One of the concurrent download slots. Freed on drop. An account can only take half of the slots,
/// so it can never lock out other accounts.
struct DownloadPlace {
    state: State,
    account: String,
}

impl DownloadPlace {
    fn take(state: &State, account: &str) -> Result<Self, Error> {
        let most = state.settings().downloads_running;
        let mut running = state.downloads().lock();
        let all: usize = running.values().sum();
        let own = running.get(account).copied().unwrap_or(0);
        if all >= most || own >= most.div_ceil(2) {
            return Err(Error::ManyDownloads);
        }
        running.insert(account.to_owned(), own + 1);
        Ok(Self { state: state.clone(), account: account.to_owned() })
    }
}

impl Drop for DownloadPlace {
    fn drop(&mut self) {
        let mut running = self.state.downloads().lock();
        let Some(own) = running.get_mut(&self.account) else { return };
        *own -= 1;
        if *own == 0 {
            running.remove(&self.account);
        }
    }
}
