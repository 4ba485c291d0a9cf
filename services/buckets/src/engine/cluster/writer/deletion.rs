//! Deletes rows with ClickHouse mutations and waits for them to finish.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::super::error::ClusterError;
use super::super::journal::dead_in;
use super::super::rows::Rows;
use super::super::schema::Tables;
use super::super::servers::Server;
use super::super::sql;
use super::cluster_writer::ClusterWriter;

const POLL: Duration = Duration::from_millis(50);
/// How long to wait before making the server delete its outdated parts.
const WAKE_AFTER: Duration = Duration::from_millis(1_500);
/// Timeout after which a server is considered broken.
const LONGEST: Duration = Duration::from_secs(6 * 3_600);

/// When to erase deleted rows from disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Erasure {
    /// As part of the deletion.
    Now,
    /// During a later merge, if the server supports that.
    Later,
}

impl ClusterWriter {
    fn deletion(&self, condition: &str, erasure: Erasure) -> String {
        let files = &self.tables.files;
        if erasure == Erasure::Later && self.features.lightweight_delete {
            format!("DELETE FROM {files} WHERE {condition} SETTINGS lightweight_deletes_sync = 0")
        } else {
            format!("ALTER TABLE {files} DELETE WHERE {condition}")
        }
    }

    /// Waits for inserts left behind by a killed writer. If they finished later, their rows would
    /// get the same ids as new rows.
    pub(super) fn wait_for_inserts(&self) -> Result<(), ClusterError> {
        let into = |table: &str| {
            format!("startsWith(query, {})", sql::text(&format!("INSERT INTO {table} ")))
        };
        let Tables { files, all_files, .. } = &self.tables;
        let statement = format!(
            "SELECT count() FROM system.processes WHERE {} OR {} FORMAT RowBinary",
            into(files),
            into(all_files)
        );
        self.servers.all().iter().try_for_each(|server| {
            self.wait("an insert of another process", || {
                Ok(Rows::of(&self.client.execute(&server.url, &statement)?).u64()? == 0)
            })
        })
    }

    /// Returns an error if the open run has rows that this writer didn't add.
    pub(super) fn refuse_foreign_rows(&self) -> Result<(), ClusterError> {
        let first = self.open_run()?.first_row;
        let mut rows = 0;
        for server in self.servers.one_of_each_shard() {
            rows += self.count(server, &format!("id > {first}"))?;
        }
        if rows <= self.files - first {
            return Ok(());
        }
        let why = "the index contains rows from another process, whose insert finished late: start \
                   another load";
        Err(ClusterError::Invalid(why.to_owned()))
    }

    /// Deletes rows that don't belong to any state and waits until they are gone.
    pub(super) fn delete_rows_after(&self, last: u64) -> Result<(), ClusterError> {
        let condition = format!("id > {last}");
        let mut touched = Vec::new();
        for server in self.servers.all() {
            if self.count(server, &condition)? > 0 {
                self.lease.check()?;
                self.client.execute(&server.url, &self.deletion(&condition, Erasure::Later))?;
                touched.push(server);
            }
        }
        touched.into_iter().try_for_each(|server| self.wait_for_mutations(server))
    }

    /// Starts deleting replaced rows. On servers with lightweight deletes, waits until the rows are
    /// marked. Searches then no longer have to exclude these rows, and ClickHouse can use its
    /// indexes again.
    pub(super) fn drop_replaced(&mut self) -> Result<(), ClusterError> {
        self.delete_dead(Erasure::Later)?;
        if self.features.lightweight_delete {
            for server in self.servers.all() {
                self.wait_for_mutations(server)?;
            }
            self.forget_deleted_batches()?;
        }
        Ok(())
    }

