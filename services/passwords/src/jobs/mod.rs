//! What an operator runs: building, merging, checking and inspecting corpora.

pub mod activate;
pub mod build;
pub mod chunks;
pub mod export;
pub mod feed;
pub mod folder;
pub mod info;
pub mod input;
pub mod lookup;
pub mod merge;
pub mod ordered;
pub mod partition;
pub mod pipeline;
pub mod prune;
pub mod reload;
pub mod report;
pub mod runs;
pub mod unordered;
pub mod verify;
