//! The cluster engine stores the index in ClickHouse. It is meant for indexes that don't fit on one
//! machine.
//!
//! Each generation has three tables on every server. File rows are sharded by bucket. A single
//! journal row determines which file rows are visible, so inserting a new version of it publishes a
//! state atomically. The third table lists dead rows. These have been replaced by a publish, and
//! searches exclude them until they are deleted. When a search finishes, it checks whether a
//! deletion has started, and if so, it runs again.
//!
//! All servers must be reachable over HTTP at the port in `CLUSTER_URL`, under the hostnames from
//! the cluster configuration and with the same user.

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
