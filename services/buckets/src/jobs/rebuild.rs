//! A new generation of the index, written beside the old one.

use std::collections::HashMap;

use super::LoadError;
use super::export::patient;
use super::session::{Session, Workshop};
use crate::engine::{EngineError, FileIndex, Mode, NamedBucket, NewFile, each_row};
use crate::model::address::BucketType;
use crate::store::bucket::{self, Bucket};
use crate::store::state;

/// Files that travel to the new generation together.
const BATCH: usize = 8_192;

/// Writes the present index anew, without dead rows and with new file ids, verifies it, and
/// switches to it; gives the new generation and its number of files.
pub fn rebuild(shop: &Workshop) -> Result<(u32, u64), LoadError> {
    let mut session = Session::open(shop, "the index is being rebuilt")?;
    super::removal::carry_out_pending(&mut session)?;
    if let Some(open) = &session.writer.journal().open {
        let run = open.run;
        return Err(LoadError::Refused(format!(
            "run {run} was stopped: resume it, or start another one, before a rebuild"
        )));
    }
    // The lock is kept until the switch; the old writer has nothing more to do.
    let Session { generation, index, .. } = &session;
    index.refresh()?;
    let generation = generation + 1;
    shop.generations.discard(generation)?;
    let fresh = shop.generations.open_or_create(generation)?;
    let files = copy(shop, &**index, &*fresh)?;
    check(&**index, &*fresh)?;
    shop.pools.write_blocking(|db| state::switch(db, generation))?;
    drop(fresh);
    drop(session);
    shop.generations.sweep(generation)?;
    Ok((generation, files))
}

fn copy(shop: &Workshop, old: &dyn FileIndex, new: &dyn FileIndex) -> Result<u64, LoadError> {
    let buckets: HashMap<u64, Bucket> = shop
        .pools
        .read_blocking(bucket::all)?
        .into_iter()
        .map(|bucket| (bucket.id, bucket))
        .collect();
    let snapshot = old.snapshot();
    let published = snapshot.journal.published.clone();
    let mut writer = new.writer(shop.memory_mb)?;
    writer.begin(published.as_ref().map_or(0, |published| published.run))?;
    let mut batch = Vec::with_capacity(BATCH);
    let mut files = 0;
    each_row(old, None, &patient(), |row| -> Result<(), LoadError> {
        let kind = buckets.get(&row.bucket).map_or(BucketType::Aws, |bucket| bucket.kind);
        batch.push(NewFile {
            bucket: row.bucket,
            kind: kind.code(),
            path: row.path,
            size: row.size,
            modified: row.modified,
        });
        files += 1;
        if batch.len() >= BATCH {
            writer.add(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    writer.add(&batch)?;
    let named: Vec<NamedBucket> = buckets
        .values()
        .filter(|bucket| bucket.first_indexed.is_some())
        .map(|bucket| NamedBucket { id: bucket.id, truncated: bucket.truncated })
        .collect();
    let at = published.map_or_else(|| shop.clock.unix(), |published| published.at);
    writer.publish(Mode::Append, named, at)?;
    new.refresh()?;
    Ok(files)
}

/// The new generation must hold the same number of files in every bucket, and be sound.
fn check(old: &dyn FileIndex, new: &dyn FileIndex) -> Result<(), LoadError> {
    let faults = new.verify()?;
    if old.snapshot().counts != new.snapshot().counts || !faults.is_empty() {
        let text = format!("the new generation is not like the old one: {}", faults.join("; "));
        return Err(EngineError::Broken(text).into());
    }
    Ok(())
}
