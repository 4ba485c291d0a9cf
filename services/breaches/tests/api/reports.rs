//! Reports on a domain's new exposures: in the API, on a page, and by a command.

use domain::EmailAddress;
use serde_json::{Value, json};
use testkit::SmtpPeer;

use crate::app::{App, NOW, Peers, TEST, UNKNOWN, ZERO, answer, entry, failure};
use crate::browser::{Browser, Must};
use crate::commands::Operator;

const OWNER: &str = "owner@example.org";
const PATH: &str = "/api/v3/domainReport/corp.example?since=2026-01-01";
const PAGE: &str = "/account/domains/corp.example/report";

/// Builds an entry that was added on a date.
pub fn added(name: &str, date: &str) -> Value {
    let mut entry = entry(name);
    let time = format!("{date}T00:00:00Z");
    (entry["AddedDate"], entry["ModifiedDate"]) = (json!(time), json!(time));
    entry
}

/// Starts a service with an old breach and two new ones, one of them sensitive.
async fn start() -> App {
    let app = App::with_peers(Peers { smtp: Some(SmtpPeer::start()), ..Peers::default() }).await;
    let mut new = added("New", "2026-01-01");
    new["DataClasses"] = json!(["Email addresses", "Passwords"]);
    let mut sensitive = added("Sensitive", "2026-02-01");
    sensitive["IsSensitive"] = json!(true);
    app.import(&json!([added("Old", "2025-12-31"), new, sensitive])).await;
    app.load("Old", "anna@corp.example\nolga@corp.example\n").await;
    app.load("New", "anna@corp.example\nbert@corp.example\ncarl@sub.corp.example\n").await;
    app.load("Sensitive", "anna@corp.example\ndora@corp.example\n").await;
    app
}

async fn report(app: &App, key: &str) -> Value {
    app.json_with(key, PATH).await
}

