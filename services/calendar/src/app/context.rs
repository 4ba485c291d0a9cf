//! Everything that a request handler works with: the connection, the caller, the clock and the
//! settings.

use database::Db;
use jiff::Timestamp;
use serde::Serialize;

use super::lookup::look_up;
use super::write_context::{FetchedImages, WriteContext};
use crate::error::Error;
use crate::model::language::Language;
use crate::model::role::{self, Action, Actor, User};
use crate::model::schedule::wall_seconds;
use crate::model::urls::Urls;
use crate::state::Site;
use crate::store::users;
use crate::wire::fields;
use crate::wire::list_input::ListOptions;
use crate::wire::names::{Input, Known};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::render_context::RenderContext;
use crate::wire::sanitized::SanitizedTexts;
use crate::wire::write_input::WriteOptions;

/// Everything that a request handler works with, borrowed for one transaction.
pub struct RequestContext<'a> {
    pub db: &'a mut Db,
    pub actor: Actor,
    pub site: &'a Site,
    pub urls: Urls,
    pub now: Timestamp,
    /// Images fetched for this request. `None` if image URLs are only recorded.
    pub fetched: Option<&'a FetchedImages>,
    /// The row's id on the site it was imported from. The new row gets the same id if it is free
    /// here.
    pub wanted_id: Option<i64>,
    /// Long strings that were sanitized before the transaction started.
    pub sanitized: &'a SanitizedTexts,
    /// The `If-Match` values of a write request, if the header was sent.
    pub if_match: Option<&'a [String]>,
}

impl RequestContext<'_> {
    /// Fails unless `If-Match` lists the resource's current entity tag. Both the tag of the
    /// response with the selected keys and the tag of the full response count.
    pub fn check_unchanged<T: Serialize>(
        &mut self,
        params: &Params,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<(), Error> {
        let Some(values) = self.if_match else { return Ok(()) };
        let shown = read(self)?;
        let listed = |cut: Option<&str>| {
            let text = fields::written(&shown, cut);
            let text = text.map_err(|error| Error::Internal(error.to_string()))?;
            Ok::<bool, Error>(fields::tag(&text).is_listed(values.iter().map(String::as_bytes)))
        };
        let cut = params.text("_fields");
        match listed(None)? || (cut.is_some() && listed(cut)?) {
            true => Ok(()),
            false => Err(Error::PreconditionFailed),
        }
    }

    /// Looks up the caller by the API key owner's login.
    pub fn actor(db: &mut Db, login: Option<&str>) -> Result<Actor, Error> {
        match login {
            // A deleted user's key is invalid.
            Some(login) => Ok(Some(users::by_login(db, login)?.ok_or(Error::InvalidCredentials)?)),
            None => Ok(None),
        }
    }

    /// Fails unless the caller's role permits the action.
    pub fn permit(&self, action: Action) -> Result<(), Error> {
        let user = self.actor.as_ref().ok_or(Error::Unauthorized)?;
        if role::may(user, action) { Ok(()) } else { Err(Error::Forbidden) }
    }

    pub fn user(&self) -> Result<User, Error> {
        self.actor.clone().ok_or(Error::Unauthorized)
    }

    /// Returns the context for rendering responses.
    pub fn render(&self) -> RenderContext<'_> {
        RenderContext {
            urls: &self.urls,
            zone: &self.site.settings.site_timezone,
            currency: &self.site.currency,
            language: self.language(),
        }
    }

    /// Returns the page language.
    pub fn language(&self) -> Language {
        self.urls.language.unwrap_or(self.site.settings.site_locale)
    }

    /// Looks up the rows that a write request refers to, and decodes its parameters.
    pub fn decode_write<I: Input, T>(
        &mut self,
        user: &User,
        input: I,
        decode: impl FnOnce(I, &Known, WriteOptions<'_>) -> Result<T, ParameterErrors>,
    ) -> Result<T, Error> {
        let known = look_up(self.db, &input.names(&self.urls), &self.actor)?;
        let options = WriteOptions {
            user,
            zone: &self.site.settings.site_timezone,
            currency: &self.site.currency,
            urls: &self.urls,
            now: self.now,
            unfiltered_html: self.site.settings.unfiltered_html.is_on(),
            sanitized: self.sanitized,
        };
        Ok(decode(input, &known, options)?)
    }

    /// Looks up the rows that a list request refers to, and decodes its parameters.
    pub fn decode_list<I: Input, T>(
        &mut self,
        input: I,
        decode: impl FnOnce(I, &Known, ListOptions<'_>) -> Result<T, ParameterErrors>,
    ) -> Result<T, Error> {
        let known = look_up(self.db, &input.names(&self.urls), &self.actor)?;
        Ok(decode(input, &known, self.list_options())?)
    }

    /// Returns the options for decoding list queries.
    pub fn list_options(&self) -> ListOptions<'_> {
        let settings = &self.site.settings;
        ListOptions {
            actor: &self.actor,
            zone: &settings.site_timezone,
            now: self.now,
            per_page: settings.per_page,
            per_page_max: settings.per_page_max,
            geo_radius: settings.geo_radius,
            geo_unit: settings.geo_unit.into(),
        }
    }
}

impl<'a> RequestContext<'a> {
    /// Returns the author and time to record for this request's changes.
    pub fn write_context<'b>(&self, user: &'b User) -> WriteContext<'b>
    where
        'a: 'b,
    {
        let wall = self.site.settings.site_timezone.wall(self.now);
        WriteContext {
            user,
            now: self.now.as_second(),
            now_local: wall_seconds(wall),
            fetched: self.fetched,
            wanted_id: self.wanted_id,
            by_user: true,
        }
    }
}
