//! Mirrors another range service into local corpora.

mod base;
mod fetcher;
mod pace;
mod report;
mod run;
mod upstream;

pub use fetcher::Politeness;
pub use report::Mirrored;
pub use run::Mirror;
pub use upstream::Upstream;
