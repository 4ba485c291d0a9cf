//! Lets subscribers add, verify and remove domains.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};

use super::account::page;
use super::failure::PageError;
use super::form::Form;
use super::messages::{domain, see_other};
use super::visitor::{SignedIn, refused};
use crate::app::{self, DomainDetail};
use crate::error::{Error, VerificationError};
use crate::model::verification::{EmailAlias, VerificationMethod};
use crate::pages::{DomainsPage, Outcome, RemovePage, VerifyPage};
use crate::state::State;

/// Returns the path of a domain's page.
pub fn path(name: &str) -> String {
    format!("/account/domains/{name}")
}

/// Lists the domains.
pub async fn list(visitor: SignedIn, state: Data<State>) -> Result<HttpResponse, PageError> {
    answer(&visitor, &state, "", None).await
}

async fn answer(
    visitor: &SignedIn,
    state: &State,
    name: &str,
    error: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let domains = app::domains(state, visitor.subscriber.id).await?;
    let frame = visitor.frame("domains");
    let main = DomainsPage { frame, domains: &domains, name, error };
    let response = visitor.respond(&page("Domains").wide(), &main);
    Ok(match error {
        Some(_) => refused(StatusCode::UNPROCESSABLE_ENTITY, response),
        None => response,
    })
}

/// Adds a domain and redirects to its page.
pub async fn add(form: Form<SignedIn>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (visitor, name) = (&form.sender, form.fields.text("domain"));
    match app::add_domain(&state, visitor.subscriber.id, name).await {
        Ok(domain) => Ok(see_other(&path(domain.as_str()))),
        Err(Error::Verification(VerificationError::DomainName)) => {
            let error = "This domain cannot be verified. Enter a domain that you control, such as \
                         example.com.";
            answer(visitor, &state, name, Some(error)).await
        }
        Err(Error::Verification(error)) => {
            answer(visitor, &state, name, Some(&error.to_string())).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Shows the four ways to verify a domain.
pub fn verify_page(
    visitor: &SignedIn,
    detail: &DomainDetail,
    outcome: Option<Outcome>,
) -> HttpResponse {
    let frame = visitor.frame("domains");
    let has_failed = outcome.as_ref().is_some_and(|outcome| !outcome.good);
    let main = VerifyPage { frame, detail, aliases: EmailAlias::ALL, outcome };
    let response = visitor.respond(&page(&detail.row.name), &main);
    match has_failed {
        true => refused(StatusCode::UNPROCESSABLE_ENTITY, response),
        false => response,
    }
}

/// Tries to verify a domain in one of these ways.
pub async fn verify(
    form: Form<SignedIn>,
    name: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let Form { sender: visitor, fields } = form;
    let subscriber = visitor.subscriber.id;
    let domain = domain(&name)?;
    let (method, word) = match fields.text("way") {
        "dns" => (Some(VerificationMethod::Dns), "dns"),
        "file" => (Some(VerificationMethod::File), "file"),
        "meta" => (Some(VerificationMethod::MetaTag), "meta"),
        "email" => (None, "email"),
        _ => return Err(PageError::Api(Error::Unreadable)),
    };
    let detail = app::domain_detail(&state, subscriber, &domain).await?;
    let tried = match method {
        Some(method) => app::verify_domain_by(&state, subscriber, &domain, method).await,
        None => {
            let (alias, client) = (fields.text("alias"), visitor.client);
            app::send_domain_mail(&state, subscriber, &domain, alias, client).await
        }
    };
    let outcome = match tried {
        Ok(()) if method.is_some() => return Ok(see_other(&path(domain.as_str()))),
        Ok(()) => {
            let text =
                "We sent the email. Its link can be used once and expires in 24 hours.".to_owned();
            Outcome { method: word, good: true, text }
        }
        Err(Error::Verification(error)) => {
            Outcome { method: word, good: false, text: error.to_string() }
        }
        Err(Error::Unavailable) => {
            let text = "The server did not respond. Try again in a minute.".to_owned();
            Outcome { method: word, good: false, text }
        }
        Err(error) => return Err(error.into()),
    };
    Ok(verify_page(&visitor, &detail, Some(outcome)))
}

/// Asks for confirmation before removing a domain.
pub async fn remove_form(
    visitor: SignedIn,
    name: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let detail = app::domain_detail(&state, visitor.subscriber.id, &domain(&name)?).await?;
    let frame = visitor.frame("domains");
    let main = RemovePage { frame, name: &detail.row.name };
    Ok(visitor.respond(&page("Remove a domain"), &main))
}

/// Removes a domain.
pub async fn remove(
    form: Form<SignedIn>,
    name: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    app::remove_domain(&state, form.sender.subscriber.id, &domain(&name)?).await?;
    Ok(see_other("/account/domains"))
}
