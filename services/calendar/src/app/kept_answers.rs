//! Reuses responses that are still current.

use std::any::Any;
use std::sync::Arc;

use crate::error::Error;
use crate::state::State;
use crate::store::kept_answers::{Kept, KeptAnswers, Moment};

/// The cached responses, with the content version that a request has read.
#[derive(Clone)]
pub struct PresentAnswers {
    answers: Arc<KeptAnswers>,
    version: i64,
}

impl PresentAnswers {
    /// Reads the content version. Returns `None` if responses aren't cached.
    ///
    /// # Errors
    /// Returns any database error.
    pub async fn of(state: &State) -> Result<Option<PresentAnswers>, Error> {
        let Some(answers) = &state.answers else { return Ok(None) };
        let version = answers.version().await?;
        Ok(Some(PresentAnswers { answers: Arc::clone(answers), version }))
    }

    /// Returns whether a cached response matches the current content. `period` is a number that
    /// changes when the response becomes outdated just because time has passed.
    pub fn is_current<T>(&self, kept: &KeptAnswer<T>, period: i64) -> bool {
        kept.moment == Moment { version: self.version, period }
    }

    /// Caches the response to a request. `bytes` is its size in memory.
    pub fn put<T: Any + Send + Sync>(
        &self,
        request: String,
        period: i64,
        answer: Arc<T>,
        bytes: usize,
    ) {
        let moment = Moment { version: self.version, period };
        self.answers.put(request, moment, answer, bytes);
    }
}

/// A cached response. Might be outdated.
pub struct KeptAnswer<T> {
    pub answer: Arc<T>,
    moment: Moment,
}

/// Returns the cached response to a request, even if it is outdated.
pub fn kept_answer<T: Any + Send + Sync>(state: &State, request: &str) -> Option<KeptAnswer<T>> {
    let Kept { moment, answer } = state.answers.as_ref()?.get(request)?;
    Some(KeptAnswer { answer, moment })
}
