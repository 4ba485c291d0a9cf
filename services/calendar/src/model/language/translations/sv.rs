//! Swedish.

use super::super::count::Count;
use super::super::count::Simple::{One, Other};
use super::super::words::Words;

/// An interval with the determiners for every, every second and every nth unit: `Var 3:e vecka`.
fn every(n: Count, [each, second, nth]: [&str; 3], unit: &str) -> String {
    match n.value() {
        1 => format!("{each} {unit}"),
        2 => format!("{second} {unit}"),
        _ => format!("{nth} {} {unit}", ordinal(n)),
    }
}

/// An ordinal number: `1:a`, `3:e`.
fn ordinal(n: Count) -> String {
    match (n.value() % 10, n.value() % 100) {
        (_, 11 | 12) => format!("{n}:e"),
        (1 | 2, _) => format!("{n}:a"),
        _ => format!("{n}:e"),
    }
}

/// Determiners for nouns such as `vecka` and `dag`.
const COMMON: [&str; 3] = ["Varje", "Varannan", "Var"];

/// Determiners for nouns such as `år`.
const NEUTER: [&str; 3] = ["Varje", "Vartannat", "Vart"];

/// The UI strings.
pub static WORDS: Words = Words {
    skip: "Hoppa till innehållet",
    navigation: "Webbplats",
    languages: "Språk",
    events: "Evenemang",
    week: "Vecka",
    month: "Månad",
    api: "API",
    for_programs: |documents| format!("För utvecklare: {documents}."),
    documentation: "dokumentation",
    openapi: "OpenAPI-dokument",
    events_of: |name| format!("Evenemang: {name}"),
    part_of_events: |part, all, name| format!("{part} av {all} evenemang: {name}"),
    sentence: |text| format!("{text}."),

    days_with_events: "Dagar med evenemang",
    weeks_with_events: "Veckor med evenemang",
    today: "I dag",
    this_week: "Den här veckan",
    this_month: "Den här månaden",
    search: "Sök",
    search_examples: "Konsert, marknad, namn …",
    category: "Kategori",
    all_categories: "Alla",
    tag: "Etikett",
    all_tags: "Alla",
    find: "Sök",
    found: |events| match events.simple() {
        One | Other => format!("{events} evenemang hittades."),
    },
    show_all: "Visa alla",
    none_found: "Inga evenemang hittades",
    try_other_words: "Prova med andra eller färre ord.",
    past: "Tidigare evenemang",
    past_events: |months| format!("Tidigare evenemang finns på {months}."),
    month_pages: "månadssidorna",
    empty_day: "Inget är planerat den här dagen",
    empty_week: "Inget är planerat den här veckan",
    empty_list: "Inget är planerat ännu",
    will_appear: "Kommande evenemang visas här.",
    empty_for_now: "Inget är planerat för tillfället.",
    all_upcoming: "Alla kommande evenemang",
    about_list: |title, site| format!("{title}: vad, när och var. {site}"),
    on_now: "Pågår nu",
    already_running: "Pågår redan",
    until: |day| format!("till och med {day}"),
    until_time: |moment| format!("till {moment}"),
    all_day: "Hela dagen",
    featured: "Utvalt",
    admission_is: "Inträde:",
    free: "Gratis",
    protected: "Detaljerna är lösenordsskyddade.",
    pages: "Sidor",
    earlier: "Tidigare",
    later: "Senare",
    page_of: |page, pages| format!("Sida {page} av {pages}"),

    cancelled: "Inställt",
    postponed: "Uppskjutet",
    rescheduled: "Nytt datum",
    status_and_title: |status, title| format!("{status}: {title}"),

    subscribe: "Prenumerera",
    download: "Ladda ner (.ics)",
    file_limit: |events| match events.simple() {
        One => "En kalenderfil innehåller bara det första evenemanget.".to_owned(),
        Other => format!("En kalenderfil innehåller bara de första {events} evenemangen."),
    },
    address_for_apps: "Adress för andra appar",
    never_miss: "Missa inga evenemang",
    never_miss_text: "Din kalenderapp håller de här evenemangen uppdaterade.",
    follow: "Följ de här evenemangen",
    follow_text: "Din kalenderapp håller evenemangen på den här sidan uppdaterade.",
    add_calendar: "Lägg till kalendern i din egen",
    add_calendar_text: "Prenumerera på alla kommande evenemang. Din kalenderapp håller dem uppdaterade.",
    download_month: |month| format!("Ladda ner endast {month} (.ics)"),

    months: "Månader",
    empty_month: "Inget är planerat den här månaden.",
    several_weeks: "Under flera veckor",
    month_by_day: |month| format!("Evenemang i {month}, dag för dag"),
    about_month: |month| format!("Alla evenemang i {month}, dag för dag."),
    event_count: |events| match events.simple() {
        One | Other => format!("{events} evenemang"),
    },
    more: |events| format!("{events} till"),
    on_day: |day| format!(": {day}"),
    all_events: "Alla evenemang",
    open_calendar: "Öppna kalendern",

    over: "Evenemanget är över.",
    protected_event: "Detaljerna är lösenordsskyddade",
    password: "Lösenord",
    open: "Öppna",
    wrong_password: "Fel lösenord.",
    no_details: "Det finns inga fler detaljer ännu.",
    tags: "Etiketter",
    details: "Detaljer",
    when: "När",
    admission: "Inträde",
    venue: "Plats",
    organizer: "Arrangör",
    website: "Webbplats",
    add_to_calendar: "Lägg till i kalendern",
    add_all_dates: "Lägg till alla datum i kalendern",
    repeats: "Upprepas",
    next_dates: "Kommande datum",

    every_hour: |n| every(n, COMMON, "timme"),
    every_day: |n| every(n, COMMON, "dag"),
    every_week: |n| every(n, COMMON, "vecka"),
    every_month: |n| every(n, COMMON, "månad"),
    every_year: |n| every(n, NEUTER, "år"),
    every_weekday: |days| format!("Varje {days}"),
    often_on: |often, days| format!("{often}: {days}"),
    weekday_of_month: |nth, _, day| {
        let nth = nth.of(["första", "andra", "tredje", "fjärde", "femte", "sista"]);
        format!("{nth} {day}en")
    },
    day_of_month: |day| format!("den {}", ordinal(day)),
    last_day: "sista dagen",
    first_workday: "första vardagen",
    last_workday: "sista vardagen",
    in_month: |day, _, month| format!("{day} i {month}"),
    in_months: |often, months| format!("{often} i {months}"),
    times_in_total: |often, n| format!("{often}, totalt {n} gånger"),
    times: |n| format!("{n} gånger"),
    often_until: |often, day| match often.contains(": ") {
        true => format!("{often}, till och med {day}"),
        false => format!("{often} till och med {day}"),
    },
    also_on: |often, days| format!("{often}, även {days}"),
    also_on_others: |often| format!("{often}, även andra dagar"),
    once: "En gång",
    repeatedly: "Flera gånger",
    show_on_map: "Visa på karta",
    place_separator: ", ",

    upcoming: "Kommande evenemang",
    events_at: |name, address| format!("Evenemang: {name}, {address}"),
    upcoming_of: |name| format!("Kommande evenemang: {name}"),
    above: "Överordnade kategorier",

    subscriptions: "Prenumerationer",
    subscriptions_text: "Kalendrar på andra adresser vars evenemang visas här. Tiderna är i UTC.",
    no_subscriptions: "Det finns inga prenumerationer ännu.",
    state: "Status",
    next_run: "Nästa uppdatering",
    last_run: "Senaste uppdatering",
    active: "Aktiv",
    running: "Uppdateras",
    failing: "Misslyckas",
    stopped: "Stoppad",
    paused: "Pausad",
    removing: "Tas bort",
    failed_runs: |n| match n.simple() {
        One => format!("{n} misslyckat försök"),
        Other => format!("{n} misslyckade försök i rad"),
    },
    every_minute: |n| every(n, COMMON, "minut"),
    not_planned: "Inte planerad",
    changed_by_hand: |n| match n.simple() {
        One => format!("{n} ändrat för hand"),
        Other => format!("{n} ändrade för hand"),
    },
    no_run_yet: "Ingen ännu",
    imported: "Importerad",
    not_modified: "Inget nytt",
    run_failed: "Misslyckad",
    created: "Skapade",
    updated: "Uppdaterade",
    unchanged: "Oförändrade",
    skipped: "Överhoppade",
    not_imported: "Misslyckade",
    trashed: "Flyttade till papperskorgen",
    labelled: |label, n| format!("{label}: {n}"),
    english_message: "Meddelande på engelska:",
    resume: "Återuppta",
    run_now: "Uppdatera nu",
    accept_file: "Godkänn filen",
    pause: "Pausa",
    has_stopped: "Prenumerationen har stoppats.",
    is_failing: "De senaste uppdateringarna av prenumerationen misslyckades.",
    lost_events: |n| {
        format!(
            "{n} framtida evenemang saknas i filen. Inget har ändrats. Godkänn filen om det stämmer, eller återuppta prenumerationen när filen är komplett."
        )
    },

    not_found: "Sidan hittades inte",
    not_found_text: "Sidan finns inte. Den kan ha flyttats eller vara avpublicerad.",
    not_shown: "Det går inte att visa sidan",
    no_such_category: "Kategorin finns inte.",
    no_such_tag: "Etiketten finns inte.",
    no_such_day: "Dagen finns inte i kalendern.",
    invalid_day: "Datumet måste ha formen 2027-03-14.",
    invalid_search: |_| "Sökningen är ogiltig. Använd färre tecken.".to_owned(),
    invalid: |name, _| format!("Värdet för ”{name}” är ogiltigt."),
    too_many: "För många förfrågningar",
    try_again_in: |seconds| match seconds.simple() {
        One => format!("Försök igen om {seconds} sekund."),
        Other => format!("Försök igen om {seconds} sekunder."),
    },
    slow_search: "Sökningen tar för lång tid",
    slow_search_text: "Använd färre eller ovanligare ord, eller försök igen om en stund.",
    busy: "Kalendern är överbelastad",
    busy_text: "Försök igen om en stund.",
    failed: "Något gick fel",
    failed_text: "Sidan kan inte visas. Försök igen.",
    rejected: "Det fungerade inte",
    rejected_text: |_| "Förfrågan avvisades.".to_owned(),
};
