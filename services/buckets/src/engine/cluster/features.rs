//! Detects features that were added to ClickHouse after 18.16. We look for their settings, because
//! these are more reliable than version numbers.

use super::client::Client;
use super::error::ClusterError;
use super::servers::{Server, Servers};

/// Features that 18.16 doesn't have. A feature is only used if every server has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features {
    /// Text indexes and `hasAllTokens`, tested with 26.9.
    pub(super) text_index: bool,
    /// `DELETE FROM`, which marks rows as deleted, and `APPLY DELETED MASK`, which then rewrites
    /// the affected parts. Since 24.4.
    pub(super) lightweight_delete: bool,
    /// Whether old parts can be cleaned up without a delay of several minutes.
    pub(super) cleanup_thread: bool,
}

/// The setting that indicates each of the [`Features`], in field order.
const TOLD_BY: [&str; 3] =
    ["enable_full_text_index", "lightweight_deletes_sync", "max_cleanup_delay_period"];

impl Features {
    /// Detects the features that all servers have in common. Every server must respond.
    pub(super) fn of(client: &Client, servers: &Servers) -> Result<Self, ClusterError> {
        let all = Self { text_index: true, lightweight_delete: true, cleanup_thread: true };
        servers.all().iter().try_fold(all, |common, server| {
            let own = Self::of_server(client, server)?;
            Ok(Self {
                text_index: common.text_index && own.text_index,
                lightweight_delete: common.lightweight_delete && own.lightweight_delete,
                cleanup_thread: common.cleanup_thread && own.cleanup_thread,
            })
        })
    }

    fn of_server(client: &Client, server: &Server) -> Result<Self, ClusterError> {
        let answer = client.look_up(
            &server.url,
            "SELECT name FROM system.settings UNION ALL SELECT name FROM system.merge_tree_settings \
             FORMAT TSV",
        )?;
        let names = String::from_utf8_lossy(&answer);
        let has = |wanted: &str| names.lines().any(|name| name == wanted);
        let [text_index, lightweight_delete, cleanup_thread] = TOLD_BY.map(has);
        Ok(Self { text_index, lightweight_delete, cleanup_thread })
    }

    /// Table settings that make ClickHouse delete old parts quickly.
    pub(super) fn part_settings(self) -> &'static str {
        if self.cleanup_thread {
            "old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 1, \
             cleanup_delay_period_random_add = 0"
        } else {
            "old_parts_lifetime = 1"
        }
    }
}
