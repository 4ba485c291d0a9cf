//! The calendar's domain rules: dates, zones, slugs, costs, statuses and roles. This module doesn't
//! depend on HTTP or SQL.

#![warn(missing_docs)]

pub(crate) mod absolute_dates;
pub(crate) mod change;
pub(crate) mod changes;
pub(crate) mod condition;
pub(crate) mod cost;
pub(crate) mod event;
pub(crate) mod event_status;
pub(crate) mod geo;
pub(crate) mod html;
pub(crate) mod image;
pub(crate) mod image_metadata;
pub(crate) mod included;
pub(crate) mod language;
pub(crate) mod linked;
pub(crate) mod list;
pub(crate) mod month;
pub(crate) mod notice;
pub(crate) mod period;
pub(crate) mod price;
pub(crate) mod recurrence;
pub(crate) mod remote_address;
pub(crate) mod revision;
pub(crate) mod role;
pub(crate) mod schedule;
pub(crate) mod search;
pub(crate) mod series;
pub(crate) mod series_fields;
pub(crate) mod series_ids;
pub(crate) mod series_spoken;
pub(crate) mod slug;
pub(crate) mod spoken;
pub(crate) mod status;
pub(crate) mod subscription;
pub(crate) mod subscription_parts;
pub(crate) mod term;
pub(crate) mod urls;
pub(crate) mod when;
pub(crate) mod window;
pub(crate) mod zone;
