//! What every job works with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::SharedClock;

use crate::progress::{ProgressReporter, Unit};

/// The wish that a job end early; clones share it.
///
/// Whoever runs a job sets it, on a signal or from another thread; the job looks between two
/// batches, so that what it has done is whole.
///
/// ```
/// use batch::Interruption;
///
/// let interruption = Interruption::default();
/// let seen_by_the_job = interruption.clone();
/// assert!(seen_by_the_job.check().is_ok());
/// interruption.request();
/// assert!(seen_by_the_job.check().is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interruption(Arc<AtomicBool>);

/// A job ended early because that was wished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the job was interrupted")]
pub struct Interrupted;

impl Interruption {
    /// Asks the job to end.
    ///
    /// ```
    /// let interruption = batch::Interruption::default();
    /// interruption.request();
    /// assert!(interruption.is_requested());
    /// ```
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the job should end.
    ///
    /// ```
    /// assert!(!batch::Interruption::default().is_requested());
    /// ```
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The same as an error, for `?` in a loop.
    ///
    /// # Errors
    /// The job should end.
    ///
    /// ```
    /// assert!(batch::Interruption::default().check().is_ok());
    /// ```
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_requested() { Err(Interrupted) } else { Ok(()) }
    }
}

/// The time, the reports and the interruption of a job.
///
/// A service puts it into a context of its own, beside its pools and settings.
///
/// ```
/// use batch::{JobContext, Unit};
/// use domain::SystemClock;
///
/// struct Context {
///     job: JobContext,
///     settings: u32,
/// }
///
/// let context = Context { job: JobContext::new(SystemClock::shared()), settings: 3 };
/// let progress = context.job.progress("counting", Unit::Items("numbers"), Some(3));
/// for number in 1..=context.settings {
///     context.job.check()?;
///     progress.set(number.into());
/// }
/// progress.finish();
/// # Ok::<(), batch::Interrupted>(())
/// ```
#[derive(Clone)]
pub struct JobContext {
    clock: SharedClock,
    interruption: Interruption,
    report_every: Option<Duration>,
}

impl JobContext {
    /// A context that nobody interrupts yet.
    ///
    /// ```
    /// let context = batch::JobContext::new(domain::SystemClock::shared());
    /// assert!(context.check().is_ok());
    /// ```
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, interruption: Interruption::default(), report_every: None }
    }

    /// Sets the time between two reports where there is no terminal, for all phases.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let context = batch::JobContext::new(domain::SystemClock::shared())
    ///     .report_every(Duration::from_secs(2));
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn report_every(mut self, time: Duration) -> Self {
        self.report_every = Some(time);
        self
    }

    /// The clock of the job.
    ///
    /// ```
    /// use domain::ManualClock;
    ///
    /// let clock = ManualClock::new("2026-03-01T00:00:00Z".parse()?);
    /// let context = batch::JobContext::new(clock.shared());
    /// assert_eq!(context.clock().now().to_string(), "2026-03-01T00:00:00Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// The current instant in whole Unix seconds, as databases hold it.
    ///
    /// ```
    /// let context = batch::JobContext::new(domain::SystemClock::shared());
    /// assert!(context.unix() > 1_700_000_000);
    /// ```
    pub fn unix(&self) -> i64 {
        self.clock.unix()
    }

    /// What interrupts the job.
    ///
    /// ```
    /// let context = batch::JobContext::new(domain::SystemClock::shared());
    /// let interruption = context.interruption().clone();
    /// std::thread::spawn(move || interruption.request()).join().ok();
    /// assert!(context.check().is_err());
    /// ```
    pub fn interruption(&self) -> &Interruption {
        &self.interruption
    }

    /// Fails when the job should end; asked between two batches.
    ///
    /// # Errors
    /// The job was interrupted.
    ///
    /// ```
    /// let context = batch::JobContext::new(domain::SystemClock::shared());
    /// assert!(context.check().is_ok());
    /// ```
    pub fn check(&self) -> Result<(), Interrupted> {
        self.interruption.check()
    }

    /// Begins to report a phase; see [`ProgressReporter::new`].
    ///
    /// ```
    /// use batch::{JobContext, Unit};
    ///
    /// let context = JobContext::new(domain::SystemClock::shared());
    /// let progress = context.progress("reading", Unit::Bytes, Some(1 << 20));
    /// progress.add(1 << 10);
    /// ```
    pub fn progress(&self, phase: &str, unit: Unit, total: Option<u64>) -> ProgressReporter {
        let progress = ProgressReporter::new(phase, unit, total);
        match self.report_every {
            Some(time) => progress.every(time),
            None => progress,
        }
    }
}