fn aliases(report: &Value) -> Vec<&str> {
    let rows = report["Addresses"].as_array().unwrap();
    rows.iter().map(|row| row["Alias"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn report_contains_breaches_added_since_the_date_and_their_counts() {
    let app = start().await;
    let key = app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    let found = report(&app, &key).await;
    let breach = |name: &str, added: &str, classes: [&str; 2], addresses: i64| {
        json!({
            "Name": name, "Title": format!("The {name}"), "BreachDate": "2020-02-20",
            "AddedDate": added, "DataClasses": classes, "Addresses": addresses,
        })
    };
    let expected = json!({
        "Domain": "corp.example",
        "Since": "2026-01-01T00:00:00Z",
        "Until": "2026-03-01T12:00:00Z",
        "Addresses": [
            {"Alias": "anna", "Breaches": ["New", "Sensitive"], "AllBreaches": 3},
            {"Alias": "bert", "Breaches": ["New"], "AllBreaches": 1},
            {"Alias": "dora", "Breaches": ["Sensitive"], "AllBreaches": 1},
        ],
        "Breaches": [
            breach("New", "2026-01-01T00:00:00Z", ["Email addresses", "Passwords"], 2),
            breach("Sensitive", "2026-02-01T00:00:00Z", ["Email addresses", "Names"], 2),
        ],
        "DataClasses": [
            {"Name": "Email addresses", "Addresses": 3},
            {"Name": "Names", "Addresses": 2},
            {"Name": "Passwords", "Addresses": 2},
        ],
        "BreachedAddresses": 4, "ExposedAddresses": 3, "FirstExposedAddresses": 2,
        "RepeatedAddresses": 1, "NewExposures": 4,
    });
    assert_eq!(found, expected);
    let later = app.json_with(&key, &PATH.replace("01-01", "02-01T00:00:01Z")).await;
    assert_eq!((aliases(&later).len(), &later["BreachedAddresses"]), (0, &json!(4)));
}

#[actix_web::test]
async fn address_loaded_later_into_an_older_breach_is_announced_but_not_new() {
    let app = start().await;
    let key = app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    app.deliver_notices().await;
    let before = report(&app, &key).await;
    app.load("Old", "bert@corp.example\nlate@corp.example\n").await;
    let found = report(&app, &key).await;
    assert_eq!(aliases(&found), aliases(&before));
    // The older breach counts towards an address's breaches, so this is not its first exposure.
    assert_eq!(found["Addresses"][1]["AllBreaches"], 2);
    assert_eq!(found["FirstExposedAddresses"], 1);
    assert_eq!(found["BreachedAddresses"], 5);
    app.deliver_notices().await;
    let notice = app.mails().pop().unwrap().plain();
    assert!(notice.contains("corp.example is in The Old breach"), "{notice}");
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let page = browser.get(&format!("{PAGE}?since=2026-01-01")).await.expect(200);
    assert!(page.text().contains("added later to an older breach are not included"));
}

#[actix_web::test]
async fn report_shows_what_a_domain_search_shows() {
    let app = start().await;
    let key = app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    app.set_breach("Sensitive", |breach| breach.active = false).await;
    assert_eq!(aliases(&report(&app, &key).await), ["anna", "bert"]);
    app.set_breach("Sensitive", |breach| breach.active = true).await;
    app.set_breach("New", |breach| breach.flags.retired = true).await;
    assert_eq!(aliases(&report(&app, &key).await), ["anna", "dora"]);
    app.set_breach("New", |breach| breach.flags.retired = false).await;
    for (address, kind) in [
        ("anna@corp.example", breaches::model::OptOut::Breaches),
        ("bert@corp.example", breaches::model::OptOut::Public),
    ] {
        // The row stays, as if it had been loaded afterwards.
        let digest = EmailAddress::parse(address).unwrap().sha1();
        app.change(|db| breaches::store::opt_outs::set(db, &digest, Some(kind), NOW)).await;
    }
    assert_eq!(aliases(&report(&app, &key).await), ["bert", "dora"]);
}

#[actix_web::test]
async fn report_is_for_controllers_of_the_domain_only() {
    let app = start().await;
    let owner = app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    let other = app.subscriber("other@example.org", "pro5").await;
    let small = app.subscriber("small@example.org", "highrpm4000").await;
    app.verify("small@example.org", "corp.example").await;
    let own = format!("/api/v3/domainreport/{TEST}?since=2013-01-01");
    let invalid = failure(401, "Access denied due to invalid breach-api-key.");
    let unverified =
        failure(403, "Access denied, the domain has not been verified by this subscription.");
    for (key, path, expected) in [
        (UNKNOWN, PATH, invalid.clone()),
        (ZERO, PATH, invalid),
        (&other, PATH, unverified),
        (
            &small,
            PATH,
            failure(403, "Access denied, the subscription does not include this resource."),
        ),
        (
            &owner,
            "/api/v3/domainReport/corp?since=2026-01-01",
            failure(400, "The domain name is not valid."),
        ),
    ] {
        assert_eq!(answer(app.get_with(key, path).await).await, expected, "{path}");
    }
    assert_eq!(app.get_with(&owner, PATH).await.status(), 200);
    assert_eq!(app.get_with(UNKNOWN, &own).await.status(), 200);
    assert_eq!(app.get(PATH).await.status(), 401);
    let since = "The value of since must be a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.";
    for query in ["", "?since=", "?since=2026-13-01", "?since=yesterday"] {
        let path = format!("/api/v3/domainReport/corp.example{query}");
        let found = answer(app.get_with(&owner, &path).await).await;
        assert_eq!(found, failure(400, since), "{query}");
    }
}

#[actix_web::test]
async fn domain_larger_than_the_plan_is_reported_with_free_breaches_only() {
    let app = start().await;
    let mut free = added("Free", "2026-02-01");
    free["IsSubscriptionFree"] = json!(true);
    app.import(&json!([free])).await;
    let people: String = (0..30).map(|n| format!("user{n}@corp.example\n")).collect();
    app.load("New", &people).await;
    let key = app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    assert_eq!(app.get_with(&key, PATH).await.status(), 403);
    for path in ["", "/csv", "/json"] {
        browser.get(&format!("{PAGE}{path}?since=2026-01-01")).await.must(403);
    }
    app.load("Free", "user1@corp.example\nanna@corp.example\n").await;
    let limited = app.get_with(&key, PATH).await;
    assert_eq!(limited.headers()["x-domain-search-limited"], "subscription-free");
    let limited: Value = limited.json().await.unwrap();
    assert_eq!(aliases(&limited), ["anna", "user1"]);
    assert_eq!(limited["Addresses"][0]["AllBreaches"], 1);
    let page = browser.get(&format!("{PAGE}?since=2026-01-01")).await.expect(200);
    assert!(page.text().contains("larger than your plan covers"), "{}", page.text());
    assert!(!page.text().contains("Sensitive") && !page.text().contains("user2<"));
}

#[actix_web::test]
async fn page_shows_the_report_and_exports_it() {
    let app = start().await;
    app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    app.load("New", "=1+1@corp.example\n").await;
    let browser = Browser::new(&app);
    browser.get(PAGE).await.must(303);
    browser.sign_in(OWNER).await;
    let domain = browser.get("/account/domains/corp.example").await.expect(200);
    assert!(domain.text().contains("/account/domains/corp.example/report"));
    let page = browser.get(&format!("{PAGE}?since=2026-01-01")).await.expect(200);
    for part in [
        "New exposures of corp.example",
        "<dt>Addresses in new breaches</dt><dd>4</dd>",
        "<dt>For the first time</dt><dd>3</dd>",
        "<dt>In several breaches</dt><dd>1</dd>",
        "The Sensitive",
        "<td>Passwords</td><td class=\"number\">3</td>",
        "<td>anna</td><td data-label=\"New breaches\">New, Sensitive</td>",
    ] {
        assert!(page.text().contains(part), "{part} in {}", page.text());
    }
    assert!(!page.text().contains("olga"));
    // Without a date, the report starts with last month.
    let recent = browser.get(PAGE).await.expect(200);
    assert!(recent.text().contains("from 2026-02-01 to 2026-03-01"), "{}", recent.text());
    assert!(!recent.text().contains("bert"));
    let csv = browser.get(&format!("{PAGE}/csv?since=2026-01-01")).await.expect(200);
    let name = "attachment; filename=\"corp.example-since-2026-01-01.csv\"";
    assert_eq!(csv.header("content-disposition"), name);
    let lines: Vec<&str> = csv.text().lines().collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0], "Address,Breach,Title,BreachDate,AddedDate,DataClasses,AllBreaches");
    assert!(lines[1].starts_with("'=1+1@corp.example,New,The New,2020-02-20,"), "{}", lines[1]);
    let sensitive = "anna@corp.example,Sensitive,The Sensitive,2020-02-20,2026-02-01T00:00:00Z,\
                     \"Email addresses, Names\",3";
    assert!(lines.contains(&sensitive), "{lines:?}");
    let file = browser.get(&format!("{PAGE}/json?since=2026-01-01")).await.expect(200);
    let file: Value = serde_json::from_str(file.text()).unwrap();
    assert_eq!(aliases(&file), ["=1+1", "anna", "bert", "dora"]);
    browser.get(&format!("{PAGE}?since=tomorrow")).await.must(400);
    browser.get(&format!("{PAGE}/xml?since=2026-01-01")).await.must(404);
}

#[actix_web::test]
async fn pages_of_a_report_are_for_controllers_of_the_domain_only() {
    let app = start().await;
    app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "corp.example").await;
    let browser = Browser::new(&app);
    browser.sign_in("other@example.org").await;
    for path in ["", "/csv", "/json"] {
        let refused = browser.get(&format!("{PAGE}{path}?since=2026-01-01")).await.expect(403);
        assert!(!refused.text().contains("anna"), "{path}");
    }
    browser.post("/account/domains", PAGE, &[("monthly", "on")]).await.must(403);
    let stranger = Browser::new(&app);
    for path in ["", "/csv", "/json"] {
        stranger.get(&format!("{PAGE}{path}?since=2026-01-01")).await.must(303);
    }
    // The form needs the CSRF token from its page.
    let owner = Browser::new(&app);
    owner.sign_in(OWNER).await;
    owner.send(PAGE, &[("monthly", "on"), ("csrf", "x")]).await.must(403);
    owner.post(PAGE, PAGE, &[("monthly", "perhaps")]).await.must(400);
}

