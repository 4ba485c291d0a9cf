//! Lists of events that belong to series.

use calendar::{EventFilter, Paging, Scope, Window, list_by_statement};
use serde_json::json;

use crate::app::App;
use crate::series::course;

#[actix_web::test]
async fn list_has_the_next_event_of_each_series() {
    let app = App::new().await;
    let yoga =
        course(&app, json!({"start_date": "2027-03-09 18:00", "end_date": "2027-03-09 19:00"}))
            .await;
    course(&app, json!({"title": "Choir", "featured": true})).await;
    app.event(json!({"title": "Fair", "start_date": "2027-03-20", "end_date": "2027-03-20"})).await;
    let titles = |query: &'static str| {
        let app = &app;
        async move {
            let list = app.get(&format!("/events?{query}")).await.expect(200);
            let all = list.json["events"].as_array().unwrap().iter();
            let shown = all.map(|event| {
                let day = &event["start_date"].as_str().unwrap()[5..10];
                format!("{} {day}", event["title"].as_str().unwrap())
            });
            let shown = shown.collect::<Vec<_>>().join(", ");
            format!("{}: {shown}", list.json["total"])
        }
    };
    // Yesterday's evening is over.
    assert_eq!(titles("collapse=series").await, "3: Yoga 03-16, Choir 03-16, Fair 03-20");
    assert_eq!(titles("collapse=series&per_page=1&page=3").await, "3: Fair 03-20");
    assert_eq!(titles("collapse=series&featured=true").await, "1: Choir 03-16");
    assert_eq!(titles("collapse=series&start_date=2027-03-25").await, "2: Yoga 03-30, Choir 03-30");
    assert_eq!(
        titles("collapse=series&start_date=2027-03-01&end_date=2027-03-09").await,
        "1: Yoga 03-09"
    );
    assert_eq!(titles("collapse=series&search=yoga").await, "1: Yoga 03-16");
    assert_eq!(
        titles("collapse=series&orderby=title&order=desc").await,
        "3: Yoga 03-16, Fair 03-20, Choir 03-16"
    );
    let series = app.get(&format!("/events/{yoga}")).await.json["series"]["id"].clone();
    let listed = app.get(&format!("/events?series={series}&start_date=2027-03-01")).await;
    assert_eq!(listed.ids().len(), 4);
    let next = listed.json["rest_url"].as_str().unwrap();
    assert!(next.contains(&format!("series={series}")), "{next}");
}

#[actix_web::test]
async fn statement_and_index_list_the_same_events_of_series() {
    let app = App::new().await;
    let yoga =
        course(&app, json!({"start_date": "2027-03-09 18:00", "end_date": "2027-03-09 19:00"}))
            .await;
    course(&app, json!({"title": "Choir"})).await;
    app.event(json!({"title": "Fair"})).await;
    let second = app.get("/events?search=yoga&start_date=2027-03-16").await.ids()[0];
    app.patch(&format!("/events/{second}"), &json!({"event_status": "cancelled"}))
        .await
        .expect(200);
    let series = app.get(&format!("/events/{yoga}")).await.json["series"]["id"].as_i64();
    let now = 1_804_680_000;
    let paging = Paging { page: 1, per_page: 50 };
    for (collapsed_at, series, expected) in
        [(None, None, 9), (Some(now), None, 3), (None, series, 4), (Some(now), series, 1)]
    {
        let plain = EventFilter::plain(Scope::public(), Window::default());
        let filter = EventFilter { collapsed_at, series, ..plain };
        let listed = app.list(&filter, paging);
        let stated = app.state.pools.read_blocking(|db| list_by_statement(db, &filter, paging));
        assert_eq!(listed, stated.unwrap());
        assert_eq!(listed.1, expected);
    }
}
