//! HTML pages. They look the same to every visitor, so they only show published resources.

mod calendars;
mod event;
mod listing;
mod month;
mod moved;
mod named_series;
mod period;
pub(crate) mod site_map;
mod subjects;

pub use calendars::{
    calendar, calendar_of_event, calendar_of_linked, calendar_of_series, calendar_of_term,
    calendar_of_trashed, subscription,
};
pub use event::{event_page, next_of_series};
pub use listing::{
    Announcements, Choices, ListView, PageRequest, announced, first_of_list, list_page,
};
pub use month::month_page;
pub use moved::{Named, moved, path_of};
pub use period::Steps;
pub use subjects::{TermView, linked_page, term_page};