#[actix_web::test]
async fn report_of_a_large_domain_is_streamed() {
    let app = start().await;
    let people: String = (0..12_000).map(|n| format!("person.number{n}@big.example\n")).collect();
    app.load("New", &people).await;
    app.load("Old", &people.lines().step_by(4).map(|line| format!("{line}\n")).collect::<String>())
        .await;
    let key = app.subscriber(OWNER, "pro1").await;
    app.verify(OWNER, "big.example").await;
    let response = app.get_with(&key, &PATH.replace("corp", "big")).await;
    assert_eq!((response.status().as_u16(), response.content_length()), (200, None));
    let report: Value = response.json().await.unwrap();
    assert_eq!(aliases(&report).len(), 12_000);
    assert!(aliases(&report).is_sorted());
    assert_eq!(
        (&report["NewExposures"], &report["RepeatedAddresses"]),
        (&json!(12_000), &json!(3_000))
    );
    let browser = Browser::new(&app);
    browser.sign_in(OWNER).await;
    let page = browser.get("/account/domains/big.example/report?since=2026-01-01").await;
    assert!(page.text().contains("500 of 12000 are shown"), "{}", page.text());
    // Addresses in several breaches come first.
    assert_eq!(page.text().matches("class=\"number\">2</td></tr>").count(), 500);
}

