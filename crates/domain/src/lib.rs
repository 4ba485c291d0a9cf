#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod clock;
mod digest;
mod domain_name;
mod email;
mod prefix;
mod transfer;

pub use clock::{Clock, ManualClock, SharedClock, SystemClock};
pub use digest::{NtlmDigest, Sha1Digest};
pub use domain_name::{DomainError, DomainName};
pub use email::{EmailAddress, EmailError};
pub use prefix::{HashPrefix, PrefixError};
pub use transfer::shows_its_end;
