//! The home page.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Form;
use super::visitor::Visitor;
use crate::app;
use crate::pages::{ExposedPage, HomePage};
use crate::state::State;

/// Number of latest breaches to show.
const LATEST: usize = 5;

/// Shows the search form.
pub async fn home(visitor: Visitor, state: Data<State>) -> HttpResponse {
    let summary = app::summary(&state, LATEST);
    let page = Page::new("Have I been exposed?")
        .description("Find the data breaches in which your address appears.")
        .feed("application/rss+xml", "New breaches", "feed.xml");
    visitor.respond(&page, &HomePage::new(&visitor.csrf(), summary))
}

/// Searches for an address. This is a POST request so that the address doesn't end up in browser
/// histories and logs.
pub async fn search(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (visitor, address) = (form.sender, form.fields.email()?);
    let exposure = app::public_exposure(&state, visitor.client, &address).await?;
    let is_found = !exposure.breaches.is_empty() || !exposure.pastes.is_empty();
    let title = if is_found { "Exposed" } else { "Not found" };
    let (csrf, address) = (visitor.csrf(), address.as_str());
    let main = ExposedPage::new(&csrf, address, exposure);
    Ok(visitor.respond(&Page::new(title), &main))
}