#[test]
fn command_reports_any_domain_as_text_csv_and_json() {
    let operator = Operator::new();
    let catalogue = json!([added("Old", "2025-12-31"), added("New", "2026-01-01")]);
    let catalogue = operator.folder.write("catalogue.json", catalogue.to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    for (breach, addresses) in [
        ("Old", "anna@corp.example\nolga@corp.example\n"),
        ("New", "anna@corp.example\nbert@corp.example\n"),
    ] {
        let file = operator.folder.write("list.txt", addresses);
        operator.run(&["accounts", "load", "--breach", breach, file.to_str().unwrap()]);
    }
    let since = ["report", "corp.example", "--since", "2026-01-01"];
    let text = operator.run(&since);
    for part in [
        "2 addresses in new breaches, 1 for the first time, 1 in several breaches; 2 new exposures; 3 breached",
        "New\t2020-02-20\t2026-01-01T00:00:00Z\t2\tEmail addresses, Names",
        "Names\t2",
        "anna\t2\tNew\nbert\t1\tNew",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let csv = operator.run(&[&since[..], &["--format", "csv"]].concat());
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.contains("\nanna@corp.example,New,The New,2020-02-20,"), "{csv}");
    let json = operator.run(&[&since[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(aliases(&json), ["anna", "bert"]);
    assert_eq!(aliases(&operator.json(&since)), ["anna", "bert"]);
    for address in ["192.0.2.1", "[192.0.2.1]", "[IPv6:2001:db8::1]"] {
        let output = operator.output(&["report", address, "--since", "2026-01-01", "--json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && errors.contains("is an IP address"), "{errors}");
    }
    let none = operator.run(&["report", "unknown.example", "--since", "2026-01-01"]);
    assert!(none.contains("0 addresses in new breaches"), "{none}");
    for arguments in [
        &["report", "corp.example"][..],
        &["report", "corp.example", "--since", "soon"],
        &["report", "corp.example", "--since", "9999-12-31"],
        &["report", "corp.example", "--since", "2026-01-01", "--format", "xml"],
    ] {
        assert_eq!(operator.output(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let future = operator.output(&["report", "corp.example", "--since", "9999-12-31T12:00Z"]);
    let errors = String::from_utf8_lossy(&future.stderr);
    assert!(errors.contains("9999-12-31T12:00:00 (UTC) is in the future"), "{errors}");
}
