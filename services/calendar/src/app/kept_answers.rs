//! Reuses earlier responses that are still current.

use std::any::Any;
use std::sync::Arc;

use crate::error::Error;
use crate::state::State;
use crate::store::kept_answers::{KeptAnswers, Moment};

/// The kept responses that match the current content and time.
#[derive(Clone)]
pub struct PresentAnswers {
    answers: Arc<KeptAnswers>,
    moment: Moment,
}

impl PresentAnswers {
    /// Reads the content version. Returns `None` if responses are not kept. `period` is a number
    /// that changes when time alone makes a response outdated.
    ///
    /// # Errors
    /// The database failed.
    pub async fn of(state: &State, period: i64) -> Result<Option<PresentAnswers>, Error> {
        let Some(answers) = &state.answers else { return Ok(None) };
        let moment = Moment { version: answers.version().await?, period };
        Ok(Some(PresentAnswers { answers: Arc::clone(answers), moment }))
    }

    /// Returns the kept response to a request, if any.
    pub fn get<T: Any + Send + Sync>(&self, request: &str) -> Option<Arc<T>> {
        self.answers.get(request, self.moment)
    }

    /// Keeps the response to a request. `bytes` is its size in memory.
    pub fn put<T: Any + Send + Sync>(&self, request: String, answer: Arc<T>, bytes: usize) {
        self.answers.put(request, self.moment, answer, bytes);
    }
}
