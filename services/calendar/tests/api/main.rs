//! The calendar over HTTP, on SQLite and PostgreSQL alike.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod app;
mod bodies;
mod caching;
mod changes;
mod commands;
mod consistency;
mod costly_lists;
mod dates;
mod documents;
mod errors;
mod event_lists;
mod events;
mod filters;
mod first_start;
mod ical;
mod images;
mod import_bounds;
mod imports;
mod included;
mod linked;
mod loading;
mod log;
mod long_pages;
mod markup;
mod names;
mod orders;
mod page_lists;
mod pages;
mod parameters;
mod plans;
mod preconditions;
mod private_files;
mod roles;
mod searches;
mod soak;
mod stop;
mod terms;
mod turns;
mod wall_clocks;
mod webhooks;
mod windows;
mod writes;
