//! Domain logic of breach lookup: visibility of breaches, account keys and counts.
#![warn(missing_docs)]

pub(crate) mod account_key;
pub(crate) mod address_text;
pub(crate) mod block_list;
pub(crate) mod breach;
pub(crate) mod catalogue;
pub(crate) mod domain_size;
pub(crate) mod domain_tree;
pub(crate) mod entry;
pub(crate) mod form_key;
pub(crate) mod id_list;
pub(crate) mod instant;
pub(crate) mod loaded_address;
pub(crate) mod markup;
pub(crate) mod month;
pub(crate) mod notice;
pub(crate) mod opt_out;
pub(crate) mod page_head;
pub(crate) mod paste;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod spreadsheet;
pub(crate) mod test_data;
pub(crate) mod verification;
pub(crate) mod waiting;
pub(crate) mod webhook_url;
pub(crate) mod website;

pub use account_key::{AccountKey, EmailPrefix};
pub use block_list::BlockList;
pub use breach::{Breach, Flags};
pub use catalogue::Catalogue;
pub use entry::read as read_entry;
pub use loaded_address::parse as parse_loaded_address;
pub use markup::{allowed as allowed_markup, is_allowed as is_allowed_markup};
pub use opt_out::{OptOut, OptOutSet, REMOVED_RECORD, RemovedSet};
pub use verification::{Evidence, Proof};
pub use website::host as website_host;
