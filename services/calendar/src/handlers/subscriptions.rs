//! Subscriptions to other calendars.

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

/// Lists all subscriptions to other calendars, with their state and last run. Extension.
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

/// Subscribes to an iCalendar file at another address. It is fetched at once and then regularly: its
/// events are created and updated by UID, and future ones that it no longer has are moved to the
/// trash. What users change of these events stays until it is released. Extension.
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

/// Reads a subscription. Extension.
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

/// Changes the settings of a subscription: only what is sent. A new address is fetched at once.
/// Extension.
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

/// Removes a subscription. Its events stay, or with `events=true` are moved to the trash first, which
/// may take a while. Returns its last state. Extension.
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

/// Lists the events of a subscription, each with the parts that users changed. Extension.
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

/// Releases an event that users changed, or some of its parts: the next run, which is due at once,
/// writes them again. Extension.
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

/// Defines a handler that changes the state of a subscription.
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
    /// Makes a subscription due at once. Extension.
    run_subscription "runSubscription", Run,
    "/calendar/events/v1/subscriptions/{id}/run", "/calendar/events/v1/subscriptions/{id:[0-9]+}/run"
}

step_route! {
    /// Pauses a subscription. A run in progress ends. Extension.
    pause_subscription "pauseSubscription", Pause,
    "/calendar/events/v1/subscriptions/{id}/pause", "/calendar/events/v1/subscriptions/{id:[0-9]+}/pause"
}

step_route! {
    /// Resumes a subscription that was paused or stopped. It is due at once. Extension.
    resume_subscription "resumeSubscription", Resume,
    "/calendar/events/v1/subscriptions/{id}/resume", "/calendar/events/v1/subscriptions/{id:[0-9]+}/resume"
}

step_route! {
    /// Accepts that the file of a stopped subscription lacks more than half of its future events. The
    /// next run, which is due at once, moves them to the trash. Extension.
    accept_subscription "acceptSubscription", Accept,
    "/calendar/events/v1/subscriptions/{id}/accept", "/calendar/events/v1/subscriptions/{id:[0-9]+}/accept"
}
