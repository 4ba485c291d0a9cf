//! Index, OPTIONS, the OpenAPI document and the alias prefix.

use calendar::Calendar;
use reqwest::Method;
use serde_json::json;

use crate::app::{App, NS, send};

#[test]
fn openapi_json_matches_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    testkit::assert_openapi_matches::<Calendar>(path);
}

/// Paths with their operation ids for GET, POST, PUT, PATCH and DELETE.
const OPERATIONS: [(&str, [&str; 5]); 27] = [
    ("/", ["getIndex", "", "", "", ""]),
    ("/doc", ["getDocumentation", "", "", "", ""]),
    ("/events", ["listEvents", "createEvent", "", "", ""]),
    ("/events/{id}", ["getEvent", "postEvent", "updateEvent", "patchEvent", "deleteEvent"]),
    (
        "/events/by-slug/{slug}",
        [
            "getEventBySlug",
            "postEventBySlug",
            "updateEventBySlug",
            "patchEventBySlug",
            "deleteEventBySlug",
        ],
    ),
    ("/venues", ["listVenues", "createVenue", "", "", ""]),
    ("/venues/{id}", ["getVenue", "postVenue", "updateVenue", "patchVenue", "deleteVenue"]),
    (
        "/venues/by-slug/{slug}",
        [
            "getVenueBySlug",
            "postVenueBySlug",
            "updateVenueBySlug",
            "patchVenueBySlug",
            "deleteVenueBySlug",
        ],
    ),
    ("/organizers", ["listOrganizers", "createOrganizer", "", "", ""]),
    (
        "/organizers/{id}",
        ["getOrganizer", "postOrganizer", "updateOrganizer", "patchOrganizer", "deleteOrganizer"],
    ),
    (
        "/organizers/by-slug/{slug}",
        [
            "getOrganizerBySlug",
            "postOrganizerBySlug",
            "updateOrganizerBySlug",
            "patchOrganizerBySlug",
            "deleteOrganizerBySlug",
        ],
    ),
    ("/categories", ["listCategories", "createCategory", "", "", ""]),
    (
        "/categories/{id}",
        ["getCategory", "postCategory", "updateCategory", "patchCategory", "deleteCategory"],
    ),
    ("/tags", ["listTags", "createTag", "", "", ""]),
    ("/tags/{id}", ["getTag", "postTag", "updateTag", "patchTag", "deleteTag"]),
    ("/ical", ["exportIcal", "", "", "", ""]),
    ("/import/ical", ["", "importIcal", "", "", ""]),
    ("/images", ["", "createImage", "", "", ""]),
    ("/images/{id}", ["getImage", "", "", "", ""]),
    ("/subscriptions", ["listSubscriptions", "createSubscription", "", "", ""]),
    ("/subscriptions/{id}", ["getSubscription", "", "", "patchSubscription", "deleteSubscription"]),
    ("/subscriptions/{id}/events", ["listSubscribedEvents", "", "", "", ""]),
    ("/subscriptions/{id}/release", ["", "releaseSubscribedEvent", "", "", ""]),
    ("/subscriptions/{id}/run", ["", "runSubscription", "", "", ""]),
    ("/subscriptions/{id}/pause", ["", "pauseSubscription", "", "", ""]),
    ("/subscriptions/{id}/resume", ["", "resumeSubscription", "", "", ""]),
    ("/subscriptions/{id}/accept", ["", "acceptSubscription", "", "", ""]),
];

#[actix_web::test]
async fn doc_has_every_operation_and_schema() {
    let app = App::new().await;
    let doc = app.get("/doc").await.expect(200).json;
    assert_eq!(doc["info"]["version"], "1.0.0");
    assert_eq!(doc["servers"][0]["url"], format!("{}/", app.server.url(NS)));
    for (path, ids) in OPERATIONS {
        for (method, id) in ["get", "post", "put", "patch", "delete"].into_iter().zip(ids) {
            let named = doc["paths"][path][method]["operationId"].as_str().unwrap_or_default();
            assert_eq!(named, id, "{method} {path}");
        }
    }
    assert_eq!(doc["paths"].as_object().unwrap().len(), OPERATIONS.len());
    for name in
        ["Event", "Venue", "Organizer", "Term", "Image", "ImageSize", "CostDetails", "DateDetails"]
    {
        assert!(doc["components"]["schemas"][name].is_object(), "{name}");
    }
    for name in ["key", "bearer", "basic"] {
        assert!(doc["components"]["securitySchemes"][name].is_object(), "{name}");
    }
}

