//! The vocabulary that Quintet's services share.
//!
//! Every type here holds only valid values: text is parsed once, at the edge, and carried as a
//! type from then on. Nothing in this crate opens a file, a socket or a database.
//!
//! ```
//! use domain::{EmailAddress, HashPrefix, Sha1Digest};
//!
//! let address = EmailAddress::parse(" Test@Example.COM ")?;
//! assert_eq!(address.as_str(), "test@example.com");
//! assert_eq!(address.sha1(), Sha1Digest::of(b"test@example.com"));
//! assert_eq!(HashPrefix::parse("21bd1")?.value(), 0x21BD1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]

mod clock;
mod digest;
mod domain_name;
mod email;
mod page;
mod prefix;

pub use clock::{Clock, ManualClock, SharedClock, SystemClock};
pub use digest::{DigestError, NtlmDigest, Sha1Digest};
pub use domain_name::{DomainError, DomainName};
pub use email::{EmailAddress, EmailError};
pub use page::Page;
pub use prefix::{HashPrefix, PrefixError};
