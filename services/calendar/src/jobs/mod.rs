//! Work beside requests: first start, due publications, loading.

pub mod first_start;
pub mod load;
pub mod publish;
