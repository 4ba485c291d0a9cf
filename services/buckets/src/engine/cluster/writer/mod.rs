//! Writes to a generation.

mod cluster_writer;
mod deletion;
mod file_writer;
mod publish;

pub(super) use cluster_writer::ClusterWriter;
