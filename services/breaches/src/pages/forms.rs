//! Forms for visitors who aren't signed in.

use askama::Template;

/// Sign-in form.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage<'a> {
    pub csrf: &'a str,
}

/// Form to request notices.
#[derive(Template)]
#[template(path = "notify_me.html")]
pub struct NotifyMePage<'a> {
    pub csrf: &'a str,
}

/// Form to request an opt-out.
#[derive(Template)]
#[template(path = "opt_out.html")]
pub struct OptOutPage<'a> {
    pub csrf: &'a str,
}

/// The three opt-out choices.
#[derive(Template)]
#[template(path = "opt_out_choose.html")]
pub struct ChoosePage<'a> {
    pub csrf: &'a str,
    pub address: &'a str,
    pub token: &'a str,
}

/// Form to approve a domain.
#[derive(Template)]
#[template(path = "approve.html")]
pub struct ApprovePage<'a> {
    pub owner: &'a str,
    pub domain: &'a str,
    pub csrf: &'a str,
    pub token: &'a str,
}
