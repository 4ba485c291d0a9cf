//! Writes to an embedded index.

mod embedded_writer;
mod publish;
mod purge;

pub(super) use embedded_writer::EmbeddedWriter;
