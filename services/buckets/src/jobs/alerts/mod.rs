//! Matches newly published files against alerts.

mod background;
mod judge;
mod matcher;

pub use background::judge_missed;
pub(super) use judge::{judge_or_warn, judge_published};
