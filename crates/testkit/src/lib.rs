//! Throw-away databases, servers and folders for tests.
//!
//! ```no_run
//! # async fn test<S: shell::Service>(service: S) -> Result<(), reqwest::Error> {
//! let server = testkit::TestServer::start(service).await;
//! let answer = server.get("/api/v2/stats").send().await?;
//! assert_eq!(answer.status(), 401);
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod contract;
mod database;
mod server;

pub use contract::assert_openapi_matches;
pub use database::Database;
pub use server::{Folder, TestServer};
