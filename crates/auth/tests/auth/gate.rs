//! How the gate admits and rejects requests.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::{App, HttpMessage, HttpRequest, HttpResponse, web};
use auth::{
    After, AuthError, Caller, Charge, Credential, Finding, Gate, Holder, Key, KeyStore, Policy,
    Quota, QuotaId, Quotas, Remaining,
};
use shell::{Credentials, ErrorFormat, Fault, RequestInfo};

use crate::House;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

struct Rules {
    anonymous: Option<Quota>,
}

impl Policy for Rules {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        match auth::authorization_key(request)? {
            Some(credential) => Ok(Some(credential)),
            None => auth::header_key(request, &X_API_KEY),
        }
    }

    fn anonymous(&self, _: &HttpRequest) -> Option<Charge> {
        self.anonymous.map(Charge::from)
    }

    fn refused(&self, _: &HttpRequest) -> Charge {
        Quota::per_minute(2).into()
    }

    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let charge = Charge::from(key.quota().unwrap_or(Quota::per_minute(5)));
        charge.cost(u32::from(request.path() != "/free"))
    }
}

struct Words;

impl ErrorFormat for Words {
    fn respond(&self, fault: &Fault, _: &RequestInfo) -> HttpResponse {
        match fault {
            Fault::Unauthorized(Credentials::Several) => HttpResponse::BadRequest().finish(),
            Fault::Unauthorized(fault) => HttpResponse::Unauthorized().body(format!("{fault:?}")),
            Fault::TooManyRequests { retry_after } => {
                HttpResponse::TooManyRequests().body(retry_after.to_string())
            }
            _ => HttpResponse::InternalServerError().finish(),
        }
    }
}

async fn who(first: Caller, again: Caller, request: HttpRequest) -> String {
    let state = request.extensions().get::<Remaining>().copied();
    assert_eq!(first.remaining, again.remaining, "charged once");
    assert_eq!(first.remaining, state.filter(|_| first.remaining.is_some()));
    let owner = first.key.map_or_else(|| "anonymous".to_owned(), |key| key.owner.clone());
    format!("{owner} {:?}", first.remaining.map(|left| left.remaining))
}

#[derive(serde::Deserialize)]
struct Picky {
    page: u32,
}

async fn picky(caller: Caller, query: After<web::Query<Picky>>) -> String {
    format!("{} {:?}", query.0.page, caller.remaining.map(|left| left.remaining))
}

/// Sends requests (path, address, keys) to an app with a gate. Returns the status and body of each
/// response.
async fn send(house: &House, rules: Rules, requests: &[(&str, &str, &[&str])]) -> Vec<String> {
    let clock = house.clock.shared();
    let gate = Gate::new(KeyStore::new(house.pools(), clock.clone()), Quotas::new(clock), rules);
    let format: Arc<dyn ErrorFormat> = Arc::new(Words);
    let app = App::new()
        .app_data(format)
        .app_data(gate)
        .route("/", web::get().to(who))
        .route("/free", web::get().to(who))
        .route("/picky", web::get().to(picky));
    let app = init_service(app).await;
    let mut answers = Vec::new();
    for (path, address, keys) in requests {
        let peer = format!("{address}:4711").parse().unwrap();
        let mut request = TestRequest::with_uri(path).peer_addr(peer);
        for key in *keys {
            request = request.append_header(("x-api-key", *key));
        }
        let answer = call_service(&app, request.to_request()).await;
        let status = answer.status();
        let body = String::from_utf8(read_body(answer).await.to_vec()).unwrap();
        let status = if status == StatusCode::OK { String::new() } else { status.as_str().into() };
        answers.push(format!("{status} {body}").trim().to_owned());
    }
    answers
}

const HERE: &str = "192.0.2.1";
const THERE: &str = "192.0.2.2";

#[actix_web::test]
async fn live_key_has_one_bucket_for_all_addresses() {
    let house = House::new();
    let (_, key) = house.issue(&house.pools(), "alice");
    let key = [key.as_str()];
    let mut requests = vec![("/", HERE, key.as_slice()); 3];
    requests.extend(vec![("/", THERE, key.as_slice()); 3]);
    let answers = send(&house, Rules { anonymous: None }, &requests).await;
    assert_eq!(
        answers,
        [
            "alice Some(4)",
            "alice Some(3)",
            "alice Some(2)",
            "alice Some(1)",
            "alice Some(0)",
            "429 12"
        ]
    );
}