    /// Starts deleting the batches of dead rows.
    fn delete_dead(&self, erasure: Erasure) -> Result<(), ClusterError> {
        let Tables { files, dead, .. } = &self.tables;
        let batches = &self.record.dead;
        let condition = format!(
            "bucket IN (SELECT bucket FROM {dead} WHERE batch IN {}) AND {}",
            sql::numbers(batches),
            dead_in(dead, batches)
        );
        self.delete_on_all_servers(&self.deletion(&condition, erasure))?;
        if erasure == Erasure::Now && self.features.lightweight_delete {
            // Earlier publishes might have left marked rows in the same bucket.
            self.on_all_servers(&format!("ALTER TABLE {files} APPLY DELETED MASK"))?;
        }
        Ok(())
    }

    /// Drops finished batches from the record. If a process was killed while deleting, the deletion
    /// is restarted.
    pub(super) fn forget_deleted_batches(&mut self) -> Result<(), ClusterError> {
        if self.record.dead.is_empty() {
            return Ok(());
        }
        for server in self.servers.all() {
            if self.running_mutations(server)? > 0 {
                return Ok(());
            }
        }
        let condition = self.record.is_dead(&self.tables);
        for server in self.servers.all() {
            if self.count(server, &condition)? > 0 {
                return self.delete_dead(Erasure::Later);
            }
        }
        let (journal, purges) = (self.record.journal.clone(), self.record.purges);
        self.commit(journal, Vec::new(), purges)?;
        self.delete_on_all_servers(&format!("TRUNCATE TABLE {}", self.tables.dead))
    }

    /// Hides a bucket or prefix, deletes its rows and waits until they are erased from disk.
    /// Returns the number of files that were visible before.
    pub(super) fn purge(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
    ) -> Result<u64, ClusterError> {
        let mut condition = format!("bucket = {bucket}");
        if let Some(prefix) = prefix {
            condition.push_str(&format!(" AND startsWith(path, {})", sql::text(prefix)));
        }
        let visible = self.record.visible(&self.tables);
        let mut hidden = 0;
        for server in self.servers.one_of_each_shard() {
            hidden += self.count(server, &format!("{visible} AND {condition}"))?;
        }
        // ClickHouse stores the text of mutations. It must not contain any paths, so refer to the
        // batch instead.
        let batch = self.new_batch()?;
        let Tables { files, dead, .. } = &self.tables;
        let columns = if prefix.is_some() { "0, id" } else { "run, 0" };
        self.on_all_servers(&format!(
            "INSERT INTO {dead} SELECT DISTINCT {batch}, bucket, {columns} FROM {files} \
             WHERE {condition}"
        ))?;
        let mut batches = self.record.dead.clone();
        batches.push(batch);
        let journal = self.record.journal.with_removal(removal, hidden);
        self.commit(journal, batches, self.record.purges + 1)?;
        self.erase()?;
        Ok(self.record.journal.removed)
    }

    /// Deletes the batches of dead rows and waits until they are erased from disk.
    fn erase(&mut self) -> Result<(), ClusterError> {
        if self.features.cleanup_thread {
            // Tables from earlier versions have other settings.
            let settings = self.features.part_settings();
            for table in [&self.tables.files, &self.tables.journal] {
                self.on_all_servers(&format!("ALTER TABLE {table} MODIFY SETTING {settings}"))?;
            }
        }
        self.delete_dead(Erasure::Now)?;
        for server in self.servers.all() {
            self.wait_for_mutations(server)?;
        }
        self.forget_deleted_batches()?;
        for server in self.servers.journal_servers() {
            self.forget_older_states(server)?;
        }
        for server in self.servers.all() {
            self.wait_for_old_parts(server, &self.tables.files)?;
        }
        for server in self.servers.journal_servers() {
            self.wait_for_old_parts(server, &self.tables.journal)?;
        }
        Ok(())
    }

    /// Merges the journal until only the newest state is left. The progress of a run in earlier
    /// states can contain file names.
    fn forget_older_states(&self, server: &Server) -> Result<(), ClusterError> {
        let journal = &self.tables.journal;
        let merge = format!("OPTIMIZE TABLE {journal} FINAL");
        let count = format!("SELECT count() FROM {journal} FORMAT RowBinary");
        // This has no effect while the server is merging the table by itself.
        self.wait("a merge of the journal", || {
            self.client.execute(&server.url, &merge)?;
            Ok(Rows::of(&self.client.execute(&server.url, &count)?).u64()? <= 1)
        })
    }

