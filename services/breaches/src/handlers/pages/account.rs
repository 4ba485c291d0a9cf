//! What people who are signed in see of themselves.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;

use super::account_frame::Frame;
use super::failure::PageError;
use super::form::Fields;
use super::messages::see_other;
use super::visitor::Visitor;
use crate::app::{self, Exposure, PlanView};
use crate::state::State;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage<'a> {
    frame: Frame,
    exposure: &'a Exposure,
}

#[derive(Template)]
#[template(path = "stealer_logs.html")]
struct StealerLogsPage<'a> {
    frame: Frame,
    websites: &'a [String],
}

#[derive(Template)]
#[template(path = "notifications.html")]
struct NotificationsPage {
    frame: Frame,
    notify: bool,
}

#[derive(Template)]
#[template(path = "subscription.html")]
struct SubscriptionPage<'a> {
    frame: Frame,
    plan: &'a PlanView,
}

/// The page of an account.
pub fn page(title: &str) -> Page<'_> {
    Page::new(title).current("account")
}

/// Breaches, pastes and data classes of the own address.
pub async fn overview(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let exposure = app::own_exposure(&state, &subscriber.email).await?;
    let frame = visitor.frame(&subscriber, "overview");
    Ok(visitor.respond(&page("Overview"), &OverviewPage { frame, exposure: &exposure }))
}

/// Websites at which the own address was captured.
pub async fn stealer_logs(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let exposure = app::own_exposure(&state, &subscriber.email).await?;
    let frame = visitor.frame(&subscriber, "stealer-logs");
    let main = StealerLogsPage { frame, websites: &exposure.websites };
    Ok(visitor.respond(&page("Stealer logs"), &main))
}

/// Whether notices are on.
pub async fn notifications(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let notify = app::notifies(&state, subscriber.id).await?;
    let frame = visitor.frame(&subscriber, "notifications");
    Ok(visitor.respond(&page("Notifications"), &NotificationsPage { frame, notify }))
}

/// Turns notices on or off.
pub async fn set_notifications(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    visitor.check(&fields)?;
    app::set_notify(&state, subscriber.id, fields.text("notify") == "on").await?;
    Ok(see_other("/account/notifications"))
}

/// The plan with its limits and their use.
pub async fn subscription(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let plan = app::plan_view(&state, subscriber.id).await?;
    let frame = visitor.frame(&subscriber, "subscription");
    Ok(visitor.respond(&page("Subscription"), &SubscriptionPage { frame, plan: &plan }))
}
