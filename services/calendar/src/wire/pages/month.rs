//! The view model for the month page, which is a grid of weeks.

use jiff::civil::Date;

use crate::model::language::{Language, capitalized};
use crate::model::month::{Month, MonthEntry, midnight};
use crate::model::schedule::wall_from_seconds;
use crate::model::urls::Urls;

/// Maximum number of events to show in a day cell.
pub const SHOWN: usize = 4;

/// Events that last at least this number of days are listed above the grid rather than in each day
/// cell.
const LONG_DAYS: i64 = 7;

/// Maximum number of events listed above the grid.
const MAX_LONG: usize = 12;

/// A month, as shown on its page.
#[derive(Clone, Debug)]
pub struct MonthView {
    /// The month's name for use within a sentence.
    pub spoken: String,
    /// The month's name for use as a heading.
    pub name: String,
    pub code: String,
    /// Names and abbreviations of the weekdays.
    pub weekdays: Vec<(String, &'static str)>,
    pub previous: Option<Month>,
    pub next: Option<Month>,
    /// Weeks of seven days. Days outside the month are `None`.
    pub weeks: Vec<Vec<Option<DayCell>>>,
    /// Events that last at least a week.
    pub long: Vec<LongEvent>,
    pub is_empty: bool,
    /// Whether today is in this month.
    pub is_current: bool,
}

impl MonthView {
    /// Sums up the number of events on each day. An event that spans several days counts once per
    /// day.
    pub fn events(&self) -> i64 {
        let days = self.weeks.iter().flatten().flatten();
        days.map(|day| day.more + i64::try_from(day.entries.len()).unwrap_or(0)).sum()
    }
}

/// A day in the grid.
#[derive(Clone, Debug)]
pub struct DayCell {
    pub number: i8,
    /// The day in ISO format.
    pub date: String,
    /// The day, spelled out.
    pub spoken: String,
    pub is_today: bool,
    pub entries: Vec<DayEntry>,
    /// Number of further events on this day that don't fit in the cell.
    pub more: i64,
    /// This number in words. Empty for 0.
    pub more_text: String,
    /// The day that `more_text` refers to, for screen readers.
    pub on_day: String,
}

/// An event in a day cell.
#[derive(Clone, Debug)]
pub struct DayEntry {
    pub title: String,
    pub href: String,
    /// The start time. Empty for all-day events, and on every day but the first.
    pub time: String,
    /// Whether the event lasts at least a day or started before this one.
    pub lasting: bool,
}

/// An event listed above the grid.
#[derive(Clone, Debug)]
pub struct LongEvent {
    pub title: String,
    pub href: String,
    pub when: String,
}

/// A month's events as read from the database.
pub struct MonthRows {
    pub month: Month,
    pub today: Date,
    /// For each day, the first few events that last less than a day, sorted by start time.
    pub first: Vec<MonthEntry>,
    /// Events that last at least a day.
    pub lasting: Vec<MonthEntry>,
    /// Number of events that start on each day.
    pub starts: Vec<i64>,
    /// For each day, the number of events that started the day before, last less than a day and
    /// continue into it.
    pub overnight: Vec<i64>,
}

/// Context shared by all cells in a month.
#[derive(Clone, Copy)]
struct Frame<'a> {
    rows: &'a MonthRows,
    urls: &'a Urls,
    language: Language,
}

/// Renders a month.
pub fn month(rows: &MonthRows, urls: &Urls, language: Language) -> MonthView {
    let frame = Frame { rows, urls, language };
    let is_long = |entry: &&MonthEntry| day_count(entry) >= LONG_DAYS;
    let (long, several): (Vec<&MonthEntry>, Vec<&MonthEntry>) =
        rows.lasting.iter().partition(is_long);
    let days = rows.month.days();
    let counts = rows.starts.iter().zip(&rows.overnight);
    let cells = days.iter().zip(counts).map(|(day, (starts, overnight))| {
        let began = long.iter().filter(|entry| start(entry) == *day).count();
        let left = starts + overnight - i64::try_from(began).unwrap_or(0);
        Some(cell(frame, &several, *day, left))
    });
    let blanks = std::iter::repeat_n(None, rows.month.blanks(language.first_weekday()));
    let mut cells: Vec<Option<DayCell>> = blanks.chain(cells).collect();
    cells.resize(cells.len().next_multiple_of(7), None);
    let spoken = language.month(rows.month.first());
    let weekday = |day| (capitalized(language.weekday(day)), language.short_weekday(day));
    MonthView {
        name: capitalized(&spoken),
        spoken,
        code: rows.month.code(),
        weekdays: language.week().map(weekday).collect(),
        previous: rows.month.previous(),
        next: rows.month.next(),
        is_current: Month::of(rows.today) == rows.month,
        is_empty: rows.lasting.is_empty()
            && rows.starts.iter().chain(&rows.overnight).all(|events| *events == 0),
        weeks: cells.chunks(7).map(<[_]>::to_vec).collect(),
        long: long.into_iter().take(MAX_LONG).map(|entry| long_event(frame, entry)).collect(),
    }
}

