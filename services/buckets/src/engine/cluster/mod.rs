//! The cluster engine: ClickHouse over its HTTP interface, for an index that outgrows a machine.
//!
//! A generation is three tables on every server. Rows of files are sharded by bucket; a journal of
//! one row says which of them are visible, and inserting its next version is the atomic step of
//! every publish. Rows that a publish replaces are named in the table of dead rows, which every
//! search leaves out until the servers have deleted them. A deletion may begin while a search still
//! works on an older state, so a search asks at its end whether one did, and is then repeated.
//!
//! Every server must answer HTTP at the port of `CLUSTER_URL` under the name that the cluster's
//! configuration gives it, to the same user.

mod client;
mod connection;
mod error;
mod features;
mod filter;
mod generation;
mod index;
mod journal;
mod layout;
mod lease;
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
