//! The cluster writer. Keeps track of which rows are buffered, stored and committed.

use std::sync::Arc;

use super::super::client::{Client, Pending};
use super::super::error::ClusterError;
use super::super::features::Features;
use super::super::generation::Generation;
use super::super::journal::{self, Record};
use super::super::layout::Layout;
use super::super::lease::{self, Lease};
use super::super::schema::Tables;
use super::super::servers::Servers;
use crate::engine::bitmap::Bitmap;
use crate::engine::index::PublishRules;
use crate::engine::journal::{Journal, OpenRun};

/// Writes to a generation.
pub(in super::super) struct ClusterWriter {
    pub(super) client: Arc<Client>,
    pub(super) servers: Servers,
    pub(super) tables: Tables,
    pub(super) layout: Layout,
    pub(super) features: Features,
    pub(super) record: Record,
    /// Value of `settled` for the states committed from now on.
    pub(super) settled: bool,
    pub(super) lease: Lease,
    /// Rows that haven't been sent yet.
    pub(super) buffer: Vec<u8>,
    /// Batch size in bytes.
    pub(super) batch: usize,
    pub(super) pending: Option<Pending>,
    /// Number of files, including uncommitted ones, and the total length of their paths.
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Set when an insert fails. The writer is no longer usable, because some of the rows might
    /// have been stored.
    pub(super) failed: bool,
    pub(super) rules: PublishRules,
    /// Buckets changed by the last publish.
    pub(super) changed: Bitmap,
}

impl Drop for ClusterWriter {
    /// Waits for a pending insert while this process still has the lease. Otherwise, its rows could
    /// arrive after the next writer has cleaned up uncommitted rows.
    fn drop(&mut self) {
        if let Some(Err(error)) = self.pending.take().map(Pending::finish) {
            log::debug!("the last insert of an abandoned writer failed: {error}");
        }
    }
}

impl ClusterWriter {
    /// Takes the write lock and cleans up any uncommitted rows of a killed process.
    pub(in super::super) fn open(
        index: &Generation,
        memory_mb: usize,
    ) -> Result<Self, ClusterError> {
        let name = lease::of_generation(index.number);
        let lease = Lease::take(&index.client, &name, "the index is being written")?;
        // A server might be new, or might have been down when the tables were created.
        let features = Features::of(&index.client, &index.servers)?;
        index.tables.create(&index.client, &index.servers, index.layout, features)?;
        let record = journal::repair(&index.client, &index.servers, &index.tables)?;
        let mut writer = Self {
            client: Arc::clone(&index.client),
            servers: index.servers.clone(),
            tables: index.tables.clone(),
            layout: index.layout,
            features,
            settled: true,
            files: record.journal.rows,
            bytes: record.journal.bytes,
            record,
            lease,
            buffer: Vec::new(),
            // Up to two batches are kept in memory, and the server needs the same amount again.
            batch: (memory_mb << 20) / 8,
            pending: None,
            failed: false,
            rules: PublishRules::default(),
            changed: Bitmap::default(),
        };
        writer.batch = writer.batch.clamp(1 << 20, 128 << 20);
        writer.wait_for_inserts()?;
        writer.delete_rows_after(writer.record.journal.rows)?;
        writer.forget_deleted_batches()?;
        Ok(writer)
    }

    /// Publishes a state.
    pub(super) fn commit(
        &mut self,
        journal: Journal,
        dead: Vec<u64>,
        purges: u64,
    ) -> Result<(), ClusterError> {
        self.lease.check()?;
        let version = self.record.version + 1;
        let last_batch = dead.iter().copied().max().unwrap_or(0).max(self.record.last_batch);
        let settled = self.settled;
        let record = Record { version, purges, journal, dead, last_batch, settled };
        journal::commit(&self.client, &self.servers, &self.tables, &record)?;
        self.record = record;
        Ok(())
    }

    /// Publishes a state in which only the journal has changed.
    pub(super) fn commit_journal(&mut self, journal: Journal) -> Result<(), ClusterError> {
        self.commit(journal, self.record.dead.clone(), self.record.purges)
    }

    /// Sends the buffered rows and waits until they are stored.
    fn flush(&mut self) -> Result<(), ClusterError> {
        self.send()?;
        self.finish_pending()
    }

    /// Sends the buffered rows. Only one batch is in flight at a time.
    pub(super) fn send(&mut self) -> Result<(), ClusterError> {
        self.finish_pending()?;
        if !self.buffer.is_empty() {
            // If this process was suspended for longer than the lease, another writer might be
            // using these ids.
            self.lease.check()?;
            let rows = std::mem::take(&mut self.buffer);
            let statement = format!("INSERT INTO {} FORMAT RowBinary", self.tables.all_files);
            self.pending = Some(self.client.insert(&self.client.target.base, &statement, rows)?);
        }
        Ok(())
    }

    fn finish_pending(&mut self) -> Result<(), ClusterError> {
        if let Some(Err(error)) = self.pending.take().map(Pending::finish) {
            self.failed = true;
            return Err(error);
        }
        if self.failed {
            return Err(ClusterError::Invalid(
                "an insert failed; resume the run from its last checkpoint".to_owned(),
            ));
        }
        Ok(())
    }

    pub(super) fn open_run(&self) -> Result<&OpenRun, ClusterError> {
        let open = self.record.journal.open.as_ref();
        open.ok_or_else(|| ClusterError::Invalid("there is no open run".to_owned()))
    }

    /// Makes sure that all files added so far are durable.
    pub(super) fn make_durable(&mut self, progress: Option<String>) -> Result<(), ClusterError> {
        self.flush()?;
        let open = self.record.journal.open.clone().map(|open| OpenRun {
            progress: progress.unwrap_or_else(|| open.progress.clone()),
            ..open
        });
        let (rows, bytes) = (self.files, self.bytes);
        self.commit_journal(Journal { rows, bytes, open, ..self.record.journal.clone() })
    }
}
