//! Database queries, with one file per group of tables, and storage for image files.

pub(crate) mod among_ids;
pub(crate) mod changes;
pub(crate) mod checks;
pub(crate) mod conditions;
pub(crate) mod entities;
pub(crate) mod erasure;
pub(crate) mod event_index;
pub(crate) mod event_list;
pub(crate) mod event_moves;
pub(crate) mod event_statuses;
pub(crate) mod events;
pub(crate) mod external_ids;
pub(crate) mod feeds;
pub(crate) mod images;
pub(crate) mod imported;
pub(crate) mod imported_states;
pub(crate) mod included;
pub(crate) mod kept_answers;
pub(crate) mod linked_post_list;
pub(crate) mod linked_posts;
pub(crate) mod links;
pub(crate) mod media;
pub(crate) mod months;
pub(crate) mod read_transactions;
pub(crate) mod remote_calendars;
pub(crate) mod remote_images;
mod schema;
pub(crate) mod series;
pub(crate) mod series_due;
pub(crate) mod series_events;
pub(crate) mod series_names;
pub(crate) mod series_origins;
pub(crate) mod series_revisions;
pub(crate) mod site_items;
pub(crate) mod site_map;
pub(crate) mod slugs;
pub(crate) mod sql;
pub(crate) mod statistics;
pub(crate) mod subscribed_events;
pub(crate) mod subscriptions;
pub(crate) mod term_choices;
pub(crate) mod term_list;
pub(crate) mod terms;
pub(crate) mod text_lengths;
pub(crate) mod transfer;
pub(crate) mod users;
pub(crate) mod webhooks;

use database::Migrations;

/// Database migrations for the calendar tables.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
    tables: &[
        "entities",
        "users",
        "events",
        "venues",
        "organizers",
        "terms",
        "series",
        "content_version",
    ],
};
