//! The venues that match a location filter.

use database::{DatabaseError, Db};

use crate::model::geo::Point;
use crate::model::list::{EventFilter, Geo, Scope};
use crate::store::conditions::statuses;
use crate::store::sql::Sql;

/// Returns the venues that match a location filter: first a rectangle by index, then the exact
/// distance.
pub fn geo_venues(db: &mut Db, filter: &EventFilter) -> Result<Option<Vec<i64>>, DatabaseError> {
    match filter.geo {
        None => Ok(None),
        Some(Geo::Known) => {
            let text = "select v.id as id from venues v where v.geo_lat is not null and ";
            let mut sql = Sql::new(db, text);
            statuses(&mut sql, "v", &filter.venue_scope);
            sql.load_ids(db).map(Some)
        }
        Some(Geo::Near { point, km }) => near(db, &filter.venue_scope, point, km).map(Some),
    }
}

#[derive(diesel::QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
    #[diesel(sql_type = diesel::sql_types::Double)]
    geo_lat: f64,
    #[diesel(sql_type = diesel::sql_types::Double)]
    geo_lng: f64,
}

fn near(db: &mut Db, scope: &Scope, point: Point, km: f64) -> Result<Vec<i64>, DatabaseError> {
    let reach = point.around(km);
    let text = format!(
        "select v.id, v.geo_lat, v.geo_lng from venues v where v.geo_lat between {} and {} \
         and v.geo_lng between {} and {} and ",
        reach.south, reach.north, reach.west, reach.east
    );
    let mut sql = Sql::new(db, &text);
    statuses(&mut sql, "v", scope);
    let rows: Vec<PlaceRow> = sql.load(db)?;
    let within =
        |row: &PlaceRow| point.distance_km(Point { lat: row.geo_lat, lng: row.geo_lng }) <= km;
    Ok(rows.iter().filter(|row| within(row)).map(|row| row.id).collect())
}