#[actix_web::test]
async fn plan_of_the_key_sets_its_bucket() {
    let house = House::new();
    let plan = auth::Plan::new("tiny", "Tiny", 60, 1);
    let now = house.now();
    let (_, key) = house
        .pools()
        .write_blocking(|db| {
            auth::seed_plans(db, &[plan])?;
            auth::issue(db, "alice", Some("tiny"), None, now)
        })
        .unwrap();
    let key = [key.as_str()];
    let requests = [("/", HERE, key.as_slice()); 2];
    let answers = send(&house, Rules { anonymous: None }, &requests).await;
    assert_eq!(answers, ["alice Some(0)", "429 1"]);
}

#[actix_web::test]
async fn refused_keys_are_charged_to_the_address_and_are_never_anonymous() {
    let house = House::new();
    let pools = house.pools();
    let (_, live) = house.issue(&pools, "alice");
    let (dead, text) = house.issue(&pools, "bob");
    let now = house.now();
    pools.write_blocking(|db| auth::revoke(db, dead.id, now)).unwrap();
    let unknown = "0".repeat(32);
    let rules = Rules { anonymous: Some(Quota::per_minute(100)) };
    let answers = send(
        &house,
        rules,
        &[
            ("/", HERE, &[&text]),
            ("/free", HERE, &[&unknown]),
            ("/", HERE, &["junk"]),
            ("/", THERE, &["junk"]),
            ("/", HERE, &[&live]),
            ("/", HERE, &[]),
        ],
    )
    .await;
    assert_eq!(
        answers,
        [
            "401 Refused",
            "401 Refused",
            "429 30",
            "401 Malformed",
            "alice Some(4)",
            "anonymous Some(99)"
        ]
    );
}

#[actix_web::test]
async fn anonymous_callers_are_charged_by_address_or_refused() {
    let house = House::new();
    let requests = [("/", HERE, [].as_slice()), ("/", HERE, &[]), ("/", THERE, &[""])];
    let open = Rules { anonymous: Some(Quota::per_minute(1)) };
    assert_eq!(
        send(&house, open, &requests).await,
        ["anonymous Some(0)", "429 60", "anonymous Some(0)"]
    );
    let closed = send(&house, Rules { anonymous: None }, &requests).await;
    assert_eq!(closed, ["401 Missing"; 3]);
}

#[actix_web::test]
async fn repeated_keys_are_distinguished_from_wrong_ones() {
    let house = House::new();
    let answers = send(&house, Rules { anonymous: None }, &[("/", HERE, &["a", "b"])]).await;
    assert_eq!(answers, ["400"]);
}

#[actix_web::test]
async fn free_operations_cost_nothing() {
    let house = House::new();
    let (_, key) = house.issue(&house.pools(), "alice");
    let key = [key.as_str()];
    let mut requests = vec![("/free", HERE, key.as_slice()); 9];
    requests.push(("/", HERE, &key));
    let answers = send(&house, Rules { anonymous: None }, &requests).await;
    assert!(answers[..9].iter().all(|answer| answer == "alice None"), "{answers:?}");
    assert_eq!(answers[9], "alice Some(4)");
}

#[test]
fn bearer_scheme_is_read_in_any_case_and_others_are_ignored() {
    let key = |value: &str| {
        let request = TestRequest::default().insert_header(("authorization", value));
        auth::bearer_key(&request.to_http_request()).unwrap().map(|credential| credential.key)
    };
    assert_eq!(key("Bearer abc").as_deref(), Some("abc"));
    assert_eq!(key("bEARER  abc ").as_deref(), Some("abc"));
    assert_eq!(key("Basic abc"), None);
    assert_eq!(key("Bearer"), None);
}

#[actix_web::test]
async fn refusals_take_precedence_over_query_errors() {
    let house = House::new();
    let (_, key) = house.issue(&house.pools(), "alice");
    let unknown = "0".repeat(32);
    let answers = send(
        &house,
        Rules { anonymous: None },
        &[
            ("/picky?page=x", HERE, &[&unknown]),
            ("/picky?page=x", HERE, &[]),
            ("/picky?page=3", HERE, &[&key]),
            ("/picky?page=x", HERE, &[&key]),
        ],
    )
    .await;
    assert_eq!(answers[..3], ["401 Refused", "401 Missing", "3 Some(4)"]);
    assert!(answers[3].starts_with("400"), "{answers:?}");
}

