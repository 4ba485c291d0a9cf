//! Writes lines to stderr, optionally through a bounded queue and a thread.
//!
//! A command waits until each line has been written. This keeps the output in order and lets a slow
//! reader apply backpressure. If stderr doesn't accept anything for a second, the command stops
//! waiting until stderr works again. A server never waits. Lines that don't fit in the queue or
//! can't be written are lost and counted in `log_lines_lost_total`. Once stderr works again, a line
//! reports how many were lost.

use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::metrics;

/// Pause before retrying if stderr is a non-blocking pipe that is full.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a command waits for the reader of stderr.
const READER_TIMEOUT: Duration = Duration::from_secs(1);

/// Writes lines to an output, with or without a queue.
pub(super) struct Lines {
    state: Mutex<State>,
    changed: Condvar,
    room: usize,
}

struct State {
    /// Whether lines are written by a thread, as opposed to `push`.
    is_queued: bool,
    /// Whether `push` waits until the lines have been written.
    waits: bool,
    /// Whether a wait timed out and nothing has been written since then.
    is_stalled: bool,
    /// Whether the thread is writing lines from the queue.
    is_writing: bool,
    waiting: Vec<u8>,
    /// Number of lost lines that haven't been reported yet.
    lost: u64,
}

impl Lines {
    /// Writes lines directly at first. A queue created later can hold `room` bytes.
    pub(super) const fn new(room: usize) -> Self {
        let state = State {
            is_queued: false,
            waits: true,
            is_stalled: false,
            is_writing: false,
            waiting: Vec::new(),
            lost: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), room }
    }

    /// Queues whole lines, or writes them to `out` if there is no queue. Never fails.
    pub(super) fn push(&self, lines: &[u8], out: impl Write) {
        let mut state = self.state();
        if !state.is_queued {
            drop(state);
            metrics::lost_lines().inc_by(count(write_all(out, lines)));
        } else if state.waiting.len() + lines.len() > self.room {
            state.lost += count(lines);
            metrics::lost_lines().inc_by(count(lines));
        } else {
            state.waiting.extend_from_slice(lines);
            self.changed.notify_all();
            if state.waits && !state.is_stalled {
                state.is_stalled = !self.wait(&mut state, READER_TIMEOUT);
            }
        }
    }

    /// Makes `push` return without waiting until lines have been written.
    pub(super) fn never_wait(&self) {
        self.state().waits = false;
    }

    /// Creates the queue and a thread that writes its lines to `out` until the process exits.
    ///
    /// `report` formats the line that reports how many lines were lost. Calling this again does
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if the thread can't be created, in which case lines are still written
    /// directly.
    pub(super) fn queue(
        &'static self,
        out: impl Write + Send + 'static,
        report: impl Fn(u64) -> String + Send + 'static,
    ) -> io::Result<()> {
        let mut state = self.state();
        if !state.is_queued {
            let thread = std::thread::Builder::new().name("log".to_owned());
            thread.spawn(move || self.write_queue(out, report))?;
            state.is_queued = true;
        }
        Ok(())
    }

    /// Waits up to `limit` for all queued lines to be written.
    pub(super) fn flush(&self, limit: Duration) {
        self.wait(&mut self.state(), limit);
    }

    /// Returns whether all queued lines were written within `limit`.
    fn wait(&self, state: &mut MutexGuard<'_, State>, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while state.is_writing || !state.waiting.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.changed.wait_for(state, left);
        }
        true
    }

    fn write_queue(&self, mut out: impl Write, report: impl Fn(u64) -> String) {
        let mut batch = Vec::new();
        let mut is_torn = false;
        loop {
            batch.clear();
            let lost = self.take(&mut batch);
            if is_torn {
                // Only part of the last line was written, so terminate it.
                is_torn = !write_all(&mut out, b"\n").is_empty();
            }
            let left = write_all(&mut out, &batch);
            let unwritten = count(left);
            let written = &batch[..batch.len() - left.len()];
            is_torn |= written.last().is_some_and(|byte| *byte != b'\n');
            let mut reported = 0;
            if left.is_empty() && lost > 0 {
                let report = report(lost);
                match write_all(&mut out, report.as_bytes()).len() {
                    0 => reported = lost,
                    left => is_torn |= left < report.len(),
                }
            }
            metrics::lost_lines().inc_by(unwritten);
            let mut state = self.state();
            state.lost = state.lost - reported + unwritten;
            state.is_writing = false;
            state.is_stalled = false;
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for lines and appends them to `batch`. Returns the number of lost lines to report.
    fn take(&self, batch: &mut Vec<u8>) -> u64 {
        let mut state = self.state();
        self.changed.wait_while(&mut state, |state| state.waiting.is_empty());
        batch.append(&mut state.waiting);
        state.is_writing = true;
        state.lost
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Writes until there is an error, and returns the bytes that weren't written.
fn write_all(mut out: impl Write, mut bytes: &[u8]) -> &[u8] {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => break,
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(_) => break,
        }
    }
    bytes
}

/// Returns the number of line ends in `bytes`.
fn count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, PipeReader, pipe};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn lines(room: usize) -> &'static Lines {
        Box::leak(Box::new(Lines::new(room)))
    }

    fn never_waiting(room: usize) -> &'static Lines {
        let lines = lines(room);
        lines.never_wait();
        lines
    }

    fn report(lost: u64) -> String {
        format!("lost {lost}\n")
    }

    /// Reads lines up to and including `last`.
    fn read(from: PipeReader) -> Vec<String> {
        let lines = BufReader::new(from).lines().map(Result::unwrap);
        lines.take_while(|line| line != "last").collect()
    }

    /// An output that accepts up to `most` bytes at a time, and fails while `is_full` is set.
    #[derive(Clone)]
    struct Disk {
        is_full: Arc<AtomicBool>,
        most: usize,
        content: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.is_full.load(Ordering::SeqCst) {
                return Err(ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.most);
            self.content.lock().extend_from_slice(&bytes[..taken]);
            // A short write means that the disk is full now.
            self.is_full.store(taken < bytes.len(), Ordering::SeqCst);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_queue_never_waits_for_its_reader_and_reports_lost_lines() {
        let (from, to) = pipe().unwrap();
        let lines = never_waiting(1_000);
        lines.queue(to, report).unwrap();
        let line = [[b'x'; 99].as_slice(), b"\n"].concat();
        let before = metrics::lost_lines().get();
        // More than fits in the pipe and the queue.
        for _ in 0..5_000 {
            lines.push(&line, io::sink());
        }
        let read = std::thread::spawn(move || read(from));
        lines.flush(LONG);
        lines.push(b"last\n", io::sink());
        let read = read.join().unwrap();
        let (reports, rest): (Vec<&String>, Vec<&String>) =
            read.iter().partition(|line| line.starts_with("lost "));
        let reported: u64 = reports.iter().map(|line| line[5..].parse::<u64>().unwrap()).sum();
        assert_eq!(reported + rest.len() as u64, 5_000);
        assert!(reported > 3_000 && metrics::lost_lines().get() - before >= reported, "{reported}");
    }

    #[test]
    fn a_flush_ends_without_a_reader() {
        let (from, to) = pipe().unwrap();
        let lines = never_waiting(1 << 20);
        lines.queue(to, report).unwrap();
        lines.push(&[b'\n'; 200_000], io::sink());
        lines.flush(Duration::from_millis(1));
        let state = lines.state();
        assert!(state.is_writing || !state.waiting.is_empty());
        drop(from);
    }

    #[test]
    fn a_command_waits_once_for_a_reader_that_does_not_read() {
        let (from, to) = pipe().unwrap();
        let lines = lines(1 << 20);
        lines.queue(to, report).unwrap();
        lines.push(b"first\n", io::sink());
        assert!(lines.state().waiting.is_empty() && !lines.state().is_writing, "not written");
        lines.push(&[b'\n'; 200_000], io::sink());
        assert!(lines.state().is_stalled);
        // If these lines had to wait, each would take a reader timeout.
        for _ in 0..1_000 {
            lines.push(b"x\n", io::sink());
        }
        assert!(lines.state().is_stalled);
        let read = std::thread::spawn(move || read(from));
        lines.flush(LONG);
        assert!(!lines.state().is_stalled);
        lines.push(b"last\n", io::sink());
        assert_eq!(read.join().unwrap().len(), 1 + 200_000 + 1_000);
    }

    #[test]
    fn lines_that_cannot_be_written_are_reported_after_the_next_success() {
        let disk = Disk { is_full: Arc::default(), most: 10, content: Arc::default() };
        let lines = lines(1_000);
        lines.queue(disk.clone(), report).unwrap();
        let push = |text: &str| {
            lines.push(text.as_bytes(), io::sink());
            lines.flush(LONG);
        };
        push("one\n");
        push("two two two\n");
        push("three\n");
        disk.is_full.store(false, Ordering::SeqCst);
        push("four\n");
        let content = String::from_utf8(disk.content.lock().clone()).unwrap();
        assert_eq!(content, "one\ntwo two tw\nfour\nlost 2\n");
    }

    #[test]
    fn a_line_after_a_partial_report_begins_on_a_new_line() {
        let disk = Disk { is_full: Arc::default(), most: 5, content: Arc::default() };
        let lines = lines(1_000);
        lines.queue(disk.clone(), report).unwrap();
        for text in ["one two\n", "x\n", "y\n"] {
            disk.is_full.store(false, Ordering::SeqCst);
            lines.push(text.as_bytes(), io::sink());
            lines.flush(LONG);
        }
        let content = String::from_utf8(disk.content.lock().clone()).unwrap();
        assert_eq!(content, "one t\nx\nlost \ny\nlost ");
    }

    #[test]
    fn without_a_queue_lines_are_written_directly_and_errors_are_ignored() {
        let disk = Disk { is_full: Arc::default(), most: 10, content: Arc::default() };
        let lines = lines(0);
        lines.push(b"one\n", disk.clone());
        assert_eq!(*disk.content.lock(), b"one\n");
        disk.is_full.store(true, Ordering::SeqCst);
        let before = metrics::lost_lines().get();
        lines.push(b"two\n", disk);
        assert!(metrics::lost_lines().get() > before);
    }
}
