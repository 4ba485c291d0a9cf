//! Code shared by the category and tag handlers.

use actix_web::{HttpRequest, HttpResponse};

use super::input::Input;
use super::reply;
use crate::app::terms::{self, TermKey};
use crate::error::Error;
use crate::model::term::Taxonomy;
use crate::state::State;

/// The terms of one taxonomy.
pub struct Terms(pub Taxonomy);

impl Terms {
    fn key(self, id: i64) -> TermKey {
        TermKey { taxonomy: self.0, id }
    }

    pub async fn create(self, input: Input, state: &State) -> Result<HttpResponse, Error> {
        let json = terms::create(state, input.request, self.0).await?;
        let location = json.urls.own.clone();
        reply::created(&json, location, input.fields.as_deref())
    }

    pub async fn find(
        self,
        id: i64,
        input: Input,
        request: &HttpRequest,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let json = terms::find(state, input.request, self.key(id)).await?;
        // Terms don't have a modification date.
        reply::read(&json, None, request, input.fields.as_deref())
    }

    pub async fn update(self, id: i64, input: Input, state: &State) -> Result<HttpResponse, Error> {
        let json = terms::update(state, input.request, self.key(id)).await?;
        reply::ok(&json, input.fields.as_deref())
    }

    pub async fn remove(self, id: i64, input: Input, state: &State) -> Result<HttpResponse, Error> {
        let json = terms::delete(state, input.request, self.key(id)).await?;
        reply::ok(&json, input.fields.as_deref())
    }
}
