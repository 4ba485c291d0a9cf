//! Writes with `If-Match`.

use serde_json::json;

use crate::app::{App, send};

#[actix_web::test]
async fn write_with_an_outdated_tag_gets_412() {
    let app = App::new().await;
    let event = app.event(json!({})).await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let tag = app.make("/tags", json!({"name": "Live"})).await;
    let change = |kind: &str| match kind {
        "events" => json!({"title": "New"}),
        "venues" => json!({"city": "Graz"}),
        _ => json!({"description": "New"}),
    };
    for (kind, id) in [("events", event), ("venues", venue), ("tags", tag)] {
        let path = format!("/{kind}/{id}");
        let read = app.get(&path).await.expect(200).header("etag").to_owned();
        let cut = app.get(&format!("{path}?_fields=id,slug")).await.header("etag").to_owned();
        assert!(read.starts_with("W/") && cut != read);
        let write = |method: &str, query: &str, tags: &str| {
            let request = app.request("administrator", method, &format!("{path}{query}"));
            send(request.header("If-Match", tags).json(&change(kind)))
        };
        let stale = write("PATCH", "", "\"other\"").await.expect(412);
        assert_eq!(stale.code(), "rest_precondition_failed");
        write("DELETE", "", "\"other\"").await.expect(412);
        assert_eq!(app.get(&path).await.header("etag"), read, "{kind}: nothing has changed");
        write("PATCH", "?_fields=id,slug", &cut).await.expect(200);
        // The first editor's write succeeds, and the second editor's tag is outdated.
        write("PATCH", "", &read).await.expect(412);
        let now = app.get(&path).await.header("etag").to_owned();
        write("PUT", "", &format!("\"other\", {now}")).await.expect(200);
        write("DELETE", "", "*").await.expect(200);
    }
}
