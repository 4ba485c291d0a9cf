//! Answers to earlier requests that are still right.

use std::any::Any;
use std::sync::Arc;

use crate::error::Error;
use crate::state::State;
use crate::store::kept_answers::{KeptAnswers, Moment};

/// The answers that show the present content and time.
#[derive(Clone)]
pub struct PresentAnswers {
    answers: Arc<KeptAnswers>,
    moment: Moment,
}

impl PresentAnswers {
    /// Reads the version of the content, or returns `None` if no answers are kept. `period` is a
    /// number of the time during which an answer stays the same.
    ///
    /// # Errors
    /// The database failed.
    pub async fn of(state: &State, period: i64) -> Result<Option<PresentAnswers>, Error> {
        let Some(answers) = &state.answers else { return Ok(None) };
        let moment = Moment { version: answers.version().await?, period };
        Ok(Some(PresentAnswers { answers: Arc::clone(answers), moment }))
    }

    /// Returns the answer to a request.
    pub fn get<T: Any + Send + Sync>(&self, request: &str) -> Option<Arc<T>> {
        self.answers.get(request, self.moment)
    }

    /// Keeps the answer to a request, which takes this many bytes.
    pub fn put<T: Any + Send + Sync>(&self, request: String, answer: Arc<T>, bytes: usize) {
        self.answers.put(request, self.moment, answer, bytes);
    }
}
