//! Brazilian Portuguese.

use jiff::civil::Weekday;

use super::super::count::Romance::{Many, One, Other};
use super::super::words::Words;

/// The words.
pub static WORDS: Words = Words {
    skip: "Pular para o conteúdo",
    navigation: "Site",
    languages: "Idiomas",
    events: "Eventos",
    week: "Semana",
    month: "Mês",
    api: "API",
    for_programs: |documents| format!("Para programas: {documents}."),
    documentation: "documentação",
    openapi: "documento OpenAPI",
    events_of: |name| format!("Eventos: {name}"),
    part_of_events: |part, all, name| format!("{part} de {all} eventos: {name}"),
    sentence: |text| format!("{text}."),

    days_with_events: "Dias com eventos",
    weeks_with_events: "Semanas com eventos",
    today: "Hoje",
    this_week: "Esta semana",
    this_month: "Este mês",
    search: "Busca",
    search_examples: "Show, feira, nome…",
    category: "Categoria",
    all_categories: "Todas",
    tag: "Tag",
    all_tags: "Todas",
    find: "Buscar",
    found: |events| match events.western() {
        One => format!("{events} evento encontrado."),
        Many => format!("{events} de eventos encontrados."),
        Other => format!("{events} eventos encontrados."),
    },
    show_all: "Mostrar todos",
    none_found: "Nenhum evento encontrado",
    try_other_words: "Tente outras palavras ou menos palavras.",
    past_events: |months| format!("Os eventos passados estão nas {months}."),
    month_pages: "páginas dos meses",
    empty_day: "Não há nada programado para este dia",
    empty_week: "Não há nada programado para esta semana",
    empty_list: "Ainda não há nada programado",
    will_appear: "Os próximos eventos aparecerão aqui.",
    empty_for_now: "No momento não há nada programado.",
    all_upcoming: "Todos os próximos eventos",
    about_list: |title, site| format!("{title}: o quê, quando e onde. {site}"),
    on_now: "Acontecendo agora",
    already_running: "Já em andamento",
    until: |day| format!("até {day}"),
    all_day: "Dia inteiro",
    featured: "Destaque",
    admission_is: "Entrada:",
    free: "Gratuito",
    protected: "Os detalhes são protegidos por senha.",
    pages: "Páginas",
    earlier: "Anteriores",
    later: "Próximos",
    page_of: |page, pages| format!("Página {page} de {pages}"),

    cancelled: "Cancelado",
    postponed: "Adiado",
    rescheduled: "Nova data",
    status_and_title: |status, title| format!("{status}: {title}"),

    subscribe: "Assinar",
    download: "Baixar (.ics)",
    file_limit: |events| match events.western() {
        One => format!("Um arquivo de calendário contém no máximo {events} evento: o primeiro."),
        Many => {
            format!("Um arquivo de calendário contém no máximo {events} de eventos: os primeiros.")
        }
        Other => {
            format!("Um arquivo de calendário contém no máximo {events} eventos: os primeiros.")
        }
    },
    address_for_apps: "Endereço para outros aplicativos",
    never_miss: "Não perca nenhum evento",
    never_miss_text: "Seu aplicativo de calendário mantém estes eventos atualizados.",
    follow: "Acompanhe estes eventos",
    follow_text: "Seu aplicativo de calendário mantém atualizados os eventos desta página.",
    add_calendar: "Adicione este calendário ao seu",
    add_calendar_text: "Assine todos os próximos eventos. Seu aplicativo de calendário os mantém atualizados.",
    download_month: |month| format!("Baixar apenas {month} (.ics)"),

    months: "Meses",
    empty_month: "Não há nada programado para este mês.",
    several_weeks: "Durante várias semanas",
    month_by_day: |month| format!("Eventos de {month}, dia a dia"),
    about_month: |month| format!("Todos os eventos de {month}, dia a dia."),
    event_count: |events| match events.western() {
        One => format!("{events} evento"),
        Many => format!("{events} de eventos"),
        Other => format!("{events} eventos"),
    },
    more: |events| format!("mais {events}"),
    on_day: |day| format!(": {day}"),
    all_events: "Todos os eventos",
    open_calendar: "Abrir o calendário",

    over: "Este evento já terminou.",
    protected_event: "Os detalhes são protegidos por senha",
    password: "Senha",
    open: "Abrir",
    wrong_password: "Senha incorreta.",
    no_details: "Ainda não há mais detalhes.",
    tags: "Tags",
    details: "Detalhes",
    when: "Quando",
    admission: "Entrada",
    venue: "Local",
    organizer: "Organizador",
    website: "Site",
    add_to_calendar: "Adicionar ao calendário",
    repeats: "Repetição",
    next_dates: "Próximas datas",

    every_hour: |n| match n.western() {
        One => "Todas as horas".to_owned(),
        Many | Other => format!("A cada {n} horas"),
    },
    every_day: |n| match n.western() {
        One => "Todos os dias".to_owned(),
        Many | Other => format!("A cada {n} dias"),
    },
    every_week: |n| match n.western() {
        One => "Todas as semanas".to_owned(),
        Many | Other => format!("A cada {n} semanas"),
    },
    every_month: |n| match n.western() {
        One => "Todos os meses".to_owned(),
        Many | Other => format!("A cada {n} meses"),
    },
    every_year: |n| match n.western() {
        One => "Todos os anos".to_owned(),
        Many | Other => format!("A cada {n} anos"),
    },
    every_weekday: |days| format!("Todas as semanas: {days}"),
    often_on: |often, days| format!("{often}: {days}"),
    weekday_of_month: |nth, weekday, day| {
        let nth = match weekday {
            Weekday::Saturday | Weekday::Sunday => {
                nth.of(["primeiro", "segundo", "terceiro", "quarto", "quinto", "último"])
            }
            _ => nth.of(["primeira", "segunda", "terceira", "quarta", "quinta", "última"]),
        };
        format!("{nth} {day}")
    },
    day_of_month: |day| format!("dia {day}"),
    last_day: "último dia",
    in_month: |day, _, month| format!("{day} de {month}"),
    times_in_total: |often, n| format!("{often}, {n} vezes"),
    often_until: |often, day| format!("{often}, até {day}"),
    also_on: |often, days| format!("{often}; também em {days}"),
    also_on_others: |often| format!("{often}; também em outras datas"),
    once: "Uma única vez",
    repeatedly: "Várias vezes",
    show_on_map: "Ver no mapa",
    place_separator: ", ",

    upcoming: "Próximos eventos",
    events_at: |name, address| format!("Eventos: {name}, {address}"),
    upcoming_of: |name| format!("Próximos eventos: {name}"),
    above: "Categorias superiores",

    not_found: "Página não encontrada",
    not_found_text: "Esta página não existe. Ela pode ter sido movida ou não estar mais publicada.",
    not_shown: "Não é possível exibir",
    no_such_category: "Esta categoria não existe.",
    no_such_tag: "Esta tag não existe.",
    no_such_day: "Este dia não está no calendário.",
    invalid_day: "A data deve ser um dia como 2027-03-14.",
    invalid_search: |_| "Esta busca é inválida. Use menos caracteres.".to_owned(),
    invalid: |name, _| format!("O valor de “{name}” é inválido."),
    too_many: "Muitas solicitações",
    try_again_in: |seconds| match seconds.western() {
        One => format!("Tente novamente em {seconds} segundo."),
        Many => format!("Tente novamente em {seconds} de segundos."),
        Other => format!("Tente novamente em {seconds} segundos."),
    },
    slow_search: "Esta busca está demorando demais",
    slow_search_text: "Use menos palavras ou palavras mais raras, ou tente novamente daqui a pouco.",
    busy: "O calendário está sobrecarregado",
    busy_text: "Tente novamente daqui a pouco.",
    failed: "Algo deu errado",
    failed_text: "Não foi possível exibir a página. Tente novamente.",
    rejected: "Não funcionou",
    rejected_text: |_| "A solicitação foi recusada.".to_owned(),
};
