//! Serves a calendar of events as a REST API, web pages and iCalendar feeds.
//!
//! A request passes through the middleware in `handlers::edge` (alias prefix, OPTIONS, method
//! override, CORS) to a handler, which reads the caller and the parameters and calls a single use
//! case in `app`. The use case does all of its database work in a single read or transaction, and
//! renders the response. `model` contains the domain rules, `wire` the names of parameters and
//! response fields, and `store` the queries.

mod app;
mod cli;
mod config;
mod error;
mod handlers;
mod ical;
mod jobs;
mod metrics;
mod model;
mod openapi;
mod policy;
mod routes;
mod service;
mod state;
mod store;
mod wire;

pub use cli::Cli;
pub use config::Settings;
pub use jobs::{
    Fault, ImportOptions, Inherited, LoadOptions, Loaded, PurgeOptions, Purged, UserError,
    change_role, create_user, deliver_due, empty_trash, extend_series, import, load, load_file,
    load_table_file, publish_due, purge, remove_user, review_series, run_due_subscriptions,
};
pub use service::Calendar;
pub use state::State;
pub use store::MIGRATIONS;

// For tests, examples and fuzz targets only.
pub use ical::{Component, ComponentKind, Entry, EntryContext, ForeignZones, Occurrence, Reader};
pub use model::cost::Currency;
pub use model::event::{Event, Links};
pub use model::geo::{Point, Unit};
pub use model::included::Included;
pub use model::language::{Count, Language};
pub use model::linked::Kind;
pub use model::list::{EventFilter, EventOrder, Geo, Paging, Scope, Slice, Unpublished};
pub use model::month::MonthEntry;
pub use model::role::{Role, User};
pub use model::schedule::{Schedule, ScheduleChange, wall_from_seconds};
pub use model::search::{Words, fold};
pub use model::series::SeriesLimits;
pub use model::status::{Stage, Status};
pub use model::term::Taxonomy;
pub use model::urls::Urls;
pub use model::when::{PointInTime, When};
pub use model::window::{Bounds, Limits, Window};
pub use model::zone::Zone;
pub use store::event_index::{
    Deadline, EventIndex, IndexAccess, ListError, forget_texts_statement,
};
pub use store::event_list::{
    page as list_events, page_by_statement as list_by_statement, page_statement as list_statement,
    page_with_included as list_with_included,
};
pub use store::events::{
    allocate as allocate_event, find as find_event, insert as insert_event, update as update_event,
};
pub use store::images::by_ids as images_by_ids;
pub use store::included::{EventSelector, of_events as events_with_included};
pub use store::linked_posts::by_ids as linked_by_ids;
pub use store::links::of_event as links_of_event;
pub use store::media::Media;
pub use store::months::{
    days as days_of_month, first_of_days, first_statements as first_of_days_statements,
    overnight as count_overnight, overnight_statement,
};
pub use store::read_transactions::read_transaction;
pub use store::remote_calendars::CalendarFetcher;
pub use store::remote_images::{ImageFetcher, MAX_BYTES as MAX_IMAGE_BYTES};
pub use store::series_revisions::{
    keep_statements as kept_revision_statements, latest_statement as latest_revision_statement,
};
pub use store::site_items::forget_statement as forget_items_statement;
pub use store::slugs::forget_statement as forget_slugs_statement;
pub use store::sql::{Sql, one_writer};
pub use store::statistics::gather as gather_statistics;
pub use store::subscribed_events::dates_statement as subscribed_dates_statement;
pub use store::terms::with_ancestors as terms_with_ancestors;
pub use store::users::add as add_user;
pub use store::webhooks::{
    add as add_webhook, remove as remove_webhook, waiting as waiting_messages,
};
pub use wire::event_input::EventInput;
pub use wire::import::{ImportErrorJson, ImportJson};
pub use wire::linked_input::LinkedInput;
pub use wire::list_input::{EventListInput, LinkedListInput, ListOptions, TermListInput};
pub use wire::names::{Input, Known, KnownTerms, Names, TermNames};
pub use wire::objects::{Labels, Objects, Row};
pub use wire::params::Params;
pub use wire::sanitized::SanitizedTexts;
pub use wire::term_input::TermInput;
pub use wire::write_input::WriteOptions;
