//! The rules of breach lookup: what is visible to whom, how accounts are keyed and counted.
#![warn(missing_docs)]

pub mod account_key;
pub mod address_text;
pub mod block_list;
pub mod breach;
pub mod catalogue;
pub mod domain_size;
pub mod entry;
pub mod id_list;
pub mod instant;
pub mod opt_out;
pub mod paste;
pub mod plan;
pub mod test_data;
pub mod website;

pub use account_key::{AccountKey, EmailPrefix};
pub use block_list::BlockList;
pub use breach::{Breach, Flags};
pub use catalogue::Catalogue;
pub use opt_out::{OptOut, OptOutSet};
