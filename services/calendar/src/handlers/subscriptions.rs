//! Handlers for subscriptions to other calendars.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post};

use super::input::Input;
use super::path::{Id, parse_id};
use super::reply;
use crate::app::subscriptions::{self, Step};
use crate::error::Error;
use crate::state::State;
use crate::wire::description::{SubscriptionCreate, SubscriptionRelease, SubscriptionUpdate};
use crate::wire::parameters::{
    ItemParameters, SubscribedEventParameters, SubscriptionDeleteParameters,
};
use crate::wire::subscription::{SubscribedEventListJson, SubscriptionJson, SubscriptionListJson};

/// List subscriptions
///
/// Returns all subscriptions to calendars on other sites, with their state and last run. Extension.
#[utoipa::path(
    operation_id = "listSubscriptions", tag = "subscriptions", path = "/calendar/events/v1/subscriptions",
    params(ItemParameters), security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 200, body = SubscriptionListJson), (status = 304), (status = 400), (status = 403)),
)]
#[get("/calendar/events/v1/subscriptions")]
pub async fn list_subscriptions(
    input: Input,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let json = subscriptions::list(&state, input.request).await?;
    reply::read(&json, None, &request, input.fields.as_deref())
}

/// Create a subscription
///
/// Subscribes to an iCalendar file on another site. The file is fetched immediately, and then at
/// regular intervals. Its events are created and updated by UID, and future events that disappear
/// from the file are moved to the trash. Changes that users make to these events are kept until
/// they are released. Extension.
#[utoipa::path(
    operation_id = "createSubscription", tag = "subscriptions", path = "/calendar/events/v1/subscriptions",
    request_body = SubscriptionCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = SubscriptionJson), (status = 400), (status = 403), (status = 415)),
)]
#[post("/calendar/events/v1/subscriptions")]
pub async fn create_subscription(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let location = input.request.urls.clone();
    let json = subscriptions::create(&state, input.request).await?;
    let location = location.item("subscriptions", json.id);
    reply::created(&json, location, input.fields.as_deref())
}

/// Get a subscription
///
/// Returns a subscription with its state and last run. Extension.
#[utoipa::path(
    operation_id = "getSubscription", tag = "subscriptions", path = "/calendar/events/v1/subscriptions/{id}",
    params(Id, ItemParameters), security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 200, body = SubscriptionJson), (status = 304), (status = 400), (status = 403), (status = 404)),
)]
#[get("/calendar/events/v1/subscriptions/{id:[0-9]+}")]
pub async fn get_subscription(
    input: Input,
    path: InPath<String>,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let json = subscriptions::find(&state, input.request, parse_id(&path)).await?;
    reply::read(&json, None, &request, input.fields.as_deref())
}

/// Update a subscription
///
/// Changes only the fields in the request. A new URL is fetched immediately. Extension.
#[utoipa::path(
    operation_id = "patchSubscription", tag = "subscriptions", path = "/calendar/events/v1/subscriptions/{id}",
    params(Id), request_body = SubscriptionUpdate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 200, body = SubscriptionJson), (status = 400), (status = 403), (status = 404), (status = 415)),
)]
#[patch("/calendar/events/v1/subscriptions/{id:[0-9]+}")]
pub async fn patch_subscription(
    input: Input,
    path: InPath<String>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let json = subscriptions::update(&state, input.request, parse_id(&path)).await?;
    reply::ok(&json, input.fields.as_deref())
}

/// Delete a subscription
///
/// Its events are kept, unless `events=true` is given. In that case, they are moved to the trash
/// before the subscription is removed, which may take a while. Returns the subscription's last
/// state. Extension.
#[utoipa::path(
    operation_id = "deleteSubscription", tag = "subscriptions", path = "/calendar/events/v1/subscriptions/{id}",
    params(Id, SubscriptionDeleteParameters), security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 200, body = SubscriptionJson), (status = 400), (status = 403), (status = 404)),
)]
#[delete("/calendar/events/v1/subscriptions/{id:[0-9]+}")]
pub async fn delete_subscription(
    input: Input,
    path: InPath<String>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let json = subscriptions::delete(&state, input.request, parse_id(&path)).await?;
    reply::ok(&json, input.fields.as_deref())
}