#[actix_web::test]
async fn index_lists_routes_with_their_parameters() {
    let app = App::new().await;
    let index = app.get("").await.expect(200).json;
    assert_eq!(index["namespace"], "calendar/events/v1");
    let routes = index["routes"].as_object().unwrap();
    assert_eq!(routes.len(), OPERATIONS.len());
    let item = &routes[r"/calendar/events/v1/events/(?P<id>\d+)"];
    assert_eq!(item["methods"], json!(["GET", "POST", "PUT", "PATCH", "DELETE"]));
    let by_slug = |kind: &str| -> Vec<bool> {
        let route = &routes[&format!("/calendar/events/v1/{kind}/by-slug/(?P<slug>[^/]+)")];
        let endpoints = route["endpoints"].as_array().unwrap().iter();
        endpoints.map(|one| one["args"]["slug"]["required"] == true).collect()
    };
    // GET, POST/PUT/PATCH and DELETE.
    assert_eq!(by_slug("events"), [true, false, true]);
    assert_eq!(by_slug("venues"), [true, true, true]);
    assert_eq!(by_slug("organizers"), [true, true, true]);
    let events = &routes["/calendar/events/v1/events"];
    let create = &events["endpoints"][1]["args"];
    assert_eq!(
        (&create["title"]["required"], &create["excerpt"]["required"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(events["endpoints"][0]["args"]["per_page"]["default"], 10);
    assert_eq!(
        routes["/calendar/events/v1/venues"]["endpoints"][1]["args"]["show_map"]["default"],
        json!(null)
    );
    let run = &routes[r"/calendar/events/v1/subscriptions/(?P<id>\d+)/run"];
    assert_eq!(
        (&run["methods"], &run["endpoints"][0]["args"]["id"]["required"]),
        (&json!(["POST"]), &json!(true))
    );
    for path in [
        "?namespace=calendar/events/v1",
        "?namespace=/calendar/events/v1",
        "?context=whatever",
        "/",
    ] {
        assert_eq!(app.get(path).await.expect(200).json, index, "{path}");
    }
}

/// Asserts that a string contains these parts, in this order.
#[track_caller]
fn assert_in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = text[from..].find(part);
        from +=
            at.unwrap_or_else(|| panic!("{part} does not follow {}", &text[..from])) + part.len();
    }
}

#[actix_web::test]
async fn index_and_options_keep_the_order_of_their_keys() {
    let app = App::with(&["--per-page=25"]).await;
    let index = app.get("").await.expect(200).text;
    let page = concat!(
        r#""page":{"required":false,"type":"integer","default":1,"#,
        r#""description":"Page number, starting at 1."}"#
    );
    let parts = [
        r#"{"namespace":"calendar/events/v1","routes":{"/calendar/events/v1":{"namespace":"#,
        r#""methods":["GET"],"endpoints":[{"methods":["GET"],"args":{"namespace":{"#,
        r#""_links":{"self":[{"href":"#,
        r#""/calendar/events/v1/doc":{"#,
        r#""/calendar/events/v1/events":{"#,
        page,
        r#""per_page":{"required":false,"type":"integer","default":25,"#,
        r#""start_date":{"#,
        r#""end_date":{"#,
        r#"{"methods":["POST"],"args":{"title":{"required":true,"type":"string","#,
        r#""/calendar/events/v1/events/(?P<id>\\d+)":{"#,
        r#"{"methods":["GET"],"args":{"id":{"required":true,"#,
        r#""password":{"#,
        r#""context":{"required":false,"type":"string","default":"view","#,
        r#""/calendar/events/v1/events/by-slug/(?P<slug>[^/]+)":{"#,
        r#""/calendar/events/v1/venues":{"#,
        r#""/calendar/events/v1/organizers":{"#,
        r#""/calendar/events/v1/categories":{"#,
        r#""/calendar/events/v1/tags":{"#,
        r#"}},"_links":{"up":[{"href":"#,
    ];
    assert_in_order(&index, &parts);
    let options = send(app.request("", "OPTIONS", "/events")).await.expect(200);
    assert_eq!(options.header("content-type"), "application/json; charset=UTF-8");
    let parts = [
        r#"{"namespace":"calendar/events/v1","methods":["GET","POST"],"endpoints":[{"methods":["GET"],"args":{"page":{"#,
        r#""per_page":{"required":false,"type":"integer","default":25,"#,
        r#""_links":{"self":"#,
    ];
    assert_in_order(&options.text, &parts);
}

#[actix_web::test]
async fn options_describes_the_route_to_any_origin() {
    let app = App::new().await;
    let options =
        |path: &str| app.request("", "OPTIONS", path).header("Origin", "https://a.example");
    let answer = send(options("/events/7")).await.expect(200);
    assert_eq!(answer.json["namespace"], "calendar/events/v1");
    assert_eq!(answer.json["endpoints"][0]["methods"], json!(["GET"]));
    assert_eq!(answer.header("access-control-allow-origin"), "https://a.example");
    assert_eq!(
        answer.header("access-control-allow-methods"),
        "OPTIONS, GET, POST, PUT, PATCH, DELETE"
    );
    assert_eq!(
        answer.header("access-control-allow-headers"),
        "Authorization, Content-Type, If-Match, X-API-Key, X-HTTP-Method-Override"
    );
    assert_eq!(answer.header("vary"), "Origin");
    let run = send(options("/subscriptions/7/run")).await.expect(200);
    assert_eq!(run.json["methods"], json!(["POST"]));
    send(options("/subscriptions/x/run")).await.expect(404);
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    assert_eq!(send(options("/nothing")).await.expect(404).code(), "rest_no_route");
    let list = send(app.request("", "GET", "/events").header("Origin", "https://a.example")).await;
    assert_eq!(list.header("access-control-allow-origin"), "https://a.example");
    assert!(list.header("access-control-expose-headers").contains("X-TEC-Total"));
}

#[actix_web::test]
async fn head_is_get_without_a_body() {
    let app = App::new().await;
    let answer = send(app.request("", "HEAD", "/events")).await.expect(200);
    assert_eq!((answer.text.as_str(), answer.header("x-tec-total")), ("", "0"));
}

#[actix_web::test]
async fn post_with_a_method_override_runs_that_method() {
    let app = App::new().await;
    let id = app.event(json!({})).await;
    let post = |path: String| app.request("administrator", "POST", &path);
    let path = format!("/events/{id}");
    let answer = send(
        post(path.clone()).header("X-HTTP-Method-Override", "PATCH").json(&json!({"title": "a"})),
    )
    .await;
    assert_eq!(answer.expect(200).json["title"], "a");
    let answer = send(post(format!("{path}?_method=DELETE"))).await;
    assert_eq!(answer.expect(200).json["status"], "trash");
    let listed = app.request("administrator", "GET", "/events?_method=DELETE");
    send(listed).await.expect(200);
}

#[actix_web::test]
async fn alias_prefix_serves_the_same_with_its_own_urls() {
    let app = App::new().await;
    let id = app.event(json!({"tags": ["x"]})).await;
    let alias = "/wp-json/tribe/events/v1";
    let get = |path: String| app.server.request(Method::GET, &path);
    let list = send(get(format!("{alias}/events/?per_page=1"))).await.expect(200);
    let root = app.server.url(alias);
    assert!(
        list.json["rest_url"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{root}/events?page=1&per_page=1"))
    );
    assert_eq!(list.json["events"][0]["rest_url"], format!("{root}/events/{id}"));
    assert_eq!(list.json["events"][0]["tags"][0]["urls"]["collection"], format!("{root}/tags"));
    let index = send(get(format!("{alias}?namespace=tribe/events/v1"))).await.expect(200);
    assert_eq!(index.json["namespace"], "tribe/events/v1");
    let off = App::with(&["--alias-prefix=off"]).await;
    let answer = send(off.server.get(&format!("{alias}/events"))).await.expect(404);
    assert_eq!(answer.code(), "rest_no_route");
}

#[actix_web::test]
async fn every_path_accepts_a_trailing_slash() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Show", "venue": {"venue": "Hall"}, "tags": ["x"]})).await;
    for path in [
        String::new(),
        "/doc".to_owned(),
        "/events".to_owned(),
        "/venues".to_owned(),
        "/organizers".to_owned(),
        "/categories".to_owned(),
        "/tags".to_owned(),
        format!("/events/{id}"),
        "/events/by-slug/show".to_owned(),
        "/venues/by-slug/hall".to_owned(),
    ] {
        let plain = app.get(&path).await.expect(200);
        let slash = app.get(&format!("{path}/")).await.expect(200);
        assert_eq!(plain.json, slash.json, "{path}");
    }
    let body = json!({"title": "a", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    app.post("/events/", &body).await.expect(201);
    app.patch(&format!("/events/{id}/"), &json!({"title": "b"})).await.expect(200);
}

#[actix_web::test]
async fn document_describes_parameters_and_bodies() {
    let app = App::new().await;
    let doc = app.get("/doc").await.expect(200).json;
    let parameter = |path: &str, name: &str| -> serde_json::Value {
        let all = doc["paths"][path]["get"]["parameters"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    };
    // Lists are separated by commas.
    let venue = parameter("/events", "venue");
    assert_eq!((&venue["style"], &venue["explode"]), (&json!("form"), &json!(false)));
    assert_eq!(venue["schema"]["items"]["minimum"], 1);
    let words = ["asc", "ascending", "desc", "descending"];
    assert_eq!(parameter("/tags", "order")["schema"]["enum"], json!(words));
    assert_eq!(parameter("/events", "modified_after")["schema"]["minLength"], 1);
    // Feeds do not list changes.
    assert!(parameter("/ical", "modified_after").is_null());
    assert_eq!(parameter("/ical", "starts_after")["schema"]["minLength"], 1);
    // A request without a body changes nothing.
    let body = |path: &str, method: &str| doc["paths"][path][method]["requestBody"].clone();
    assert_eq!(body("/events", "post")["required"], true);
    assert!(body("/events/{id}", "put")["required"].is_null());
    let event = &doc["components"]["schemas"]["EventCreate"]["properties"];
    assert_eq!(
        (&event["title"]["minLength"], &event["title"]["maxLength"]),
        (&json!(1), &json!(1000))
    );
    assert_eq!(event["website"]["type"], "string");
    assert_eq!(event["image"]["oneOf"].as_array().unwrap().len(), 2);
}

#[actix_web::test]
async fn update_without_a_body_succeeds() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Show"})).await;
    for method in ["POST", "PUT", "PATCH"] {
        let answer = send(app.request("administrator", method, &format!("/events/{id}"))).await;
        assert_eq!(answer.expect(200).json["title"], "Show", "{method}");
    }
}

#[actix_web::test]
async fn doc_names_selectable_keys_and_rejected_media_types() {
    let app = App::new().await;
    let doc = app.get("/doc").await.expect(200).json;
    for (path, item) in doc["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(responses) = operation["responses"].as_object() else { continue };
            let reads_a_body = operation.get("requestBody").is_some();
            assert_eq!(responses.contains_key("415"), reads_a_body, "{method} {path}");
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let fields = parameters.iter().find(|one| one["name"] == "_fields");
            let is_selectable = !matches!(path.as_str(), "/" | "/doc" | "/ical");
            assert_eq!(fields.is_some(), is_selectable, "{method} {path}");
            if let Some(fields) = fields {
                let text = fields["description"].as_str().unwrap();
                assert!(text.contains("omitted"), "{text}");
            }
        }
    }
    let body = json!({"title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    let created = app.post("/events?_fields=id", &body);
    assert_eq!(created.await.expect(201).json.as_object().unwrap().len(), 1);
}
