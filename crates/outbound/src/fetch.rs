//! Fetching what lies at an address that a user named.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::address::web_url;
use crate::client;
use crate::reach::Reach;

/// Why nothing was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Not a valid URL, or one that may not be connected to.
    #[error("the address may not be fetched")]
    Forbidden,
    /// No host, no connection, a redirect that leads too far, or a broken answer.
    #[error("the address gives no answer")]
    Unavailable,
    /// The answer did not come in time.
    #[error("the address gives no answer in time")]
    TimedOut,
    /// The answer is larger than what the caller takes.
    #[error("the answer is too large")]
    TooLarge,
}

/// Whether a redirect may be followed: the address that was asked for first, and the target.
pub type RedirectRule = fn(&Url, &Url) -> bool;

/// How a [`Fetcher`] fetches.
#[derive(Clone, Debug)]
pub struct FetchRules {
    /// What it calls itself.
    pub user_agent: &'static str,
    /// For the whole of a fetch: look-up, redirects and body.
    pub timeout: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
    /// Which redirects are followed; each must lead to what may be connected to as well.
    pub redirect_rule: RedirectRule,
    /// Ports that may be named; none means any.
    pub ports: &'static [u16],
}

impl FetchRules {
    /// Ten seconds, three redirects to anywhere within reach, any port.
    pub fn new(user_agent: &'static str) -> Self {
        Self {
            user_agent,
            timeout: Duration::from_secs(10),
            redirects: 3,
            redirect_rule: |_, _| true,
            ports: &[],
        }
    }
}

/// Fetches documents from addresses that users name; a clone is another handle to the same.
#[derive(Clone, Debug)]
pub struct Fetcher {
    client: Client,
    reach: Reach,
    rules: FetchRules,
}

impl Fetcher {
    /// Makes a fetcher.
    ///
    /// # Errors
    /// When the HTTP client cannot be made.
    pub fn new(reach: Reach, rules: FetchRules) -> Result<Self, reqwest::Error> {
        let policy = {
            let (reach, rules) = (reach.clone(), rules.clone());
            Policy::custom(move |attempt| follow(&reach, &rules, attempt))
        };
        let client = client::build(&reach, rules.user_agent, policy)?;
        Ok(Self { client, reach, rules })
    }

    /// Fetches the whole document at an address, of at most `limit` bytes.
    ///
    /// # Errors
    /// [`FetchError`]; an answer with any status is none.
    pub async fn get(&self, address: &str, limit: usize) -> Result<Fetched, FetchError> {
        let download = self.open(address).await?;
        let (status, media_type) = (download.status(), download.media_type());
        Ok(Fetched { status, media_type, body: download.whole(limit).await? })
    }

    /// Sends the request and reads the head of the answer; its body can be judged before it is
    /// read.
    ///
    /// # Errors
    /// [`FetchError`].
    pub async fn open(&self, address: &str) -> Result<Download, FetchError> {
        let deadline = Instant::now() + self.rules.timeout;
        let url = web_url(address).ok_or(FetchError::Forbidden)?;
        if !may_fetch(&self.reach, &self.rules, &url) {
            return Err(FetchError::Forbidden);
        }
        let sent = timeout_at(deadline, self.client.get(url).send()).await;
        let response = sent.map_err(|_| FetchError::TimedOut)?.map_err(unavailable)?;
        Ok(Download { response, deadline })
    }
}

fn may_fetch(reach: &Reach, rules: &FetchRules, url: &Url) -> bool {
    let port = url.port_or_known_default();
    let fits = rules.ports.is_empty() || port.is_some_and(|port| rules.ports.contains(&port));
    fits && reach.may_name(url)
}

fn follow(reach: &Reach, rules: &FetchRules, attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let first = attempt.previous().first();
    let allowed = attempt.previous().len() <= rules.redirects
        && may_fetch(reach, rules, attempt.url())
        && first.is_some_and(|first| (rules.redirect_rule)(first, attempt.url()));
    if allowed { attempt.follow() } else { attempt.error("the redirect leads too far") }
}

fn unavailable(error: reqwest::Error) -> FetchError {
    // The address may hold a secret.
    log::info!("an address was not fetched: {:?}", error.without_url());
    FetchError::Unavailable
}

/// The head of an answer whose body is still to be read.
#[derive(Debug)]
pub struct Download {
    response: Response,
    deadline: Instant,
}

impl Download {
    /// The status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The media type in lower case without its parameters, or an empty text.
    pub fn media_type(&self) -> String {
        let named = self.response.headers().get(CONTENT_TYPE);
        let essence = named.and_then(|value| value.to_str().ok()?.split(';').next());
        essence.unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Reads the whole body, of at most `limit` bytes.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`], as soon as that is known.
    pub async fn whole(self, limit: usize) -> Result<Vec<u8>, FetchError> {
        if self.response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(FetchError::TooLarge);
        }
        let (bytes, complete) = self.read(limit).await?;
        if complete { Ok(bytes) } else { Err(FetchError::TooLarge) }
    }

    /// Reads the beginning of the body, at most `limit` bytes.
    ///
    /// # Errors
    /// [`FetchError::Unavailable`], [`FetchError::TimedOut`].
    pub async fn beginning(self, limit: usize) -> Result<Vec<u8>, FetchError> {
        Ok(self.read(limit).await?.0)
    }

    /// The body up to `limit`, and whether that is all of it.
    async fn read(mut self, limit: usize) -> Result<(Vec<u8>, bool), FetchError> {
        let mut bytes = Vec::new();
        loop {
            let chunk = timeout_at(self.deadline, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| FetchError::TimedOut)?.map_err(unavailable)?;
            let Some(chunk) = chunk else { return Ok((bytes, true)) };
            let room = limit - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok((bytes, false));
            }
        }
    }
}

/// A document, read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The media type in lower case without its parameters, or an empty text.
    pub media_type: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Fetched {
    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
