//! Pages for signed-in subscribers.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Form;
use super::messages::see_other;
use super::visitor::SignedIn;
use crate::app;
use crate::pages::{NotificationsPage, OverviewPage, StealerLogsPage, SubscriptionPage};
use crate::state::State;

/// Returns a page in the account section.
pub fn page(title: &str) -> Page<'_> {
    Page::new(title).current("account")
}

/// Shows the breaches, pastes and data classes of the subscriber's address.
pub async fn overview(visitor: SignedIn, state: Data<State>) -> Result<HttpResponse, PageError> {
    let exposure = app::own_exposure(&state, &visitor.subscriber.email).await?;
    let frame = visitor.frame("overview");
    Ok(visitor.respond(&page("Overview"), &OverviewPage::new(frame, exposure)))
}

/// Shows the websites where the subscriber's address was captured.
pub async fn stealer_logs(
    visitor: SignedIn,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let exposure = app::own_exposure(&state, &visitor.subscriber.email).await?;
    let frame = visitor.frame("stealer-logs");
    let main = StealerLogsPage { frame, websites: &exposure.websites };
    Ok(visitor.respond(&page("Stealer logs"), &main))
}

/// Shows the notice settings.
pub async fn notifications(
    visitor: SignedIn,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let notify = app::notifies(&state, visitor.subscriber.id).await?;
    let silent = app::silent_domains(&state, visitor.subscriber.id).await?;
    let frame = visitor.frame("notifications");
    Ok(visitor.respond(&page("Notifications"), &NotificationsPage { frame, notify, silent }))
}

/// Turns notices on or off, or turns emails about a domain back on.
pub async fn set_notifications(
    form: Form<SignedIn>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let subscriber = form.sender.subscriber.id;
    match form.fields.text("domain") {
        "" => {
            app::set_notify(&state, subscriber, form.fields.text("notify") == "on").await?;
        }
        domain => app::resume_domain(&state, subscriber, domain).await?,
    }
    Ok(see_other("/account/notifications"))
}

/// Shows the plan, its limits and the current usage.
pub async fn subscription(
    visitor: SignedIn,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let plan = app::own_plan(&state, visitor.subscriber.id).await?.into();
    let frame = visitor.frame("subscription");
    Ok(visitor.respond(&page("Subscription"), &SubscriptionPage { frame, plan }))
}
