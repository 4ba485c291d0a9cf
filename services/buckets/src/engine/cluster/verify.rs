//! Checks the consistency of an index.

use std::collections::BTreeMap;

use super::error::ClusterError;
use super::generation::Generation;
use super::layout::{self, Layout};
use super::rows::{self, Rows};
use super::view::View;
use crate::model::{fold, path};

/// Size of the id range that each query checks for duplicates.
const RANGE: u64 = 50_000_000;
/// Approximate number of rows for which to recompute the words.
const SAMPLE: u64 = 100_000;
/// Stop reporting after this number of problems.
const MOST_NAMED: usize = 20;

/// Looks for problems and describes each of them. Reads every column so that the servers verify
/// their checksums, compares replicas, checks ids and shards, and recomputes the words of a sample.
pub(super) fn faults(index: &Generation, view: &View) -> Result<Vec<String>, ClusterError> {
    let mut faults = Vec::new();
    copies(index, view, &mut faults)?;
    ids(index, view, &mut faults)?;
    shards(index, view, &mut faults)?;
    words(index, view, &mut faults)?;
    Ok(faults)
}

/// Reads all rows and compares the replicas of each shard.
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

/// Checks that ids are unique and that every file has an id and a path.
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

/// Checks that no bucket is on more than one shard.
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

/// Checks names and words against the paths.
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
