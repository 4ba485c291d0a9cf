//! Orders of event lists, read from both ends.

use calendar::{
    Event, EventFilter, EventOrder, Limits, Links, Paging, Scope, Unpublished, Window, fold,
    list_by_statement,
};
use database::{DatabaseError, Db};
use serde_json::json;

use crate::app::{App, Dice, page_with_included, plant};

const DAY: i64 = 24 * 3600;

fn in_order(events: &[Event], order: EventOrder, descending: bool) -> Vec<i64> {
    let mut sorted: Vec<&Event> = events.iter().collect();
    sorted.sort_by(|a, b| {
        let way = match order {
            EventOrder::Start => a.schedule.start_local.cmp(&b.schedule.start_local),
            EventOrder::Date => a.published_utc.cmp(&b.published_utc),
            EventOrder::Title => fold(&a.title).cmp(&fold(&b.title)),
            EventOrder::Id => a.id.cmp(&b.id),
        };
        let way = if descending { way.reverse() } else { way };
        // Ties have the same order in both directions.
        let later = match order {
            EventOrder::Start => a.published_utc.cmp(&b.published_utc),
            _ => std::cmp::Ordering::Equal,
        };
        way.then(later).then(a.id.cmp(&b.id))
    });
    sorted.into_iter().map(|event| event.id).collect()
}

#[actix_web::test]
async fn pages_match_every_order_in_both_directions() {
    let app = App::new().await;
    let author = app.user("editor");
    let mut categories = Vec::new();
    for name in ["one", "two"] {
        categories.push(app.make("/categories", json!({"name": name})).await);
    }
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let links = Links { categories: categories.clone(), ..Links::default() };
    let planting = |db: &mut Db| -> Result<Vec<Event>, DatabaseError> {
        (0..23)
            .map(|_| {
                // With few distinct instants and titles, tie-breakers matter.
                let start = dice.roll(5) * DAY;
                let length = if dice.roll(3) == 0 { 40 * DAY } else { 3600 };
                plant(db, author, (start, start + length), &links, |event| {
                    event.title = format!("t{}", dice.roll(4));
                    event.published_utc = dice.roll(3);
                })
            })
            .collect()
    };
    let events = app.state.pools.write_blocking(planting).unwrap();
    let window = Window::on_wall(Limits { start_min: Some(0), ..Limits::default() });
    let overlap = Window::on_wall(Limits { end_min: Some(0), ..Limits::default() });
    let editors =
        Scope { published: true, unpublished: Unpublished::Of { author: None, statuses: None } };
    let plain = || EventFilter::plain(Scope::public(), window);
    let filters = [
        plain(),
        EventFilter::plain(Scope::public(), overlap),
        EventFilter::plain(editors, window),
        EventFilter { categories: Some(categories[..1].to_vec()), ..plain() },
        EventFilter { categories: Some(categories.clone()), ..plain() },
        EventFilter { categories: Some(categories), featured: Some(false), ..plain() },
    ];
    for filter in filters {
        for order in [EventOrder::Start, EventOrder::Date, EventOrder::Title, EventOrder::Id] {
            for descending in [false, true] {
                let filter = EventFilter { order, descending, ..filter.clone() };
                let expected = in_order(&events, order, descending);
                for per_page in [1, 4, 22, 23, 50] {
                    for page in 1..=23 / per_page + 2 {
                        let paging = Paging { page, per_page };
                        let (ids, total) = app.list(&filter, paging);
                        let range = usize::try_from((page - 1) * per_page).unwrap()
                            ..usize::try_from(page * per_page).unwrap().min(23);
                        let wanted = expected.get(range).unwrap_or_default();
                        assert_eq!(ids, wanted, "page {page} of {per_page}: {filter:?}");
                        assert_eq!(total, 23, "{filter:?}");
                        let read =
                            |db: &mut Db| page_with_included(db, app.access(), &filter, paging);
                        let again = app.state.pools.read_blocking(read).unwrap();
                        let by_statement = |db: &mut Db| list_by_statement(db, &filter, paging);
                        let listed = app.state.pools.read_blocking(by_statement).unwrap();
                        assert_eq!(again, listed, "page {page} of {per_page}: {filter:?}");
                        assert_eq!(again, (ids, total), "page {page} of {per_page}: {filter:?}");
                    }
                }
            }
        }
    }
}