    /// Returns an unused batch number, even if earlier attempts failed halfway.
    pub(super) fn new_batch(&self) -> Result<u64, ClusterError> {
        let statement = format!("SELECT max(batch) FROM {} FORMAT RowBinary", self.tables.dead);
        let mut last = self.record.last_batch;
        for server in self.servers.all() {
            last = last.max(Rows::of(&self.client.execute(&server.url, &statement)?).u64()?);
        }
        Ok(last + 1)
    }

    /// Runs a deletion on each server. Checks the write lock every time, because this process might
    /// have been suspended for longer than the lease.
    fn delete_on_all_servers(&self, statement: &str) -> Result<(), ClusterError> {
        self.servers.all().iter().try_for_each(|server| {
            self.lease.check()?;
            self.client.execute(&server.url, statement).map(drop)
        })
    }

    /// Runs a statement on each server.
    pub(super) fn on_all_servers(&self, statement: &str) -> Result<(), ClusterError> {
        let mut servers = self.servers.all().iter();
        servers.try_for_each(|server| self.client.execute(&server.url, statement).map(drop))
    }

    fn count(&self, server: &Server, condition: &str) -> Result<u64, ClusterError> {
        let files = &self.tables.files;
        let statement = format!("SELECT count() FROM {files} WHERE {condition} FORMAT RowBinary");
        Rows::of(&self.client.execute(&server.url, &statement)?).u64()
    }

    /// Selects the rows of a system table that refer to one of our tables.
    fn about(&self, table: &str) -> String {
        let (database, table) = (&self.tables.database, Tables::bare(table));
        format!("database = {} AND table = {}", sql::text(database), sql::text(table))
    }

    fn running_mutations(&self, server: &Server) -> Result<u64, ClusterError> {
        let statement = format!(
            "SELECT count() FROM system.mutations WHERE {} AND NOT is_done FORMAT RowBinary",
            self.about(&self.tables.files)
        );
        Rows::of(&self.client.execute(&server.url, &statement)?).u64()
    }

    fn wait_for_mutations(&self, server: &Server) -> Result<(), ClusterError> {
        self.wait("a deletion", || Ok(self.running_mutations(server)? == 0))
    }

    /// Waits until the parts of a table that were replaced by a mutation or merge are deleted.
    fn wait_for_old_parts(&self, server: &Server, table: &str) -> Result<(), ClusterError> {
        let old = self.inactive_parts(server, table)?;
        let started = Instant::now();
        let mut woken = false;
        self.wait("the deletion of old parts", || {
            if self.inactive_parts(server, table)?.is_disjoint(&old) {
                return Ok(true);
            }
            let asleep = !self.features.cleanup_thread && started.elapsed() > WAKE_AFTER;
            if !woken && asleep {
                woken = true;
                // A mutation that doesn't match anything makes the server check the table right
                // away.
                self.client.execute(&server.url, &format!("ALTER TABLE {table} DELETE WHERE 0"))?;
            }
            Ok(false)
        })
    }

    fn inactive_parts(
        &self,
        server: &Server,
        table: &str,
    ) -> Result<BTreeSet<String>, ClusterError> {
        let statement = format!(
            "SELECT name FROM system.parts WHERE {} AND NOT active FORMAT RowBinary",
            self.about(table)
        );
        let answer = self.client.execute(&server.url, &statement)?;
        let mut rows = Rows::of(&answer);
        let mut names = BTreeSet::new();
        while !rows.is_at_end() {
            names.insert(rows.text()?);
        }
        Ok(names)
    }

    fn wait(
        &self,
        what: &str,
        mut done: impl FnMut() -> Result<bool, ClusterError>,
    ) -> Result<(), ClusterError> {
        let started = Instant::now();
        while !done()? {
            if started.elapsed() > LONGEST {
                return Err(ClusterError::Invalid(format!("the cluster did not finish {what}")));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}
