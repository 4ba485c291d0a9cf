use reqwest::Method;
use testkit::Exchange;

use crate::app::App;

#[actix_web::test]
async fn playground_loads_only_its_own_files() {
    let app = App::start().await;
    let page = app.get("/").await.expect(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    let html = page.text();
    let mut assets = 0;
    for part in html.split("./assets/").skip(1) {
        let file = part.split('"').next().unwrap();
        let asset = app.get(&format!("/assets/{file}")).await.expect(200);
        assert!(asset.header("cache-control").contains("immutable"), "{file}");
        assets += 1;
    }
    // The icon, two style sheets and the script.
    assert_eq!(assets, 4);
    assert!(!html.contains("http://") && !html.contains("https://"), "{html}");
}

#[actix_web::test]
async fn the_builder_of_records_knows_every_type_and_part() {
    let app = App::start().await;
    let page = app.get("/records").await.expect(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let html = page.text();
    for option in ["childrenOf", "nope"] {
        assert!(!html.contains(&format!("<option>{option}</option>")));
    }
    for option in ["person", "latitude", "colour", "fullName", "workEmail", "cardHolder"] {
        assert!(html.contains(&format!("<option>{option}</option>")), "{option}");
    }
    assert!(!html.contains("http://") && !html.contains("https://"), "{html}");
    let script = html.split("./assets/").find(|part| part.starts_with("builder")).unwrap();
    let script = format!("/assets/{}", script.split('"').next().unwrap());
    assert_eq!(app.get(&script).await.status, 200);
    assert!(page.headers.get("ratelimit-limit").is_none());
}

#[actix_web::test]
async fn pages_with_another_method_are_405() {
    let app = App::start().await;
    for path in ["/", "/records", "/Records/"] {
        for method in [Method::POST, Method::DELETE, Method::TRACE] {
            let answer = app.server.request(method, path).answer().await.expect(405);
            assert_eq!(answer.header("allow"), "GET, HEAD", "{path}");
            assert_eq!(answer.json()["title"], "Method Not Allowed", "{path}");
        }
    }
}

#[actix_web::test]
async fn the_page_costs_no_quota() {
    let app = App::start().await;
    assert!(app.get("/").await.headers.get("ratelimit-limit").is_none());
    let tag = app.get("/").await.header("etag").to_owned();
    let again = app.server.get("/").header("if-none-match", &tag).answer().await;
    assert_eq!(again.status, 304);
}

#[actix_web::test]
async fn the_page_lists_every_operation_before_its_script_runs() {
    let app = App::start().await;
    let html = app.get("/").await.expect(200).text().to_owned();
    let document = app.get("/openapi.json").await.expect(200).json();
    let mut operations = 0;
    for operation in document["paths"].as_object().unwrap().values() {
        for operation in operation.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            let option = format!(
                "<option value=\"{id}\">{}</option>",
                operation["summary"].as_str().unwrap()
            );
            assert!(html.contains(&option), "{option}");
            operations += 1;
        }
    }
    assert_eq!(html.matches("<option ").count(), operations);
}
