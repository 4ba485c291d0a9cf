//! The test harness: a running service with its own database, clock and keys.

use std::sync::Arc;

use breaches::Settings;
use breaches::jobs::AccountsOptions;
use breaches::jobs::Format;
use breaches::jobs::{JobContext, Outcome};
use breaches::store::{breaches as store_breaches, subscribers};
use breaches::{Breaches, DnsRecords, External, SiteFetcher, SmtpMailer, State};
use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress, ManualClock};
use outbound::{Dns, Names, Reach, WebhookSender};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use testkit::{Database, DnsPeer, Exchange, Folder, HttpPeer, SmtpPeer, TestServer};

pub const TEST: &str = "breach-integration-tests.example";
pub const ZERO: &str = "00000000000000000000000000000000";
pub const UNKNOWN: &str = "0123456789abcdef0123456789ABCDEF";
/// Base URL of links in mails.
pub const PUBLIC_URL: &str = "https://breaches.example";
/// 2026-03-01T12:00:00Z.
pub const NOW: i64 = 1_772_366_400;

/// External servers that the tested service uses. Those that are not given are unavailable.
#[derive(Default)]
pub struct Peers {
    pub smtp: Option<SmtpPeer>,
    pub dns: Option<DnsPeer>,
    /// The website of `example.com`, `www.example.com` and `other.example`.
    pub site: Option<HttpPeer>,
    /// Whether the addresses of websites are checked, as in production.
    pub guarded: bool,
    /// Allows webhooks on loopback.
    pub webhooks: bool,
}

impl Peers {
    fn external(&self, settings: &Settings) -> External {
        let mut external = External::unavailable().unwrap();
        external.public_url = PUBLIC_URL.to_owned();
        if let Some(smtp) = &self.smtp {
            let from = settings.mail.sender(PUBLIC_URL);
            external.mailer = Arc::new(SmtpMailer::new(&smtp.url(), &from).unwrap());
        }
        if let Some(dns) = &self.dns {
            external.dns = Arc::new(DnsRecords(Dns::at(dns.address()).unwrap()));
        }
        if let Some(site) = &self.site {
            let names = ["example.com", "www.example.com", "other.example"];
            let hosts = names.map(|name| (name.to_owned(), site.address())).into();
            let reach = match self.guarded {
                true => Reach::public(),
                false => Reach { permitted: |_| true, ..Reach::public() },
            };
            external.websites =
                Arc::new(SiteFetcher::new(reach.with_names(Names::Fixed(hosts))).unwrap());
        }
        if self.webhooks {
            external.webhooks = WebhookSender::new(Reach::anywhere(), "tests").unwrap();
        }
        external
    }
}

pub struct App {
    pub server: TestServer,
    pub state: State,
    pub context: JobContext,
    pub clock: ManualClock,
    pub folder: Folder,
    pub database: Database,
    pub peers: Peers,
}

impl App {
    pub async fn start() -> Self {
        Self::with(|_| ()).await
    }

