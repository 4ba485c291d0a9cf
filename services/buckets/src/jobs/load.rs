//! One load run, from its sources to its publish.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::DatabaseError;
use serde::{Deserialize, Serialize};

use super::LoadError;
use super::formats::{self, Bad, Defaults, Format, Item, Sink, Skipped};
use super::intake::{Intake, MaxErrors, Memory};
use super::progress::Teller;
use super::removal::{carry_out, purge};
use super::report::Report;
use super::session::{Session, Workshop, settle};
use super::sources::{self, STDIN, Source};
use crate::engine::{EngineError, Mode, NamedBucket};
use crate::store::{bucket, removal, run, state};

/// Files that travel to the index together.
const BATCH: usize = 2_048;
/// Events between two looks at the clock.
const EVENTS: u32 = 64;

/// What a run does; kept in SQL so that it can be resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    /// `--format`.
    pub format: Option<String>,
    /// `--bucket`.
    pub bucket: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--mode`.
    pub mode: Mode,
    /// `--max-errors`.
    pub max_errors: MaxErrors,
    /// `--reject`.
    pub reject: Option<PathBuf>,
    /// What is read, in order.
    pub sources: Vec<Source>,
}

/// When a run makes its state durable.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoints {
    /// `CHECKPOINT_FILES`.
    pub files: u64,
    /// `CHECKPOINT_SECONDS`.
    pub every: Duration,
}

/// Loads sources as a new run and publishes it.
///
/// A run that was stopped before is given up.
pub fn load(shop: &Workshop, options: &Options, pace: Checkpoints) -> Result<Report, LoadError> {
    let mut session = Session::open(shop, "a run loads files")?;
    super::removal::carry_out_pending(&mut session)?;
    let now = shop.clock.unix();
    if let Some(open) = session.writer.journal().open.clone() {
        let reason = "given up for a newer run";
        session.writer.abort()?;
        shop.pools.write_blocking(|db| run::fail(db, open.run, reason, now))?;
    }
    let text = serde_json::to_string(options).map_err(std::io::Error::other)?;
    let id = shop.pools.write_blocking(|db| run::begin(db, mode_name(options.mode), &text, now))?;
    session.writer.begin(id)?;
    Loader::new(session, id, options.clone(), pace, Memory::default())?.finish()
}

/// Loads sources into a generation of their own, which takes the place of the present one once it
/// is whole and verified; gives it with its report.
pub(super) fn load_anew(
    searched: Session,
    options: &Options,
    pace: Checkpoints,
) -> Result<(u32, Report), LoadError> {
    let (shop, now) = (searched.shop.clone(), searched.shop.clock.unix());
    let text = serde_json::to_string(options).map_err(std::io::Error::other)?;
    let id = shop.pools.write_blocking(|db| run::begin(db, "rebuild", &text, now))?;
    let mut fresh = searched.beside()?;
    let generation = fresh.generation;
    fresh.writer.begin(id)?;
    let mut loader = Loader::new(fresh, id, options.clone(), pace, Memory::default())?;
    loader.searched = Some(searched);
    Ok((generation, loader.finish()?))
}

/// Goes on with a run that was stopped.
pub fn resume(shop: &Workshop, id: u64, pace: Checkpoints) -> Result<Report, LoadError> {
    let session = Session::open(shop, "a resumed run loads files")?;
    let refuse = |why: &str| LoadError::Refused(format!("run {id} cannot be resumed: {why}"));
    let run = shop.pools.read_blocking(|db| run::find(db, id))?;
    let run = run.ok_or_else(|| refuse("there is no such run"))?;
    let open = session.writer.journal().open.clone().filter(|open| open.run == id);
    let open = open.ok_or_else(|| refuse(&format!("it is {}", run.state)))?;
    let options: Options =
        serde_json::from_str(&run.options).map_err(|error| refuse(&error.to_string()))?;
    if options.sources.iter().any(|source| source.name() == STDIN) {
        return Err(refuse("it read standard input"));
    }
    let memory = match open.progress.as_str() {
        "" => Memory::default(),
        text => serde_json::from_str(text).map_err(|error| refuse(&error.to_string()))?,
    };
    let mut session = session;
    super::removal::carry_out_pending(&mut session)?;
    Loader::new(session, id, options, pace, memory)?.finish()
}

/// Reads sources without writing anything but the reject file.
pub fn dry_run(shop: &Workshop, options: &Options) -> Result<Report, LoadError> {
    let started = Instant::now();
    let mut sink = Dry { intake: intake(shop, 0, options, Memory::default())? };
    for (index, source) in options.sources.iter().enumerate() {
        sink.intake.begin_source(index, &source.name());
        let input = source.open(Arc::default())?;
        formats::read(&source.path, input, &defaults(options), &mut sink)?;
        sink.intake.end_source();
    }
    let tally = sink.intake.memory.tally.clone();
    Ok(Report { tally, seconds: started.elapsed().as_secs_f64(), ..Report::default() })
}

/// The sources behind the paths of a command.
pub fn sources_of(paths: &[PathBuf]) -> Result<Vec<Source>, LoadError> {
    let listed = sources::listed(paths)?;
    if listed.is_empty() {
        return Err(LoadError::Refused("there is nothing to load".to_owned()));
    }
    Ok(listed)
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Replace => "replace",
        Mode::Append => "append",
    }
}

fn defaults(options: &Options) -> Defaults {
    let format = options.format.as_deref();
    Defaults {
        bucket: options.bucket.clone(),
        kind: options.kind.clone(),
        format: format.and_then(|name| <Format as clap::ValueEnum>::from_str(name, true).ok()),
    }
}

fn intake(
    shop: &Workshop,
    id: u64,
    options: &Options,
    memory: Memory,
) -> Result<Intake, LoadError> {
    let reject = options.reject.as_ref().map(|path| {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|error| LoadError::Source { path: path.display().to_string(), error })
    });
    Intake::new(&shop.pools, id, memory, options.max_errors, reject.transpose()?)
}

struct Loader {
    session: Session,
    /// The generation that is searched, where the run makes another one.
    searched: Option<Session>,
    id: u64,
    options: Options,
    pace: Checkpoints,
    intake: Intake,
    teller: Teller,
    started: Instant,
    since_checkpoint: u64,
    checkpointed: Instant,
    events: u32,
}

impl Loader {
    fn new(
        session: Session,
        id: u64,
        options: Options,
        pace: Checkpoints,
        memory: Memory,
    ) -> Result<Self, LoadError> {
        let stdin = options.sources.iter().any(|source| source.name() == STDIN);
        let bytes = if stdin { 0 } else { options.sources.iter().map(|source| source.size).sum() };
        let pools = session.shop.pools.clone();
        let clock = session.shop.clock.clone();
        let sources = options.sources.len() as u64;
        let teller = Teller::new(pools, clock, id, sources, bytes, memory.tally.files);
        let intake = intake(&session.shop, id, &options, memory)?;
        let now = Instant::now();
        Ok(Self {
            session,
            searched: None,
            id,
            options,
            pace,
            intake,
            teller,
            started: now,
            since_checkpoint: 0,
            checkpointed: now,
            events: 0,
        })
    }

    /// Reads, publishes, reports; a failure is noted with the run.
    fn finish(mut self) -> Result<Report, LoadError> {
        let result = self.read_all().and_then(|()| self.publish());
        if let Err(error) = &result {
            let (text, now) = (error.to_string(), self.session.shop.clock.unix());
            if matches!(error, LoadError::TooManyBad { .. } | LoadError::Refused(_)) {
                self.intake.flush_rows(&self.session.shop.pools)?;
                self.session.writer.abort()?;
            }
            self.session.shop.pools.write_blocking(|db| run::fail(db, self.id, &text, now))?;
        }
        result
    }

    fn read_all(&mut self) -> Result<(), LoadError> {
        let defaults = defaults(&self.options);
        let sources = self.options.sources.clone();
        for (index, source) in sources.iter().enumerate().skip(self.intake.memory.done) {
            self.intake.begin_source(index, &source.name());
            let input = source.open(self.teller.bytes_done.clone())?;
            formats::read(&source.path, input, &defaults, self)?;
            self.pump()?;
            self.intake.end_source();
        }
        let tally = &self.intake.memory.tally;
        if tally.incomplete.len() >= sources.len() && tally.lines() == 0 {
            let reasons = tally.incomplete.join("; ");
            return Err(LoadError::Refused(format!("no source could be read: {reasons}")));
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<Report, LoadError> {
        self.pump()?;
        self.checkpoint()?;
        let shop = self.session.shop.clone();
        let named = self.intake.named();
        let (new, truncated) = shop.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let all = bucket::all(db)?;
            let of = |id: u64| all.get(all.binary_search_by_key(&id, |bucket| bucket.id).ok()?);
            let buckets: Vec<_> = named.iter().filter_map(|n| Some((of(n.id)?, n))).collect();
            let new = buckets.iter().filter(|(bucket, _)| bucket.first_indexed.is_none()).count();
            let truncated = buckets.iter().filter(|(_, named)| named.truncated);
            Ok((new as u64, truncated.map(|(bucket, _)| bucket.address.clone()).collect()))
        })?;
        let now = shop.clock.unix();
        let counts = self.session.writer.publish(self.options.mode, named.clone(), now)?;
        let report = Report {
            run: Some(self.id),
            tally: self.intake.memory.tally.clone(),
            counts,
            buckets_new: new,
            buckets_changed: named.len() as u64 - new,
            truncated,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        let text = serde_json::to_string(&report).map_err(std::io::Error::other)?;
        if self.searched.is_some() {
            self.switch(&named, &report, &text)?;
        } else {
            settle(&shop.pools, self.session.writer.journal(), &text, now)?;
        }
        Ok(report)
    }

    /// Verifies the new generation and puts it in place of the one that is searched.
    fn switch(&self, named: &[NamedBucket], report: &Report, text: &str) -> Result<(), LoadError> {
        let Session { shop, generation, index, .. } = &self.session;
        index.refresh()?;
        let mut faults = index.verify()?;
        let counts = Arc::clone(&index.snapshot().counts);
        let ids: HashSet<u64> = named.iter().map(|bucket| bucket.id).collect();
        if counts.keys().any(|id| !ids.contains(id)) {
            faults.push("it has files of buckets that no source names".to_owned());
        }
        let files: u64 = counts.values().sum();
        if files != report.counts.added {
            faults.push(format!("it has {files} files instead of {}", report.counts.added));
        }
        if !faults.is_empty() {
            let text = format!("the new generation is not sound: {}", faults.join("; "));
            return Err(EngineError::Broken(text).into());
        }
        let buckets: Vec<(u64, bool)> = named.iter().map(|b| (b.id, b.truncated)).collect();
        let now = shop.clock.unix();
        Ok(shop.pools.write_blocking(|db| -> Result<(), DatabaseError> {
            bucket::relist(db, &buckets, now)?;
            run::publish(db, self.id, text, now)?;
            state::switch(db, *generation)
        })?)
    }

    /// Goes on after an event; a slow source is told about, and gives way to removals, as well.
    fn after_event(&mut self) -> Result<(), LoadError> {
        self.events = self.events.wrapping_add(1);
        // Asking the clock for each file would cost more than the file.
        let due = self.events.is_multiple_of(EVENTS) && self.teller.is_due();
        if due || self.intake.files.len() >= BATCH { self.pump() } else { Ok(()) }
    }

    /// Hands files on, tells, makes durable; whatever is due.
    fn pump(&mut self) -> Result<(), LoadError> {
        self.since_checkpoint += self.intake.files.len() as u64;
        self.session.writer.add(&self.intake.files)?;
        self.intake.files.clear();
        self.intake.flush_many_rows(&self.session.shop.pools)?;
        let told = self.teller.tell(&self.intake.memory.tally, self.intake.memory.done as u64)?;
        let removals = told && !self.session.shop.pools.read_blocking(removal::pending)?.is_empty();
        let due = self.since_checkpoint >= self.pace.files
            || self.checkpointed.elapsed() >= self.pace.every;
        if removals || due { self.checkpoint() } else { Ok(()) }
    }

    fn checkpoint(&mut self) -> Result<(), LoadError> {
        let pools = self.session.shop.pools.clone();
        self.session.writer.add(&self.intake.files)?;
        self.intake.files.clear();
        self.intake.flush_rows(&pools)?;
        let notes = |intake: &Intake| serde_json::to_string(&intake.checkpoint());
        let text = notes(&self.intake).map_err(std::io::Error::other)?;
        self.session.writer.checkpoint(text)?;
        for removal in pools.read_blocking(removal::pending)? {
            let bucket = pools.read_blocking(|db| bucket::by_address(db, &removal.address))?;
            if let Some(bucket) = bucket.filter(|_| removal.prefix.is_empty()) {
                self.intake.forget(bucket.id);
            }
            let text = notes(&self.intake).map_err(std::io::Error::other)?;
            match &mut self.searched {
                None => carry_out(&mut self.session, &removal, Some(text))?,
                Some(searched) => {
                    purge(&mut self.session, &removal, Some(text))?;
                    carry_out(searched, &removal, None)?;
                }
            }
            self.intake.refresh_removals(&pools)?;
        }
        self.since_checkpoint = 0;
        self.checkpointed = Instant::now();
        Ok(())
    }
}

impl Sink for Loader {
    fn file(&mut self, item: &Item<'_>) -> Result<(), LoadError> {
        self.intake.file(item)?;
        self.after_event()
    }

    fn bad(&mut self, bad: Bad) -> Result<(), LoadError> {
        self.intake.bad(bad)?;
        self.after_event()
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), LoadError> {
        self.intake.skipped(what)?;
        self.after_event()
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), LoadError> {
        self.intake.page(bucket, kind, truncated)
    }

    fn broken(&mut self, reason: String) -> Result<(), LoadError> {
        self.intake.broken(reason)
    }
}

struct Dry {
    intake: Intake,
}

impl Sink for Dry {
    fn file(&mut self, item: &Item<'_>) -> Result<(), LoadError> {
        self.intake.file(item)?;
        self.intake.files.clear();
        Ok(())
    }

    fn bad(&mut self, bad: Bad) -> Result<(), LoadError> {
        self.intake.bad(bad)
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), LoadError> {
        self.intake.skipped(what)
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), LoadError> {
        self.intake.page(bucket, kind, truncated)
    }

    fn broken(&mut self, reason: String) -> Result<(), LoadError> {
        self.intake.broken(reason)
    }
}
