//! What the long commands of all services share.
#![warn(missing_docs)]
