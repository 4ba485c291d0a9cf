//! French.

use super::super::count::Romance::{Many, One, Other};
use super::super::words::Words;

/// The words.
pub static WORDS: Words = Words {
    skip: "Aller au contenu",
    navigation: "Site",
    languages: "Langues",
    events: "Événements",
    week: "Semaine",
    month: "Mois",
    api: "API",
    for_programs: |documents| format!("Pour les développeurs\u{a0}: {documents}."),
    documentation: "documentation",
    openapi: "document OpenAPI",
    events_of: |name| format!("Événements\u{a0}: {name}"),
    part_of_events: |part, all, name| format!("Événements\u{a0}: {name} ({part} sur {all})"),
    sentence: |text| format!("{text}."),

    days_with_events: "Jours avec des événements",
    weeks_with_events: "Semaines avec des événements",
    today: "Aujourd’hui",
    this_week: "Cette semaine",
    this_month: "Ce mois-ci",
    search: "Recherche",
    search_examples: "Concert, marché, nom…",
    category: "Catégorie",
    all_categories: "Toutes",
    tag: "Mot-clé",
    all_tags: "Tous",
    find: "Rechercher",
    found: |events| match events.western() {
        One => format!("{events} événement trouvé."),
        Many => format!("{events} d’événements trouvés."),
        Other => format!("{events} événements trouvés."),
    },
    show_all: "Tout afficher",
    none_found: "Aucun événement ne correspond",
    try_other_words: "Essayez avec d’autres mots, ou moins de mots.",
    past: "Événements passés",
    past_events: |months| format!("Retrouvez les événements passés dans les {months}."),
    month_pages: "pages mensuelles",
    empty_day: "Rien n’est prévu ce jour-là",
    empty_week: "Rien n’est prévu cette semaine-là",
    empty_list: "Rien n’est encore prévu",
    will_appear: "Les événements à venir s’afficheront ici.",
    empty_for_now: "Rien n’est prévu pour le moment.",
    all_upcoming: "Tous les événements à venir",
    about_list: |title, site| format!("{title}\u{a0}: programme, dates et lieux. {site}"),
    on_now: "En ce moment",
    already_running: "Déjà en cours",
    until: |day| format!("jusqu’au {day}"),
    all_day: "Toute la journée",
    featured: "À la une",
    admission_is: "Tarif\u{a0}:",
    free: "Gratuit",
    protected: "Les détails sont protégés par un mot de passe.",
    pages: "Pages",
    earlier: "Précédents",
    later: "Suivants",
    page_of: |page, pages| format!("Page {page} sur {pages}"),

    cancelled: "Annulé",
    postponed: "Reporté",
    rescheduled: "Nouvelle date",
    status_and_title: |status, title| format!("{status}\u{a0}: {title}"),

    subscribe: "S’abonner au calendrier",
    download: "Télécharger (.ics)",
    file_limit: |events| match events.western() {
        One => "Un fichier de calendrier ne contient que le premier événement.".to_owned(),
        Many | Other => {
            format!("Un fichier de calendrier ne contient que les {events} premiers événements.")
        }
    },
    address_for_apps: "Adresse pour d’autres applications",
    never_miss: "Ne manquez aucun événement",
    never_miss_text: "Votre application d’agenda tient ces événements à jour.",
    follow: "Suivre ces événements",
    follow_text: "Votre application d’agenda tient à jour les événements de cette page.",
    add_calendar: "Ajouter ce calendrier à votre agenda",
    add_calendar_text: "Abonnez-vous à tous les événements à venir. Votre application d’agenda les tient à jour.",
    download_month: |month| format!("Télécharger uniquement {month} (.ics)"),

    months: "Mois",
    empty_month: "Rien n’est prévu ce mois-là.",
    several_weeks: "Sur plusieurs semaines",
    month_by_day: |month| format!("Événements jour par jour\u{a0}: {month}"),
    about_month: |month| format!("Tous les événements jour par jour\u{a0}: {month}."),
    event_count: |events| match events.western() {
        One => format!("{events} événement"),
        Many => format!("{events} d’événements"),
        Other => format!("{events} événements"),
    },
    more: |events| match events.western() {
        One => format!("{events} autre"),
        Many | Other => format!("{events} autres"),
    },
    on_day: |day| format!(" le {day}"),
    all_events: "Tous les événements",
    open_calendar: "Ouvrir le calendrier",

    over: "Cet événement est terminé.",
    protected_event: "Les détails sont protégés par un mot de passe",
    password: "Mot de passe",
    open: "Ouvrir",
    wrong_password: "Mot de passe incorrect.",
    no_details: "Plus de détails prochainement.",
    tags: "Mots-clés",
    details: "Détails",
    when: "Quand",
    admission: "Tarif",
    venue: "Lieu",
    organizer: "Organisateur",
    website: "Site web",
    add_to_calendar: "Ajouter à l’agenda",
    add_all_dates: "Ajouter toutes les dates à l’agenda",
    repeats: "Périodicité",
    next_dates: "Prochaines dates",

    every_hour: |n| match n.western() {
        One => "Toutes les heures".to_owned(),
        Many | Other => format!("Toutes les {n} heures"),
    },
    every_day: |n| match n.western() {
        One => "Tous les jours".to_owned(),
        Many | Other => format!("Tous les {n} jours"),
    },
    every_week: |n| match n.western() {
        One => "Toutes les semaines".to_owned(),
        Many | Other => format!("Toutes les {n} semaines"),
    },
    every_month: |n| match n.western() {
        One => "Tous les mois".to_owned(),
        Many | Other => format!("Tous les {n} mois"),
    },
    every_year: |n| match n.western() {
        One => "Tous les ans".to_owned(),
        Many | Other => format!("Tous les {n} ans"),
    },
    every_weekday: |days| format!("Chaque {days}"),
    often_on: |often, days| {
        // Each day in a list has its own article.
        let days = days.replace(", ", ", le ").replace(" et ", " et le ");
        format!("{often}, le {days}")
    },
    weekday_of_month: |nth, _, day| {
        let nth = nth.of(["premier", "deuxième", "troisième", "quatrième", "cinquième", "dernier"]);
        format!("{nth} {day}")
    },
    day_of_month: |day| if day.is_one() { "1er".to_owned() } else { format!("{day}") },
    last_day: "dernier jour",
    in_month: |day, number, month| match number {
        4 | 8 | 10 => format!("{day} d’{month}"),
        _ => format!("{day} de {month}"),
    },
    times_in_total: |often, n| format!("{often}, {n} fois au total"),
    // Without the comma, `le 9 jusqu’au 30 juin` would be a range of days.
    often_until: |often, day| match often.contains(", le ") {
        true => format!("{often}, jusqu’au {day}"),
        false => format!("{often} jusqu’au {day}"),
    },
    also_on: |often, days| format!("{often}, ainsi que le {days}"),
    also_on_others: |often| format!("{often}, ainsi qu’à d’autres dates"),
    once: "Une seule fois",
    repeatedly: "Plusieurs fois",
    show_on_map: "Voir sur la carte",
    place_separator: ", ",

    upcoming: "Événements à venir",
    events_at: |name, address| format!("Événements\u{a0}: {name}, {address}"),
    upcoming_of: |name| format!("Événements à venir\u{a0}: {name}"),
    above: "Catégories parentes",

    subscriptions: "Abonnements",
    subscriptions_text: "Calendriers situés à d’autres adresses et dont les événements apparaissent ici. Les heures sont en UTC.",
    no_subscriptions: "Aucun abonnement pour le moment.",
    state: "État",
    next_run: "Prochaine mise à jour",
    last_run: "Dernière mise à jour",
    active: "Actif",
    running: "En cours",
    failing: "En échec",
    stopped: "Arrêté",
    paused: "En pause",
    removing: "En cours de suppression",
    failed_runs: |n| match n.western() {
        One => format!("{n} échec"),
        Many | Other => format!("{n} échecs de suite"),
    },
    every_minute: |n| match n.western() {
        One => "Toutes les minutes".to_owned(),
        Many | Other => format!("Toutes les {n} minutes"),
    },
    not_planned: "Aucune prévue",
    changed_by_hand: |n| match n.western() {
        One => format!("{n} modifié à la main"),
        Many | Other => format!("{n} modifiés à la main"),
    },
    no_run_yet: "Aucune pour le moment",
    imported: "Importation réussie",
    not_modified: "Rien de nouveau",
    run_failed: "Échec",
    created: "Créés",
    updated: "Mis à jour",
    unchanged: "Inchangés",
    skipped: "Ignorés",
    not_imported: "En erreur",
    trashed: "Mis à la corbeille",
    labelled: |label, n| format!("{label}\u{a0}: {n}"),
    resume: "Reprendre",
    run_now: "Mettre à jour maintenant",
    accept_file: "Accepter le fichier",
    pause: "Mettre en pause",
    has_stopped: "Cet abonnement est arrêté.",
    is_failing: "Les dernières mises à jour de cet abonnement ont échoué.",
    lost_events: |n| {
        let lost = match n.western() {
            One => format!("Il manque {n} événement à venir dans le fichier."),
            Many => format!("Il manque {n} d’événements à venir dans le fichier."),
            Other => format!("Il manque {n} événements à venir dans le fichier."),
        };
        format!(
            "{lost} Rien n’a été modifié. Acceptez le fichier si c’est normal, ou reprenez l’abonnement quand le fichier sera complet."
        )
    },

    not_found: "Page introuvable",
    not_found_text: "Cette page n’existe pas. Elle a peut-être été déplacée ou n’est plus publiée.",
    not_shown: "Affichage impossible",
    no_such_category: "Cette catégorie n’existe pas.",
    no_such_tag: "Ce mot-clé n’existe pas.",
    no_such_day: "Ce jour n’est pas dans le calendrier.",
    invalid_day: "La date doit être au format 2027-03-14.",
    invalid_search: |_| {
        "Cette recherche n’est pas valide. Utilisez moins de caractères.".to_owned()
    },
    invalid: |name, _| format!("La valeur de «\u{a0}{name}\u{a0}» n’est pas valide."),
    too_many: "Trop de requêtes",
    try_again_in: |seconds| match seconds.western() {
        One => format!("Veuillez réessayer dans {seconds} seconde."),
        Many => format!("Veuillez réessayer dans {seconds} de secondes."),
        Other => format!("Veuillez réessayer dans {seconds} secondes."),
    },
    slow_search: "Cette recherche prend trop de temps",
    slow_search_text: "Utilisez des mots moins nombreux ou plus rares, ou réessayez dans un instant.",
    busy: "Le calendrier est surchargé",
    busy_text: "Veuillez réessayer dans un instant.",
    failed: "Une erreur s’est produite",
    failed_text: "La page ne peut pas être affichée. Veuillez réessayer.",
    rejected: "Cela n’a pas fonctionné",
    rejected_text: |_| "La requête a été refusée.".to_owned(),
};
