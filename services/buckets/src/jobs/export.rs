//! Exports the index as NDJSON.

use std::io::Write;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::context::JobContext;
use super::error::JobError;
use super::formats::exported;
use crate::app;
use crate::engine::{Limits, each_row};
use crate::model::address::Address;
use crate::model::{Attribute, Attributes};
use crate::store::buckets::Bucket;

/// Path of the entry for an empty bucket. When loading the entry, the bucket is added but the entry
/// itself is skipped.
const DIRECTORY_MARKER: &str = "/";

/// An export line, in a format that loads can read.
#[derive(Serialize)]
struct Line<'a> {
    bucket: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "fullPath")]
    path: &'a str,
    #[serde(flatten)]
    attributes: Exported,
}

/// The attributes in an export line.
struct Exported(Attributes);

impl Serialize for Exported {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(Attribute::ALL.len()))?;
        for attribute in Attribute::ALL {
            members.serialize_entry(attribute.member(), &exported(attribute, self.0[attribute]))?;
        }
        members.end()
    }
}

fn write_line(out: &mut dyn Write, line: &Line<'_>) -> Result<(), JobError> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Writes all visible files, or just those of one bucket, in ascending id order, followed by empty
/// buckets as directory markers. Returns the number of files.
pub fn export(
    context: &JobContext,
    address: Option<&str>,
    out: &mut dyn Write,
) -> Result<u64, JobError> {
    context.refuse_damage()?;
    let index = context.open_index()?;
    let buckets = context.buckets()?;
    let takedowns = context.pools.read_blocking(app::pending_takedowns)?;
    let wanted = address.map(|address| -> Result<u64, JobError> {
        let parsed = Address::parse(address).map_err(|e| JobError::Invalid(e.to_string()))?;
        let found = buckets.values().find(|bucket| bucket.address == parsed.as_str());
        let unknown = || JobError::Invalid(format!("there is no bucket {parsed}"));
        Ok(found.ok_or_else(unknown)?.id)
    });
    let wanted = wanted.transpose()?;
    // Count the files first. On a cluster, reading them can move on to a newer state, from which a
    // bucket was removed. That isn't an empty bucket.
    let counts = Arc::clone(&index.summary().counts);
    let mut count = 0;
    each_row(&*index, wanted, &Limits::none(), |row| -> Result<(), JobError> {
        let Some(bucket) = buckets.get(&row.bucket) else { return Ok(()) };
        if takedowns.hides(row.bucket, &row.path) {
            return Ok(());
        }
        let line = Line {
            bucket: &bucket.address,
            kind: bucket.kind.as_str(),
            path: &row.path,
            attributes: Exported(row.attributes),
        };
        write_line(out, &line)?;
        count += 1;
        Ok(())
    })?;
    let is_empty = |bucket: &&Bucket| {
        bucket.first_indexed.is_some()
            && !counts.contains_key(&bucket.id)
            && wanted.is_none_or(|id| id == bucket.id)
            && !takedowns.hides_bucket(bucket.id)
    };
    let mut empty: Vec<&Bucket> = buckets.values().filter(is_empty).collect();
    empty.sort_unstable_by_key(|bucket| bucket.id);
    for bucket in empty {
        let attributes = Exported(Attributes::from_fn(|_| 0));
        let (bucket, kind) = (bucket.address.as_str(), bucket.kind.as_str());
        write_line(out, &Line { bucket, kind, path: DIRECTORY_MARKER, attributes })?;
    }
    Ok(count)
}
