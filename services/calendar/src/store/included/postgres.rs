//! A single PostgreSQL statement that returns events with all included resources.
//!
//! Each part of the result is a column containing an array of records in binary wire format.

use std::collections::HashMap;

use database::DatabaseError;
use diesel::PgConnection;
use diesel::deserialize::{self, FromSql};
use diesel::expression::Expression;
use diesel::pg::{Pg, PgValue};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Integer, Record, Text};

use super::selector::EventSelector;
use crate::model::event::Event;
use crate::model::image::Image;
use crate::model::included::Included;
use crate::model::linked::Linked;
use crate::model::term::Term;
use crate::store::linked_posts::{OrganizerRow, VenueRow};
use crate::store::schema::events::dsl::{id, slug};
use crate::store::{
    event_statuses, events, images, links, series, series_events, terms, text_lengths,
};

/// The statement. The `{}` placeholders are for the event condition, the event links, and the
/// columns of each type of row.
///
/// Lateral subqueries with `limit 1` are always executed as key lookups, no matter how many rows
/// the planner expects. Otherwise, the planner would scan tables of a few thousand rows.
const OF_EVENTS: &str = "\
    with recursive wanted as (select * from events where {}), \
    links as materialized {}, \
    line (id) as (\
        select other_id from links where what in (1, 2) \
        union \
        select above.parent_id from line cross join lateral \
        (select parent_id from terms where terms.id = line.id limit 1) above), \
    shown (id) as (\
        select image_id from wanted where image_id is not null \
        union all \
        select case what \
            when 3 then (select image_id from venues where id = other_id) \
            when 4 then (select image_id from organizers where id = other_id) \
        end from links where what in (3, 4)) \
    select \
    array(select row({}) from wanted events), \
    array(select row(event_id, other_id, what) from links order by position, other_id), \
    array(select row({}) from line cross join lateral \
        (select * from terms where terms.id = line.id limit 1) terms), \
    array(select row({}) from links cross join lateral \
        (select * from venues where id = other_id limit 1) venues where what = 3), \
    array(select row({}) from links cross join lateral \
        (select * from organizers where id = other_id limit 1) organizers where what = 4), \
    array(select row({}) from shown cross join lateral \
        (select * from images where images.id = shown.id limit 1) images), \
    array(select row(event_id, status, reason) from event_statuses \
        where event_id in (select id from wanted)), \
    array(select row(event_id, series_id, occurrence, changed) from series_events \
        where event_id in (select id from wanted)), \
    array(select row({}) from series where id in (select series_id from series_events \
        where event_id in (select id from wanted)))";

type Columns<R> = <R as Selectable<Pg>>::SelectExpression;
type Records<T> = Array<Record<T>>;
type Of<R> = Records<<Columns<R> as Expression>::SqlType>;

fn columns<R: Selectable<Pg>>() -> Columns<R> {
    R::construct_selection()
}

/// [`OF_EVENTS`] with a condition. Conditions of the same kind always produce the same SQL, so a
/// connection parses and plans it only a few times.
struct OfEvents<C> {
    condition: C,
    links: links::OfWanted,
    events: Columns<events::Row>,
    terms: Columns<terms::Row>,
    venues: Columns<VenueRow>,
    organizers: Columns<OrganizerRow>,
    images: Columns<images::Row>,
    series: Columns<series::Row>,
}

impl<C> OfEvents<C> {
    fn that(condition: C) -> OfEvents<C> {
        OfEvents {
            condition,
            links: links::OfWanted,
            events: columns::<events::Row>(),
            terms: columns::<terms::Row>(),
            venues: columns::<VenueRow>(),
            organizers: columns::<OrganizerRow>(),
            images: columns::<images::Row>(),
            series: columns::<series::Row>(),
        }
    }
}

impl<C: QueryId> QueryId for OfEvents<C> {
    type QueryId = OfEvents<C::QueryId>;
    const HAS_STATIC_QUERY_ID: bool = C::HAS_STATIC_QUERY_ID;
}

impl<C> Query for OfEvents<C> {
    type SqlType = (
        Of<events::Row>,
        Records<(BigInt, BigInt, Integer)>,
        Of<terms::Row>,
        Of<VenueRow>,
        Of<OrganizerRow>,
        Of<images::Row>,
        Records<(BigInt, Text, Text)>,
        Records<(BigInt, BigInt, BigInt, Text)>,
        Of<series::Row>,
    );
}

impl<C: QueryFragment<Pg>> QueryFragment<Pg> for OfEvents<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let fragments: [&'b dyn QueryFragment<Pg>; 8] = [
            &self.condition,
            &self.links,
            &self.events,
            &self.terms,
            &self.venues,
            &self.organizers,
            &self.images,
            &self.series,
        ];
        let mut pieces = OF_EVENTS.split("{}");
        for fragment in fragments {
            out.push_sql(pieces.next().unwrap_or_default());
            fragment.walk_ast(out.reborrow())?;
        }
        out.push_sql(pieces.next().unwrap_or_default());
        Ok(())
    }
}

