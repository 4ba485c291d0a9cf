//! Implements [`FileWriter`] for the cluster.

use super::super::client::Pending;
use super::super::rows;
use super::cluster_writer::ClusterWriter;
use super::publish::{Changes, Groups};
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::index::{FileWriter, NewFile, PublishRules};
use crate::engine::journal::{Journal, Mode, NamedBucket, OpenRun, Publish, PublishCounts};
use crate::model::identity::Identity;

impl FileWriter for ClusterWriter {
    fn journal(&self) -> &Journal {
        &self.record.journal
    }

    fn identify(&mut self, identity: Identity) {
        self.record.journal.identity = identity;
    }

    fn rules(&mut self) -> &mut PublishRules {
        &mut self.rules
    }

    fn begin(&mut self, run: u64) -> Result<(), EngineError> {
        if let Some(open) = &self.record.journal.open {
            return Err(EngineError::Broken(format!("run {} is open", open.run)));
        }
        self.forget_deleted_batches()?;
        let open =
            OpenRun { run, first_row: self.files, first_byte: self.bytes, progress: String::new() };
        Ok(self.commit_journal(self.record.journal.with_run(open))?)
    }

    fn add(&mut self, files: &[NewFile]) -> Result<(), EngineError> {
        // Runs are identified by their first id. It is unique among stored runs, whereas the
        // caller's run numbers can repeat.
        let run = self.open_run()?.first_row + 1;
        for file in files {
            rows::encode(file, self.files + 1, run, self.layout, &mut self.buffer)?;
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
        Ok(self.make_durable(Some(progress))?)
    }

    fn publish(
        &mut self,
        mode: Mode,
        buckets: Vec<NamedBucket>,
        at: i64,
    ) -> Result<PublishCounts, EngineError> {
        let run = self.open_run()?.run;
        self.make_durable(None)?;
        self.refuse_foreign_rows()?;
        let mut known = Groups::default();
        if let Some(limit) = self.rules.removal_limit {
            let losses = self.losses(mode, &buckets, limit.files, &mut known)?;
            let exceeded = limit.exceeded(losses);
            if !exceeded.is_empty() {
                return Err(EngineError::TooManyRemoved(exceeded));
            }
        }
        let Changes { counts, changed, confirmed, batch } =
            self.replaced(mode, &buckets, &mut known)?;
        let mut dead = self.record.dead.clone();
        dead.extend(batch);
        let purges = self.record.purges + u64::from(batch.is_some());
        let begun_at = self.rules.begun_at;
        let published = Publish { run, at, buckets, counts, confirmed, begun_at };
        let journal = self.record.journal.with_publish(published);
        self.commit(journal, dead, purges)?;
        if batch.is_some()
            && let Err(error) = self.drop_replaced()
        {
            // The publish itself succeeded. The next writer retries the deletion.
            log::warn!("replaced files stay hidden on disk: {error}");
        }
        self.changed = changed;
        Ok(counts)
    }

    fn changed_buckets(&self) -> &Bitmap {
        &self.changed
    }

    fn abort(&mut self) -> Result<(), EngineError> {
        let open = self.open_run()?.clone();
        // At this point, it doesn't matter whether the pending insert succeeded.
        if let Some(Err(error)) = self.pending.take().map(Pending::finish) {
            log::debug!("the last insert of an abandoned run failed: {error}");
        }
        self.buffer.clear();
        self.failed = false;
        (self.files, self.bytes) = (open.first_row, open.first_byte);
        let journal = Journal {
            sequence: self.record.journal.sequence + 1,
            rows: open.first_row,
            bytes: open.first_byte,
            open: None,
            ..self.record.journal.clone()
        };
        self.settled = false;
        self.commit(journal, self.record.dead.clone(), self.record.purges + 1)?;
        // The ids will be reused, so the rows must be deleted first.
        self.delete_rows_after(open.first_row)?;
        self.settled = true;
        Ok(self.commit_journal(self.record.journal.clone())?)
    }

    fn remove(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
        progress: Option<String>,
    ) -> Result<u64, EngineError> {
        self.make_durable(progress)?;
        Ok(self.purge(removal, bucket, prefix)?)
    }
}
