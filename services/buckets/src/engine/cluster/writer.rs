//! The one writer of a generation.

mod deletion;
mod publish;

use std::sync::Arc;

use super::ClusterIndex;
use super::journal::{self, Record};
use super::lease::Lease;
use super::link::{ClusterError, Link, Pending};
use super::rows;
use super::schema::{Servers, Tables};
use crate::engine::{
    EngineError, FileWriter, Journal, Mode, NamedBucket, NewFile, OpenRun, Publish, PublishCounts,
};

/// A generation that is open for writing.
pub(super) struct ClusterWriter {
    link: Arc<Link>,
    servers: Servers,
    tables: Tables,
    record: Record,
    lease: Lease,
    /// Rows that are not yet sent.
    buffer: Vec<u8>,
    /// Bytes that are sent together.
    batch: usize,
    pending: Option<Pending>,
    /// Files and bytes of paths given out so far, those not yet durable included.
    files: u64,
    bytes: u64,
    /// An insert failed: some of its rows may be stored, so nothing more may be counted on.
    spoiled: bool,
}

impl ClusterWriter {
    /// Takes the right to write and drops what a killed process left behind its last commit.
    pub(super) fn open(index: &ClusterIndex, memory_mb: usize) -> Result<Self, ClusterError> {
        let name = format!("writer_{}", index.generation);
        let lease = Lease::take(&index.link, &name, "the index is being written")?;
        // A server may have been away when the tables were made, or is new.
        index.tables.create(&index.link, &index.servers)?;
        let record = journal::repair(&index.link, &index.servers, &index.tables)?;
        let mut writer = Self {
            link: Arc::clone(&index.link),
            servers: index.servers.clone(),
            tables: index.tables.clone(),
            files: record.journal.rows,
            bytes: record.journal.bytes,
            record,
            lease,
            buffer: Vec::new(),
            // Two batches are held at a time, and the server needs as much again.
            batch: (memory_mb << 20) / 8,
            pending: None,
            spoiled: false,
        };
        writer.batch = writer.batch.clamp(1 << 20, 128 << 20);
        writer.drop_rows_behind(writer.record.journal.rows)?;
        writer.settle()?;
        Ok(writer)
    }

    /// Makes a state the newest one.
    fn commit(
        &mut self,
        journal: Journal,
        dead: Vec<u64>,
        purges: u64,
    ) -> Result<(), ClusterError> {
        self.lease.check()?;
        let version = self.record.version + 1;
        let last_batch = dead.iter().copied().max().unwrap_or(0).max(self.record.last_batch);
        let record = Record { version, purges, journal, dead, last_batch };
        journal::commit(&self.link, &self.servers, &self.tables, &record)?;
        self.record = record;
        Ok(())
    }

    /// Makes a state the newest one that differs in the journal alone.
    fn commit_journal(&mut self, journal: Journal) -> Result<(), ClusterError> {
        self.commit(journal, self.record.dead.clone(), self.record.purges)
    }

    /// Sends what is buffered and waits until it is stored.
    fn flush(&mut self) -> Result<(), ClusterError> {
        self.send()?;
        self.finish_pending()
    }

    /// Sends what is buffered; one batch is under way at a time.
    fn send(&mut self) -> Result<(), ClusterError> {
        self.finish_pending()?;
        if !self.buffer.is_empty() {
            let rows = std::mem::take(&mut self.buffer);
            let statement = format!("INSERT INTO {} FORMAT RowBinary", self.tables.all_files);
            self.pending = Some(self.link.insert(&self.link.target.base, &statement, rows)?);
        }
        Ok(())
    }

    fn finish_pending(&mut self) -> Result<(), ClusterError> {
        if let Some(Err(error)) = self.pending.take().map(Pending::finish) {
            self.spoiled = true;
            return Err(error);
        }
        if self.spoiled {
            return Err(ClusterError::Wrong(
                "an insert failed; the run goes on from its last checkpoint".to_owned(),
            ));
        }
        Ok(())
    }

