//! Checks an index for consistency.

use std::collections::BTreeMap;

use super::error::ClusterError;
use super::generation::Generation;
use super::layout::{self, Layout};
use super::rows::{self, Rows};
use super::view::View;
use crate::model::{fold, path};

/// Number of ids that are checked for duplicates per query.
const RANGE: u64 = 50_000_000;
/// Number of rows whose words are recomputed.
const SAMPLE: u64 = 100_000;
/// Maximum number of faults of each kind to report.
const MOST_NAMED: usize = 20;

/// Reads every column, which makes the servers verify checksums. Compares replicas, checks ids and
/// shards, and recomputes the words of a sample. Returns a description of each fault.
pub(super) fn faults(index: &Generation, view: &View) -> Result<Vec<String>, ClusterError> {
    let mut faults = Vec::new();
    copies(index, view, &mut faults)?;
    ids(index, view, &mut faults)?;
    shards(index, view, &mut faults)?;
    words(index, view, &mut faults)?;
    Ok(faults)
}

/// Reads all rows, and compares the replicas of each shard.
fn copies(index: &Generation, view: &View, faults: &mut Vec<String>) -> Result<(), ClusterError> {
    let statement = format!(
        "SELECT count(), sum(cityHash64(id, bucket, kind, run, path, name_at, name_length, \
         name_words, path_words, {}, arrayStringConcat(extensions, '/'), {})) \
         FROM {} WHERE {} FORMAT RowBinary",
        layout::attributes(""),
        index.layout.folded_name(),
        index.tables.files,
        view.record.visible(&index.tables)
    );
    let mut shards: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut total = 0;
    for server in index.servers.all() {
        let answer = match index.client.execute(&server.url, &statement) {
            Ok(answer) => answer,
            Err(ClusterError::Server { code, text }) => {
                faults.push(format!("{} cannot be read: {text} (code {code})", server.url));
                continue;
            }
            Err(error) => return Err(error),
        };
        let mut rows = Rows::of(&answer);
        let sum = (rows.u64()?, rows.u64()?);
        match shards.get(&server.shard) {
            None => {
                total += sum.0;
                shards.insert(server.shard, sum);
            }
            Some(first) if *first == sum => {}
            Some(_) => faults.push(format!("{} differs from its replica", server.url)),
        }
    }
    let counted: u64 = view.summary.counts.values().sum();
    if faults.is_empty() && total != counted {
        faults.push(format!("{total} files found, {counted} counted"));
    }
    Ok(())
}

/// Checks that ids are unique and in range.
fn ids(index: &Generation, view: &View, faults: &mut Vec<String>) -> Result<(), ClusterError> {
    let visible = view.record.visible(&index.tables);
    let mut first = 0;
    while first <= view.record.cutoff() {
        let last = first + RANGE;
        let answer = index.client.execute(
            &index.client.target.base,
            &format!(
                "SELECT count() - uniqExact(id), countIf(id = 0 OR path = '') FROM {} \
                 WHERE {visible} AND id >= {first} AND id < {last} FORMAT RowBinary",
                index.tables.all_files
            ),
        )?;
        let mut rows = Rows::of(&answer);
        let (doubles, empty) = (rows.u64()?, rows.u64()?);
        if doubles > 0 {
            faults.push(format!("{doubles} file ids from {first} to {last} occur twice"));
        }
        if empty > 0 {
            faults.push(format!("{empty} files from {first} to {last} have no id or path"));
        }
        first = last;
    }
    Ok(())
}

/// Checks that each bucket is on one shard.
fn shards(index: &Generation, view: &View, faults: &mut Vec<String>) -> Result<(), ClusterError> {
    let statement = format!(
        "SELECT DISTINCT bucket FROM {} WHERE {} FORMAT RowBinary",
        index.tables.files,
        view.record.visible(&index.tables)
    );
    let mut homes: BTreeMap<u64, u32> = BTreeMap::new();
    for server in index.servers.one_of_each_shard() {
        let answer = index.client.execute(&server.url, &statement)?;
        let mut rows = Rows::of(&answer);
        while !rows.is_at_end() && faults.len() < MOST_NAMED {
            let bucket = rows.u64()?;
            if homes.insert(bucket, server.shard).is_some_and(|home| home != server.shard) {
                faults.push(format!("bucket {bucket} is on two shards"));
            }
        }
    }
    Ok(())
}

/// Checks that names and words agree with the paths.
fn words(index: &Generation, view: &View, faults: &mut Vec<String>) -> Result<(), ClusterError> {
    let step = (view.record.cutoff() / SAMPLE).max(1);
    let statement = format!(
        "SELECT id, path, substring(path, name_at + 1, name_length), name_words, path_words, {} FROM {} \
         WHERE {} AND id % {step} = 0 LIMIT {SAMPLE} FORMAT RowBinary",
        index.layout.folded_name(),
        index.tables.all_files,
        view.record.visible(&index.tables)
    );
    let answer = index.client.execute(&index.client.target.base, &statement)?;
    let mut rows = Rows::of(&answer);
    while !rows.is_at_end() && faults.len() < MOST_NAMED {
        let (id, whole) = (rows.u64()?, rows.text()?);
        let stored = [rows.text()?, rows.text()?, rows.text()?, rows.text()?];
        let name = path::file_name(&whole);
        let folded = match index.layout {
            Layout::Plain => String::new(),
            Layout::Indexed => fold::folded_text(name),
        };
        let (words, path_words) = (rows::padded_words(name), rows::padded_words(&whole));
        let expected = [name.to_owned(), words, path_words, folded];
        if stored != expected {
            faults.push(format!("the words of file {id} do not match its path"));
        }
    }
    Ok(())
}
