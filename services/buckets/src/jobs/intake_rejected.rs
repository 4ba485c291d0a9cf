//! Keeps the indexed files that bad lines name, and recognises lists whose end is missing.

use super::error::JobError;
use super::formats::NamedFile;
use super::intake::Intake;
use super::write_session::Session;
use crate::engine::{Limits, NewerFiles, each_row};
use crate::model::address::Address;

impl Intake {
    /// Records the file in a bad line, so that it isn't removed. If the file is unknown, no file of
    /// the bucket is removed. If the bucket is unknown too, this applies to all of the source's
    /// buckets.
    pub(super) fn keep_named(&mut self, file: Option<&NamedFile>, position: u64) {
        let file = file.filter(|file| Address::parse(&file.bucket).is_ok());
        let Some(file) = file else {
            self.state.unclear_line.get_or_insert(position);
            return;
        };
        let bucket = self.buckets.find(&file.bucket).filter(|id| self.indexed.contains_key(id));
        let Some(bucket) = bucket else { return };
        if file.path.is_empty() || file.is_garbled {
            if !self.is_addition() && self.state.unclear.insert(bucket) {
                let address = &file.bucket;
                let why = format!("line {position} does not say which file of {address} it is");
                self.add_partial(self.note_of(&why));
            }
        } else if !self.state.rejected.add(bucket, &file.path) && self.state.partial.insert(bucket)
        {
            let why = format!("too many bad lines name files, including files of {}", file.bucket);
            self.add_partial(self.note_of(&why));
        }
    }

    /// Returns `true` if the current source only adds files.
    fn is_addition(&self) -> bool {
        self.is_reject_file && !self.replaces_rejected
    }

    /// Records why a source that has been read to its end doesn't cover its buckets, if so.
    pub(super) fn judge_end(&mut self) {
        let (last, unclear) = (self.state.bad_end.take(), self.state.unclear_line.take());
        let has_entries = std::mem::take(&mut self.state.has_entries);
        if self.state.present.1 {
            return;
        }
        let is_list = !self.has_pages && !self.is_reject_file;
        if !has_entries && (self.has_bad_lines || is_list) {
            // It's probably an error message that replaces a list, or a failed download.
            let why = match self.has_bad_lines {
                true => "none of its lines can be read",
                false => "it contains no files (leave it out if that is correct)",
            };
            self.add_partial(self.note_of(why));
            self.state.present.1 = true;
        } else if let Some(position) = last.filter(|_| !self.is_reject_file) {
            // It's probably an error message that replaces the rest of the list.
            let why = format!("line {position} is the last one and does not describe a file");
            self.state.note_incomplete(self.note_of(&why));
        } else if let Some(position) = unclear.filter(|_| !self.is_addition()) {
            // It could have described a file of any bucket.
            let why = format!("line {position} does not describe a file");
            self.add_partial(self.note_of(&why));
            self.state.present.1 = true;
        }
    }

    /// Makes the publish keep the files that bad lines name, unless the run contains them after all.
    ///
    /// # Errors
    /// Returns an error if the index can't be searched.
    pub(super) fn keep_rejected(&self, session: &mut Session) -> Result<(), JobError> {
        let named = self.named();
        let is_replaced = |bucket: &u64| {
            let found = named.binary_search_by_key(bucket, |named| named.id);
            found.is_ok_and(|at| !named[at].partial)
        };
        let buckets: Vec<u64> = self.state.rejected.buckets().filter(is_replaced).collect();
        if buckets.is_empty() {
            return Ok(());
        }
        // Removals might have changed it.
        session.index.refresh()?;
        let mut ids = Vec::new();
        for &bucket in &buckets {
            let rows = &*session.index;
            each_row(rows, Some(bucket), &Limits::none(), |row| -> Result<(), JobError> {
                if self.state.rejected.contain(bucket, &row.path) {
                    ids.push(row.id);
                }
                Ok(())
            })?;
        }
        let none = || NewerFiles { after: u64::MAX, ..NewerFiles::default() };
        session.writer.rules().newer.get_or_insert_with(none).kept = ids.into_iter().collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use testkit::Database;

    use super::*;
    use crate::jobs::formats::{Bad, Item, Sink};
    use crate::jobs::intake_state::IntakeState;
    use crate::jobs::max_errors::MaxErrors;
    use crate::model::Attributes;

    #[test]
    fn source_without_good_lines_counts_as_unreadable_in_a_resumed_run() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let mut state = IntakeState::default();
        for _ in 0..2 {
            let all = MaxErrors::Percent(MaxErrors::ALL);
            let mut intake = Intake::new(&pools, 0, state, all, None).unwrap();
            intake.begin_source(0, "list.ndjson");
            let attributes = Attributes::default();
            let (bucket, kind) = ("a.s3.amazonaws.com", Some("tape"));
            let item = Item { position: 1, bucket, kind, path: "1", attributes, etag: None };
            if let Err(reason) = intake.file(&item).unwrap() {
                let content = br#"{"bucket":"a.s3.amazonaws.com","path":"1","size":0}"#.to_vec();
                intake.bad(Bad { position: 1, reason, content, is_unclear: false }).unwrap();
            }
            assert_eq!(intake.state.tally.bad, 1, "the line is counted once");
            state = intake.checkpoint();
            intake.end_source();
            assert!(intake.state.all_partial, "it might have had files of any bucket");
        }
    }
}
