//! Code shared by the venue and organizer handlers.

use actix_web::{HttpRequest, HttpResponse};

use super::input::Input;
use super::path::parse_id;
use super::reply;
use crate::app::linked::{self, PathKey};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::state::State;

/// Parses an id from a path.
pub fn id(digits: &str) -> PathKey {
    PathKey::Id(parse_id(digits))
}

/// Parses a slug from a path.
pub fn slug(text: &str) -> PathKey {
    PathKey::of_slug(text)
}

/// The items of one kind.
pub struct Items(pub Kind);

impl Items {
    /// Creates an item, or returns the existing one with the same name.
    pub async fn create(self, input: Input, state: &State) -> Result<HttpResponse, Error> {
        let (json, location) = linked::create(state, input.request, self.0).await?;
        reply::created(&json, location, input.fields.as_deref())
    }

    pub async fn find(
        self,
        key: PathKey,
        input: Input,
        request: &HttpRequest,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let (json, modified) = linked::find(state, input.request, key.of(self.0)).await?;
        reply::read(&json, Some(modified), request, input.fields.as_deref())
    }

    pub async fn update(
        self,
        key: PathKey,
        input: Input,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let json = linked::update(state, input.request, key.of(self.0)).await?;
        reply::ok(&json, input.fields.as_deref())
    }

    /// Moves an item to the trash, or erases it if requested.
    pub async fn remove(
        self,
        key: PathKey,
        input: Input,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let json = linked::remove(state, input.request, key.of(self.0)).await?;
        reply::ok(&json, input.fields.as_deref())
    }
}