    fn open_run(&self) -> Result<&OpenRun, ClusterError> {
        let open = self.record.journal.open.as_ref();
        open.ok_or_else(|| ClusterError::Wrong("no run is under way".to_owned()))
    }

    /// Makes what was added so far durable.
    fn keep(&mut self, progress: Option<String>) -> Result<(), ClusterError> {
        self.flush()?;
        let open = self.record.journal.open.clone().map(|open| OpenRun {
            progress: progress.unwrap_or_else(|| open.progress.clone()),
            ..open
        });
        let (rows, bytes) = (self.files, self.bytes);
        self.commit_journal(Journal { rows, bytes, open, ..self.record.journal.clone() })
    }
}

impl FileWriter for ClusterWriter {
    fn journal(&self) -> &Journal {
        &self.record.journal
    }

    fn begin(&mut self, run: u64) -> Result<(), EngineError> {
        if let Some(open) = &self.record.journal.open {
            return Err(EngineError::Broken(format!("run {} is under way", open.run)));
        }
        self.settle()?;
        let open =
            OpenRun { run, first_row: self.files, first_byte: self.bytes, progress: String::new() };
        Ok(self.commit_journal(Journal { open: Some(open), ..self.record.journal.clone() })?)
    }

    fn add(&mut self, files: &[NewFile]) -> Result<(), EngineError> {
        // The first id of a run names it: unlike the caller's number it is never used again.
        let run = self.open_run()?.first_row + 1;
        for file in files {
            rows::encode(file, self.files + 1, run, &mut self.buffer)?;
            self.files += 1;
            self.bytes += file.path.len() as u64;
            if self.buffer.len() >= self.batch {
                self.send()?;
            }
        }
        Ok(())
    }

    fn checkpoint(&mut self, progress: String) -> Result<(), EngineError> {
        self.open_run()?;
        Ok(self.keep(Some(progress))?)
    }

    fn publish(
        &mut self,
        mode: Mode,
        buckets: Vec<NamedBucket>,
        at: i64,
    ) -> Result<PublishCounts, EngineError> {
        let run = self.open_run()?.run;
        self.keep(None)?;
        let (counts, batch) = self.replaced(mode, &buckets)?;
        let mut dead = self.record.dead.clone();
        dead.extend(batch);
        let purges = self.record.purges + u64::from(batch.is_some());
        let journal = Journal {
            sequence: self.record.journal.sequence + 1,
            open: None,
            published: Some(Publish { run, at, buckets, counts }),
            ..self.record.journal.clone()
        };
        self.commit(journal, dead, purges)?;
        if batch.is_some()
            && let Err(error) = self.delete_dead()
        {
            // The publish stands; the next writer tries again.
            log::warn!("replaced files stay hidden on disk: {error}");
        }
        Ok(counts)
    }

    fn abort(&mut self) -> Result<(), EngineError> {
        let open = self.open_run()?.clone();
        // Whether an insert under way fails no longer matters.
        if let Some(Err(error)) = self.pending.take().map(Pending::finish) {
            log::debug!("the last insert of a run that is given up failed: {error}");
        }
        self.buffer.clear();
        self.spoiled = false;
        (self.files, self.bytes) = (open.first_row, open.first_byte);
        let journal = Journal {
            sequence: self.record.journal.sequence + 1,
            rows: open.first_row,
            bytes: open.first_byte,
            open: None,
            ..self.record.journal.clone()
        };
        self.commit(journal, self.record.dead.clone(), self.record.purges + 1)?;
        // Their ids are given out again, so they have to be gone before.
        Ok(self.drop_rows_behind(open.first_row)?)
    }

    fn remove(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
        progress: Option<String>,
    ) -> Result<u64, EngineError> {
        self.keep(progress)?;
        Ok(self.purge(removal, bucket, prefix)?)
    }
}
