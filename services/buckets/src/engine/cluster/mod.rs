//! The cluster engine, which stores indexes that are too large for one machine in ClickHouse.
//!
//! A generation consists of three tables on every server. File rows are sharded by bucket. A
//! journal with a single row determines which rows are visible; inserting a new version of that row
//! publishes a state atomically. Rows that a publish replaces are listed in a table of dead rows.
//! Searches exclude them until they are deleted. At its end, a search checks whether a deletion has
//! started, and is repeated if so.
//!
//! All servers must be reachable over HTTP at the port of `CLUSTER_URL`, by the host names of the
//! cluster configuration, with the same user.

mod client;
mod connection;
mod error;
mod facets;
mod features;
mod filter;
mod generation;
mod index;
mod journal;
mod layout;
mod lease;
mod list;
mod pattern;
mod rows;
mod schema;
mod search;
mod servers;
mod sql;
mod target;
mod verify;
mod view;
mod writer;

pub use connection::Cluster;
pub use index::ClusterIndex;
