//! Leaves out the files on the removal list.

use std::collections::BTreeSet;

use database::Pools;

use super::error::JobError;
use super::formats::NamedFile;
use super::intake::Intake;
use super::intake_state::IntakeState;
use crate::model::address::bucket_key_of;
use crate::store::{buckets, removals};

impl Intake {
    /// Reloads the removal list.
    pub fn refresh_removals(&mut self, pools: &Pools) -> Result<(), JobError> {
        self.removed.clear();
        for removal in pools.read_blocking(removals::in_force)? {
            let key = bucket_key_of(&removal.address);
            self.removed.entry(key).or_default().push((removal.id, removal.prefix));
        }
        Ok(())
    }

    /// Returns the id of a removal that covers the path.
    pub(super) fn removal_of(&self, bucket_key: &str, path: &str) -> Option<i64> {
        let mut all = self.removed.get(bucket_key)?.iter();
        all.find(|(_, prefix)| path.starts_with(prefix.as_str())).map(|(id, _)| *id)
    }

    /// Returns `true` if a removal covers the file in a bad line.
    pub(super) fn is_removed(&self, file: &NamedFile) -> bool {
        // Usually, there are no removals.
        !self.removed.is_empty()
            && self.removal_of(&bucket_key_of(&file.bucket), &file.path).is_some()
    }

    /// Makes the run cover only part of each bucket in which a removal has left out files, if that
    /// removal has been lifted since. Otherwise, the run would count as a complete listing of the
    /// bucket, and a crawl that has listed the restored files in the meantime would be rejected.
    pub fn note_lifted(&mut self, pools: &Pools) -> Result<(), JobError> {
        if self.state.withheld.is_empty() {
            return Ok(());
        }
        let in_force = pools.read_blocking(removals::in_force)?;
        let in_force: BTreeSet<i64> = in_force.into_iter().map(|removal| removal.id).collect();
        let IntakeState { named, withheld, .. } = &self.state;
        let lifted = withheld
            .iter()
            .filter(|(id, removals)| named.contains_key(*id) && !removals.is_subset(&in_force));
        let lifted: Vec<u64> = lifted.map(|(id, _)| *id).collect();
        for bucket in pools.read_blocking(|db| buckets::by_ids(db, &lifted))? {
            self.state.partial.insert(bucket.id);
            let address = bucket.address;
            self.add_partial(format!(
                "files of {address} were left out, because a removal was lifted only during the \
                 run; load the bucket again"
            ));
        }
        Ok(())
    }
}