fn gate(house: &House) -> Gate {
    let clock = house.clock.shared();
    Gate::new(
        KeyStore::new(house.pools(), clock.clone()),
        Quotas::new(clock),
        Rules { anonymous: None },
    )
}

fn request(name: &str, value: &str) -> HttpRequest {
    TestRequest::default()
        .insert_header((name, value))
        .peer_addr("192.0.2.1:1".parse().unwrap())
        .to_http_request()
}

/// Creates a request with `Authorization: Basic`.
fn basic(login: &str, key: &str) -> HttpRequest {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(format!("{login}:{key}"));
    request("authorization", &format!("Basic {text}"))
}

#[actix_web::test]
async fn login_must_be_the_owner_of_the_key() {
    let house = House::new();
    let (_, key) = house.issue(&house.pools(), "alice");
    let gate = gate(&house);
    let grouped = format!("{} {}", &key[..16], &key[16..]);
    let caller = gate.admit(&basic("alice", &grouped)).await.unwrap();
    assert_eq!(caller.key.unwrap().owner, "alice");
    for login in ["bob", "Alice", ""] {
        let refused = gate.admit(&basic(login, &key)).await;
        match (login, refused) {
            // The address can pay for two rejected keys per minute.
            ("", Err(AuthError::TooMany(_))) => {}
            (_, Err(AuthError::Credentials(Credentials::Refused))) => {}
            other => panic!("{other:?}"),
        }
    }
    let caller = gate.admit(&request("x-api-key", &key)).await.unwrap();
    assert_eq!(
        caller.remaining.unwrap().remaining,
        3,
        "rejected requests are not charged to the key"
    );
}

#[derive(Clone, Debug, PartialEq)]
struct Name(&'static str);

impl Holder for Name {
    fn plan(&self) -> Option<&str> {
        None
    }
}

#[actix_web::test]
async fn keys_that_the_service_looks_up_are_charged_in_the_same_order() {
    let house = House::new();
    let gate = gate(&house);
    let zero = "0".repeat(32);
    let present = || gate.present_key(&request("x-api-key", &zero)).unwrap();
    assert!(present().is_text(&zero) && !present().is_text(&"1".repeat(32)));
    assert_eq!(present().digest(), &auth::digest(&zero));
    assert_eq!(present().address().to_string(), HERE);

    let live = |id, name: &str| Finding::Live {
        id,
        payer: QuotaId::Key(id),
        charge: Charge::from(Quota::per_minute(2)).purpose("domain").named(name),
        holder: Name("alice"),
    };
    // On another thread, like the closure that reads the database.
    let presented = present();
    let first = std::thread::spawn(move || presented.admit(live(1, "a")));
    let first = first.join().unwrap().unwrap();
    assert_eq!((first.holder, first.remaining.unwrap().remaining), (Name("alice"), 1));
    assert_eq!(present().admit(live(1, "a")).unwrap().remaining.unwrap().remaining, 0);
    assert!(matches!(present().admit(live(1, "a")), Err(AuthError::TooMany(_))));
    assert_eq!(present().admit(live(1, "b")).unwrap().remaining.unwrap().remaining, 1);
    assert_eq!(present().admit(live(2, "a")).unwrap().remaining.unwrap().remaining, 1);

    let guest = Finding::Guest { charge: Quota::per_minute(1).into(), holder: Name("guest") };
    assert_eq!(present().admit(guest.clone()).unwrap().holder, Name("guest"));
    assert!(matches!(present().admit(guest), Err(AuthError::TooMany(_))));

    let refused = || present().admit::<Name>(Finding::Refused).unwrap_err();
    for _ in 0..2 {
        assert!(matches!(refused(), AuthError::Credentials(Credentials::Refused)));
    }
    assert!(matches!(refused(), AuthError::TooMany(_)));
    let payer = QuotaId::Key(3);
    let free = Finding::Live { id: 3, payer, charge: Charge::FREE, holder: Name("") };
    assert_eq!(present().admit(free).unwrap().remaining, None);
}

#[actix_web::test]
async fn missing_key_costs_nothing() {
    let house = House::new();
    let gate = gate(&house);
    for _ in 0..5 {
        let missing = gate.present_key(&request("accept", "*/*"));
        assert!(matches!(missing, Err(AuthError::Credentials(Credentials::Missing))));
    }
}
