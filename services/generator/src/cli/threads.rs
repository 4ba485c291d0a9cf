//! `records --threads`: generates rows on several threads without changing their order.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::anyhow;
use serde_json::Value;

use crate::model::records::{Bounds, parse};
use crate::wire::{Document, RowForm, push_rows};

/// Number of rows that a thread generates at a time.
const ROWS: u64 = 2_000;
/// Maximum number of finished parts that a thread may queue before it has to wait.
const AHEAD: usize = 4;

/// A schema to be parsed by each thread, since parsed tables aren't `Send`.
pub struct Source<'a> {
    pub value: &'a Value,
    /// Limits for the schema.
    pub bounds: &'a Bounds,
    /// Output format.
    pub form: RowForm,
}

/// Writes a document whose rows are generated on several threads. Parts are assigned to threads
/// round-robin, and written in order.
///
/// # Errors
/// Returns an error if the output cannot be written.
pub fn write(
    source: &Source<'_>,
    mut document: Document,
    threads: u64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut text = Vec::new();
    while let Some((table, first, count)) = document.begin_table(&mut text) {
        out.write_all(&text)?;
        text.clear();
        thread::scope(|scope| {
            let mut makers = Vec::new();
            for nth in 0..threads.min(count.div_ceil(ROWS)) {
                let (sender, receiver) = sync_channel(AHEAD);
                let table = &table;
                scope.spawn(move || make(source, table, (first, count), (nth, threads), &sender));
                makers.push(receiver);
            }
            // If writing fails, the receivers are dropped, which stops the threads.
            write_in_turn(makers, count.div_ceil(ROWS), out)
        })?;
        document.end_table(count, &mut text);
    }
    out.write_all(&text)?;
    Ok(out.flush()?)
}

fn write_in_turn(
    makers: Vec<Receiver<Vec<u8>>>,
    parts: u64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    for (_, maker) in (0..parts).zip(makers.iter().cycle()) {
        let part = maker.recv().map_err(|_| anyhow!("a thread ended early"))?;
        out.write_all(&part)?;
    }
    Ok(())
}

/// Generates every `threads`th part, starting with the `nth`.
fn make(
    source: &Source<'_>,
    table: &str,
    (first, count): (u64, u64),
    (nth, threads): (u64, u64),
    sender: &SyncSender<Vec<u8>>,
) {
    // This can't fail, because the main thread has already parsed the schema.
    let Ok(schema) = parse(source.value, source.bounds) else { return };
    let Some(table) = schema.tables.iter().find(|own| own.name == table) else { return };
    let mut begin = nth * ROWS;
    while begin < count {
        let mut part = Vec::new();
        let rows = ROWS.min(count - begin);
        push_rows(source.form, table, (first + begin, rows), begin, &mut part);
        if sender.send(part).is_err() {
            return;
        }
        begin += threads * ROWS;
    }
}