    pub async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::on(Database::new(), change, |_| ()).await
    }

    /// Starts a service whose mail server, resolver and websites are test servers on loopback.
    pub async fn with_peers(peers: Peers) -> Self {
        Self::among(Database::new(), |_| (), |_| (), peers).await
    }

    pub async fn on(
        database: Database,
        change: impl FnOnce(&mut Settings),
        shell: impl FnOnce(&mut shell::ShellSettings),
    ) -> Self {
        Self::among(database, change, shell, Peers::default()).await
    }

    /// Starts a service whose public URL has a path.
    pub async fn with_peers_below(public_url: &str, peers: Peers) -> Self {
        let url = Some(public_url.to_owned());
        Self::among(Database::new(), |_| (), |shell| shell.public_url = url, peers).await
    }

    async fn among(
        database: Database,
        change: impl FnOnce(&mut Settings),
        shell: impl FnOnce(&mut shell::ShellSettings),
        peers: Peers,
    ) -> Self {
        let mut settings = Settings::for_tests();
        change(&mut settings);
        let pools = database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
        let clock = testkit::clock("2026-03-01T12:00:00Z");
        let context = JobContext { pools, clock: clock.shared(), settings };
        breaches::jobs::first_start(&context).unwrap();
        let external = peers.external(&context.settings);
        let state = State::new(
            context.pools.clone(),
            context.clock.clone(),
            context.settings.clone(),
            external,
        )
        .unwrap();
        let server = TestServer::start_with(Breaches::new(state.clone()), shell).await;
        Self { server, state, context, clock, folder: Folder::new(), database, peers }
    }

    /// Builds a request with a user agent.
    pub fn request(&self, path: &str) -> RequestBuilder {
        self.server.get(path).header("user-agent", "tests")
    }

    /// Renders a request and its response for snapshots: status, headers that do not depend on time
    /// or port, and body.
    pub async fn shown(&self, key: &str, path: &str) -> String {
        let request = self.request(path).header("breach-api-key", key);
        let headers = [
            "content-type",
            "cache-control",
            "access-control-allow-origin",
            "retry-after",
            "x-domain-search-limited",
        ];
        format!("GET {path}\n{}\n", request.answer().await.shown(&headers))
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(path).send().await.unwrap()
    }

    pub async fn get_with(&self, key: &str, path: &str) -> Response {
        self.request(path).header("breach-api-key", key).send().await.unwrap()
    }

    pub async fn json_with(&self, key: &str, path: &str) -> Value {
        let response = self.get_with(key, path).await;
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// Runs a transaction and reloads the server's snapshot.
    pub async fn change<T>(&self, work: impl FnOnce(&mut Db) -> Result<T, DatabaseError>) -> T {
        let value = self.context.pools.write_blocking(work).unwrap();
        self.state.reload().await.unwrap();
        value
    }

    /// Sends a POST request with a key and a JSON body.
    pub async fn post_with(&self, key: &str, path: &str, body: &Value) -> (u16, String) {
        let request = self.server.post(path).header("user-agent", "tests");
        let request = request.header("breach-api-key", key).body(body.to_string());
        answer(request.send().await.unwrap()).await
    }

    /// Adds a subscriber with a plan and returns a key.
    pub async fn subscriber(&self, email: &str, plan: &str) -> String {
        let email = EmailAddress::parse(email).unwrap();
        self.change(|db| {
            let id = subscribers::add(db, &email, NOW)?;
            subscribers::subscribe(db, id, plan, NOW + 86_400 * 365, NOW)?;
            let (_, text) =
                auth::issue(db, email.as_str(), None, None, NOW).map_err(DatabaseError::broken)?;
            Ok(text)
        })
        .await
    }

    pub async fn import(&self, catalogue: &Value) -> breaches::jobs::ImportReport {
        let entries = catalogue.as_array().unwrap().clone();
        let report = self.context.pools.write_blocking(|db| {
            breaches::jobs::import_catalogue(
                db,
                &entries,
                breaches::jobs::ImportOptions { confirmed: true, ..Default::default() },
                NOW,
            )
        });
        self.state.reload().await.unwrap();
        report.unwrap()
    }

    /// Loads addresses, one per line.
    pub async fn load(&self, breach: &str, lines: &str) -> Outcome {
        self.load_as(breach, lines, false).await
    }

    /// Loads addresses, one per line, with or without notices.
    pub async fn load_as(&self, breach: &str, lines: &str, no_notify: bool) -> Outcome {
        let file = self.folder.write(format!("{breach}.txt"), lines);
        let options = AccountsOptions {
            breach: breach.into(),
            files: vec![file],
            format: Format::Lines,
            no_notify,
            ..Default::default()
        };
        let context = self.context.clone();
        let outcome =
            tokio::task::spawn_blocking(move || breaches::jobs::load_accounts(&context, &options))
                .await
                .unwrap();
        self.state.reload().await.unwrap();
        outcome.unwrap()
    }

    /// Loads pairs of address and website.
    pub async fn load_pairs(&self, breach: &str, text: &str) -> Outcome {
        self.load_pairs_as(breach, text, false).await
    }

    /// Loads pairs of address and website, with or without notices.
    pub async fn load_pairs_as(&self, breach: &str, text: &str, no_notify: bool) -> Outcome {
        let options = breaches::jobs::StealerLogsOptions {
            breach: breach.into(),
            file: self.folder.write(format!("{breach}.pairs"), text),
            drop_self: true,
            no_notify,
            ..Default::default()
        };
        let context = self.context.clone();
        let outcome = tokio::task::spawn_blocking(move || {
            breaches::jobs::load_stealer_logs(&context, &options)
        });
        let outcome = outcome.await.unwrap().unwrap();
        self.state.reload().await.unwrap();
        outcome
    }

    /// Loads pastes, one JSON object per line.
    pub async fn load_pastes(&self, text: &str) -> Outcome {
        self.load_pastes_as(text, false).await
    }

    /// Loads pastes, with or without notices.
    pub async fn load_pastes_as(&self, text: &str, no_notify: bool) -> Outcome {
        let file = self.folder.write("pastes.ndjson", text);
        let options = breaches::jobs::PastesOptions { file, no_notify };
        let context = self.context.clone();
        let outcome =
            tokio::task::spawn_blocking(move || breaches::jobs::load_pastes(&context, &options));
        outcome.await.unwrap().unwrap()
    }

    /// Verifies a domain on behalf of the operator. Returns everything that is verified now.
    pub async fn verify(&self, email: &str, domain: &str) -> Vec<String> {
        let email = EmailAddress::parse(email).unwrap();
        let domain = DomainName::parse(domain).unwrap();
        let now = self.context.clock.unix();
        let verified = breaches::verify_domain(&self.context.pools, &email, &domain, now);
        self.state.reload().await.unwrap();
        verified.unwrap()
    }

    /// Changes a breach of the catalogue.
    pub async fn set_breach(&self, name: &str, set: impl FnOnce(&mut breaches::model::Breach)) {
        self.change(|db| {
            let mut found = store_breaches::by_name(db, name)?.ok_or(DatabaseError::NotFound)?;
            set(&mut found);
            store_breaches::update(db, &found)?;
            breaches::store::versions::bump_catalogue(db, NOW)
        })
        .await;
    }
}

/// Returns the status and the body of a response.
pub async fn answer(response: Response) -> (u16, String) {
    (response.status().as_u16(), response.text().await.unwrap())
}

/// Returns the status and the body of an error.
pub fn failure(status: u16, message: &str) -> (u16, String) {
    (status, format!("{{\"statusCode\":{status},\"message\":\"{message}\"}}"))
}

/// Builds a catalogue entry.
pub fn entry(name: &str) -> Value {
    serde_json::json!({
        "Name": name, "Title": format!("The {name}"), "Domain": format!("{}.example", name.to_lowercase()),
        "BreachDate": "2020-02-20", "AddedDate": "2020-05-15T10:20:00Z",
        "ModifiedDate": "2020-05-15T10:20:00Z", "PwnCount": 3,
        "Description": "A <em>made-up</em> entry.", "LogoPath": "https://logos.example/x.png",
        "Attribution": null, "DisclosureUrl": null, "DataClasses": ["Email addresses", "Names"],
        "IsVerified": true, "IsFabricated": false, "IsSensitive": false, "IsRetired": false,
        "IsSpamList": false, "IsMalware": false, "IsSubscriptionFree": false, "IsStealerLog": false
    })
}