fn start(entry: &MonthEntry) -> Date {
    wall_from_seconds(entry.start_local).date()
}

fn end(entry: &MonthEntry) -> Date {
    wall_from_seconds(entry.end_local).date()
}

fn day_count(entry: &MonthEntry) -> i64 {
    i64::from(start(entry).until(end(entry)).map_or(0, |span| span.get_days())) + 1
}

fn cell(frame: Frame<'_>, several: &[&MonthEntry], day: Date, short: i64) -> DayCell {
    let Frame { rows, language, .. } = frame;
    let midnight = midnight(day);
    let running: Vec<&&MonthEntry> =
        several.iter().filter(|entry| entry.covers(midnight)).collect();
    let earlier = running.iter().filter(|entry| start(entry) != day).count();
    let total = short + i64::try_from(earlier).unwrap_or(0);
    let short = rows.first.iter().filter(|entry| entry.covers(midnight));
    let all = running.into_iter().copied().chain(short);
    let entries: Vec<DayEntry> = all.take(SHOWN).map(|entry| shown(frame, entry, day)).collect();
    let more = (total - i64::try_from(entries.len()).unwrap_or(0)).max(0);
    let (words, spoken) = (language.words(), language.day_of_year(day));
    let more_text = match (more, entries.is_empty()) {
        (0, _) => String::new(),
        (more, true) => (words.event_count)(language.count(more)),
        (more, false) => (words.more)(language.count(more)),
    };
    DayCell {
        number: day.day(),
        date: day.to_string(),
        on_day: (words.on_day)(&spoken),
        spoken: capitalized(&spoken),
        more_text,
        is_today: day == rows.today,
        entries,
        more,
    }
}

fn shown(frame: Frame<'_>, entry: &MonthEntry, day: Date) -> DayEntry {
    let Frame { urls, language, .. } = frame;
    let has_time = !entry.all_day && start(entry) == day;
    let at = wall_from_seconds(entry.start_local);
    DayEntry {
        title: entry.title.clone(),
        href: urls.event_page(&entry.slug),
        time: if has_time { language.time(at) } else { String::new() },
        lasting: entry.is_lasting() || start(entry) != day,
    }
}

fn long_event(Frame { urls, language, .. }: Frame<'_>, entry: &MonthEntry) -> LongEvent {
    LongEvent {
        title: entry.title.clone(),
        href: urls.event_page(&entry.slug),
        when: language.days(start(entry), end(entry)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::month::DAY;

    fn entry(id: i64, start_local: i64, length: i64) -> MonthEntry {
        let (title, slug) = (format!("E{id}"), format!("e{id}"));
        MonthEntry { id, title, slug, start_local, end_local: start_local + length, all_day: false }
    }

    #[test]
    fn cells_count_their_hidden_events() {
        let march = Month::parse("2027-03").unwrap();
        let first = midnight(march.first());
        let mut starts = vec![0; 31];
        // On the 2nd, there are six short events, a three-day event and an event that lasts a
        // month.
        starts[1] = 8;
        let rows = MonthRows {
            month: march,
            today: march.last(),
            first: (0..4).map(|id| entry(id, first + DAY + id * 60, 3600)).collect(),
            lasting: vec![entry(8, first + DAY, 2 * DAY + 60), entry(9, first + DAY, 30 * DAY)],
            starts,
            overnight: vec![0; 31],
        };
        let urls = Urls::default();
        let shown = month(&rows, &urls, Language::En);
        let cell = |number: usize| shown.weeks[0][number - 1].clone().unwrap();
        let titles: Vec<String> = cell(2).entries.into_iter().map(|entry| entry.title).collect();
        assert_eq!((titles.join(" "), cell(2).more), ("E8 E0 E1 E2".into(), 3));
        assert_eq!((cell(3).entries.len(), cell(3).more), (1, 0));
        assert_eq!((cell(4).entries.len(), cell(5).entries.len()), (1, 0));
        assert_eq!((shown.long.len(), shown.weeks.len()), (1, 5));
        assert!(shown.weeks[4][2].as_ref().unwrap().is_today && shown.weeks[4][3].is_none());
    }

    #[test]
    fn event_until_the_next_noon_is_on_both_days() {
        let march = Month::parse("2027-03").unwrap();
        let first = midnight(march.first());
        let (mut starts, mut overnight) = (vec![0; 31], vec![0; 31]);
        (starts[0], overnight[1]) = (1, 1);
        let night = entry(1, first + DAY - 7200, 15 * 3600);
        let rows = MonthRows {
            month: march,
            today: march.last(),
            first: vec![night],
            lasting: Vec::new(),
            starts,
            overnight,
        };
        let shown = month(&rows, &Urls::default(), Language::En);
        for (day, begins) in [(0, true), (1, false)] {
            let cell = shown.weeks[0][day].clone().unwrap();
            assert_eq!((cell.entries.len(), cell.more), (1, 0), "{day}");
            let entry = &cell.entries[0];
            assert_eq!((entry.time.is_empty(), entry.lasting), (!begins, !begins), "{day}");
        }
        assert!(shown.weeks[0][2].as_ref().unwrap().entries.is_empty());
    }
}