/// List a subscription's events
///
/// Each event includes the names of the parts that users changed. Extension.
#[utoipa::path(
    operation_id = "listSubscribedEvents", tag = "subscriptions", path = "/calendar/events/v1/subscriptions/{id}/events",
    params(Id, SubscribedEventParameters), security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 200, body = SubscribedEventListJson), (status = 304), (status = 400), (status = 403), (status = 404)),
)]
#[get("/calendar/events/v1/subscriptions/{id:[0-9]+}/events")]
pub async fn list_subscribed_events(
    input: Input,
    path: InPath<String>,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let json = subscriptions::events(&state, input.request, parse_id(&path)).await?;
    reply::read(&json, None, &request, input.fields.as_deref())
}

/// Release an event
///
/// Lets the next run overwrite the parts of an event that users changed. If the subscription is
/// active, that run is due immediately. Extension.
#[utoipa::path(
    operation_id = "releaseSubscribedEvent", tag = "subscriptions", path = "/calendar/events/v1/subscriptions/{id}/release",
    params(Id), request_body = SubscriptionRelease, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 200, body = SubscriptionJson), (status = 400), (status = 403), (status = 404), (status = 415)),
)]
#[post("/calendar/events/v1/subscriptions/{id:[0-9]+}/release")]
pub async fn release_subscribed_event(
    input: Input,
    path: InPath<String>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let json = subscriptions::release_event(&state, input.request, parse_id(&path)).await?;
    reply::ok(&json, input.fields.as_deref())
}

/// Defines a handler that changes a subscription's state.
macro_rules! step_route {
    ($(#[$doc:meta])* $name:ident $id:tt, $step:ident, $documented:tt, $route:tt) => {
        $(#[$doc])*
        #[utoipa::path(
            operation_id = $id, tag = "subscriptions", path = $documented, params(Id, ItemParameters),
            security(("key" = []), ("bearer" = []), ("basic" = [])),
            responses((status = 200, body = SubscriptionJson), (status = 400), (status = 403), (status = 404)),
        )]
        #[post($route)]
        pub async fn $name(
            input: Input,
            path: InPath<String>,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            let id = parse_id(&path);
            let json = subscriptions::take_step(&state, input.request, id, Step::$step).await?;
            reply::ok(&json, input.fields.as_deref())
        }
    };
}

step_route! {
    /// Run a subscription
    ///
    /// Makes an active subscription due immediately. Extension.
    run_subscription "runSubscription", Run,
    "/calendar/events/v1/subscriptions/{id}/run", "/calendar/events/v1/subscriptions/{id:[0-9]+}/run"
}

step_route! {
    /// Pause a subscription
    ///
    /// A run in progress is aborted. Extension.
    pause_subscription "pauseSubscription", Pause,
    "/calendar/events/v1/subscriptions/{id}/pause", "/calendar/events/v1/subscriptions/{id:[0-9]+}/pause"
}

step_route! {
    /// Resume a subscription
    ///
    /// Makes a paused or stopped subscription active again. It is due immediately. Extension.
    resume_subscription "resumeSubscription", Resume,
    "/calendar/events/v1/subscriptions/{id}/resume", "/calendar/events/v1/subscriptions/{id:[0-9]+}/resume"
}

step_route! {
    /// Accept missing events
    ///
    /// Accepts that more than half of the future events are missing from a stopped subscription's
    /// file. The next run, which is due immediately, moves them to the trash. Extension.
    accept_subscription "acceptSubscription", Accept,
    "/calendar/events/v1/subscriptions/{id}/accept", "/calendar/events/v1/subscriptions/{id:[0-9]+}/accept"
}
