//! A browser without scripts, for the pages.

use testkit::{Answer, Exchange};

use crate::app::{App, PUBLIC_URL};

/// The `traceparent` header that the browser sends with all forms.
pub const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736";

/// A browser without scripts. It keeps cookies and sends the hidden fields of forms.
pub struct Browser<'a> {
    app: &'a App,
    cookies: std::cell::RefCell<std::collections::BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub fn new(app: &'a App) -> Self {
        Self { app, cookies: Default::default() }
    }

    fn keep(&self, answer: &Answer) {
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            assert!(line.contains("; HttpOnly; SameSite=Lax"), "{line}");
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
        }
    }

    fn cookie(&self) -> String {
        let cookies = self.cookies.borrow();
        cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// Returns the value of the cookie whose name contains a word.
    pub fn secret(&self, word: &str) -> String {
        let cookies = self.cookies.borrow();
        let found = cookies.iter().find(|(name, _)| name.contains(word));
        found.unwrap_or_else(|| panic!("no {word} in {cookies:?}")).1.clone()
    }

    pub async fn get(&self, path: &str) -> Answer {
        let answer = self.app.request(path).header("cookie", self.cookie()).answer().await;
        self.keep(&answer);
        answer
    }

    /// Sends a form with the CSRF token from its page.
    pub async fn post(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = hidden(self.get(page).await.text(), "csrf");
        let fields = [&[("csrf", csrf.as_str())], fields].concat();
        self.send(action, &fields).await
    }

    pub async fn send(&self, action: &str, fields: &[(&str, &str)]) -> Answer {
        let request = self.app.server.post(action).header("user-agent", "tests");
        let request = request.header("traceparent", format!("{TRACE}-00f067aa0ba902b7-01"));
        let answer = request.header("cookie", self.cookie()).form(fields).answer().await;
        self.keep(&answer);
        answer
    }

    /// Signs in with the link in the last mail.
    pub async fn sign_in(&self, address: &str) {
        let sent = self.post("/sign-in", "/sign-in", &[("email", address)]).await.expect(200);
        assert!(sent.text().contains("Check your email"));
        let token = self.app.last_token("/sign-in/confirm");
        let link = format!("/sign-in/confirm?token={token}");
        let done = self.post(&link, "/sign-in/confirm", &[("token", &token)]).await.expect(303);
        assert_eq!(done.header("location"), "/account");
    }
}

pub trait Must {
    /// Asserts the status.
    fn must(self, status: u16);
}

impl Must for Answer {
    #[track_caller]
    fn must(self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text());
    }
}

/// Returns the value of a hidden field.
pub fn hidden(html: &str, name: &str) -> String {
    let field = format!("name=\"{name}\" value=\"");
    let rest = html.split(&field).nth(1).unwrap_or_else(|| panic!("no {name} in {html}"));
    rest.split('"').next().unwrap().to_owned()
}

impl App {
    /// Returns the token in the link of the last mail, which must lead to `path`.
    pub fn last_token(&self, path: &str) -> String {
        let mail = self.peers.smtp.as_ref().unwrap().mails().pop().unwrap();
        let link = mail.find("https://").unwrap();
        link.strip_prefix(&format!("{PUBLIC_URL}{path}?token=")).unwrap().to_owned()
    }
}