impl<C> RunQueryDsl<PgConnection> for OfEvents<C> {}

/// Selects the events on the page in [`OfPage`], unless they contain too much text.
struct OnPage {
    room: i64,
}

impl QueryId for OnPage {
    type QueryId = OnPage;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl QueryFragment<Pg> for OnPage {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        const ON_PAGE: &str = "= any(array(select id from page))";
        out.push_sql(&format!("id {ON_PAGE} and ("));
        out.push_sql(&text_lengths::OF_EVENTS.replace("IDS", ON_PAGE));
        out.push_sql(") <= (select ");
        out.push_bind_param::<BigInt, _>(&self.room)?;
        out.push_sql(")");
        Ok(())
    }
}

/// Selects the number of the last change, and the events on a page.
struct OfPage<'a> {
    ids: &'a [i64],
    events: OfEvents<OnPage>,
}

/// The statement cache looks statements up by their SQL.
impl QueryId for OfPage<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for OfPage<'_> {
    type SqlType = (BigInt, <OfEvents<OnPage> as Query>::SqlType);
}

impl QueryFragment<Pg> for OfPage<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("with page (id) as materialized (select unnest(");
        out.push_bind_param::<Array<BigInt>, _>(&self.ids)?;
        out.push_sql(")) select (select coalesce(max(seq), 0) from event_changes), whole.* from (");
        self.events.walk_ast(out.reborrow())?;
        out.push_sql(") whole");
        Ok(())
    }
}

impl RunQueryDsl<PgConnection> for OfPage<'_> {}

/// A row that arrives as a record.
struct Recorded<R>(R);

impl<R, T> FromSql<Record<T>, Pg> for Recorded<R>
where
    R: Queryable<T, Pg>,
    R::Row: FromSql<Record<T>, Pg>,
{
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Recorded<R>> {
        R::build(R::Row::from_sql(value)?).map(Recorded)
    }
}

type Answer = (
    Vec<Recorded<events::Row>>,
    Vec<Recorded<links::Row>>,
    Vec<Recorded<terms::Row>>,
    Vec<Recorded<VenueRow>>,
    Vec<Recorded<OrganizerRow>>,
    Vec<Recorded<images::Row>>,
    Vec<Recorded<event_statuses::Row>>,
    Vec<Recorded<series_events::MemberRow>>,
    Vec<Recorded<series::Row>>,
);

/// Reads events with all included resources.
pub fn of_events(
    conn: &mut PgConnection,
    which: EventSelector<'_>,
) -> Result<(Vec<Event>, Included), DatabaseError> {
    let answer: Answer = match which {
        EventSelector::Id(wanted) => OfEvents::that(id.eq(wanted)).get_result(conn)?,
        EventSelector::Slug(wanted) => OfEvents::that(slug.eq(wanted)).get_result(conn)?,
        EventSelector::Ids([]) => return Ok(Default::default()),
        EventSelector::Ids(wanted) => OfEvents::that(id.eq_any(wanted)).get_result(conn)?,
    };
    let (events, included) = gathered(answer);
    Ok(match which {
        EventSelector::Ids(ids) => (events::in_order(ids, events.into_iter()), included),
        _ => (events, included),
    })
}

/// Returns the number of the last change, and events with all included resources. Doesn't return
/// any events if they contain more than `room` bytes of text.
pub fn of_page(
    conn: &mut PgConnection,
    ids: &[i64],
    room: usize,
) -> Result<(i64, Vec<Event>, Included), DatabaseError> {
    let room = i64::try_from(room).unwrap_or(i64::MAX);
    let statement = OfPage { ids, events: OfEvents::that(OnPage { room }) };
    let (seq, answer): (i64, Answer) = statement.get_result(conn)?;
    let (events, included) = gathered(answer);
    Ok((seq, events::in_order(ids, events.into_iter()), included))
}

fn gathered(answer: Answer) -> (Vec<Event>, Included) {
    let (found, links, terms, venues, organizers, images, statuses, members, series) = answer;
    let included = Included {
        links: links::by_event(plain(links)),
        terms: by_id(plain(terms).map(Term::from), |term| term.id),
        venues: by_id(plain(venues).map(Linked::from), |row| row.id),
        organizers: by_id(plain(organizers).map(Linked::from), |row| row.id),
        images: by_id(plain(images).map(Image::from), |image| image.id),
        statuses: event_statuses::by_event(plain(statuses)),
        // Read by the caller if there are any.
        previous_starts: HashMap::new(),
        series: series::by_event(plain(members), plain(series)),
    };
    (plain(found).map(Event::from).collect(), included)
}

fn plain<R>(records: Vec<Recorded<R>>) -> impl Iterator<Item = R> {
    records.into_iter().map(|record| record.0)
}

fn by_id<T>(rows: impl Iterator<Item = T>, id_of: fn(&T) -> i64) -> HashMap<i64, T> {
    rows.map(|row| (id_of(&row), row)).collect()
}
