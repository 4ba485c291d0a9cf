//! The service behind a proxy that serves it below a path prefix.

use calendar::Calendar;
use serde_json::json;
use testkit::{Exchange, TestServer, links_below};

use crate::app::App;

const URL: &str = "https://host.example/calendar";

#[actix_web::test]
async fn pages_and_links_keep_the_path_of_public_url() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Town hall"})).await;
    let parent = app.make("/categories", json!({"name": "Music"})).await;
    let child = app.make("/categories", json!({"name": "Jazz", "parent": parent})).await;
    app.event(json!({
        "title": "Concert", "venue": [venue], "categories": [child], "tags": ["free"],
        "start_date": "2027-06-01 10:00", "end_date": "2027-06-01 12:00",
    }))
    .await;
    app.event(json!({"title": "Private view", "password": "hush"})).await;
    let calendar = Calendar { state: app.state.clone() };
    let server =
        TestServer::start_with(calendar, |web| web.public_url = Some(URL.to_owned())).await;
    let get = async |path: &str| server.get(path).header("accept", "text/html").answer().await;
    let starts = ["/", "/docs", "/docs/swagger-initializer.js", "/openapi.json", "/nothing/"];
    let seen = links_below(URL, &starts, get).await;
    for path in ["/events/", "/event/concert/", "/events/category/music/jazz/", "/tag/free/"] {
        assert!(seen.contains(path), "{path} is not among {seen:?}");
    }
    let first = server.get("/calendar/events/v1/events").answer().await.expect(200).json();
    for member in ["url", "rest_url"] {
        let link = first["events"][0][member].as_str().unwrap().to_owned();
        assert!(link.starts_with(&format!("{URL}/")), "{link}");
    }
    let document = server.get("/calendar/events/v1/doc").answer().await.expect(200).json();
    assert_eq!(document["servers"][0]["url"], format!("{URL}/calendar/events/v1/"));
}
