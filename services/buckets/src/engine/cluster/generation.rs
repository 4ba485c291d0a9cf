//! A generation's servers and tables, shared by search, verification and the writer.

use std::sync::Arc;

use super::client::Client;
use super::layout::Layout;
use super::schema::Tables;
use super::servers::Servers;

/// The servers and tables of a generation.
pub(super) struct Generation {
    pub(super) client: Arc<Client>,
    pub(super) servers: Servers,
    pub(super) tables: Tables,
    pub(super) number: u32,
    pub(super) layout: Layout,
}
