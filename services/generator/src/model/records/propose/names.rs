//! Guesses the contents of a column from its name.

use serde_json::{Value, json};

/// Common currencies.
const CURRENCIES: &str = "EUR USD GBP JPY CHF CAD AUD SEK CNY INR";

/// Usual ranges of integers in columns, by column name.
const USUAL: [(&[&str], f64, f64); 9] = [
    (&["age", "alter", "edad", "età"], 0.0, 99.0),
    (&["year", "jahr", "année", "año", "anno"], 1970.0, 2030.0),
    (&["quarter", "quartal", "trimestre"], 1.0, 4.0),
    (&["month", "monat", "mois", "mes", "mese"], 1.0, 12.0),
    (&["day", "tag", "jour", "día", "giorno"], 1.0, 28.0),
    (&["weekday", "wochentag", "day_of_week"], 1.0, 7.0),
    (&["hour", "stunde", "heure", "hora", "ora"], 0.0, 23.0),
    (&["minute", "second", "sekunde", "minuto"], 0.0, 59.0),
    (&["percent", "percentage", "prozent"], 0.0, 100.0),
];

/// Column names in English, as well as usual ones in French, German, Italian and Spanish, with the
/// type and the details of the field to use.
const NAMES: [(&[&str], &str, &str); 37] = [
    (&["email", "mail", "email_address", "e_mail"], "person", "email"),
    (
        &["first_name", "firstname", "given_name", "forename", "vorname", "prénom", "prenom"],
        "person",
        "givenName",
    ),
    (
        &[
            "last_name",
            "lastname",
            "surname",
            "family_name",
            "nachname",
            "familienname",
            "nom",
            "nom_de_famille",
            "apellido",
            "apellidos",
            "cognome",
        ],
        "person",
        "surname",
    ),
    (
        &["full_name", "fullname", "display_name", "customer_name", "contact_name"],
        "person",
        "fullName",
    ),
    (&["username", "user_name", "login", "nickname"], "person", "username"),
    (
        &[
            "phone",
            "phone_number",
            "telephone",
            "tel",
            "mobile",
            "fax",
            "telefon",
            "telefonnummer",
            "handy",
            "téléphone",
            "portable",
            "teléfono",
            "telefono",
            "móvil",
        ],
        "person",
        "phone",
    ),
    (&["sex", "gender", "geschlecht", "sexe", "sexo", "sesso"], "person", "sex"),
    (
        &[
            "birth_date",
            "birthdate",
            "birthday",
            "date_of_birth",
            "dob",
            "born",
            "geburtsdatum",
            "geboren",
            "geburtstag",
            "date_de_naissance",
            "fecha_de_nacimiento",
            "data_di_nascita",
        ],
        "person",
        "birthDate",
    ),
    (&["national_number", "national_id", "ssn", "personal_number"], "person", "nationalNumber"),
    // Use the type `iban`, because the IBAN of a person would be null in the United States.
    (&["iban", "bank_account", "account_iban"], "iban", ""),
    (
        &[
            "address",
            "address_line",
            "address_line1",
            "address1",
            "full_address",
            "anschrift",
            "dirección",
            "indirizzo",
        ],
        "person",
        "address",
    ),
    (&["street", "street_name", "straße", "strasse", "rue", "via"], "person", "street"),
    (&["house_number", "street_number", "hausnummer", "hausnr"], "person", "houseNumber"),
    (&["city", "town", "ort", "stadt", "wohnort", "ville", "ciudad", "città"], "person", "city"),
    (
        &[
            "zip",
            "zip_code",
            "zipcode",
            "postcode",
            "postal_code",
            "plz",
            "postleitzahl",
            "code_postal",
            "código_postal",
            "codigo_postal",
            "cap",
        ],
        "person",
        "postcode",
    ),
    (&["state", "region", "province", "county"], "person", "region"),
    (&["country", "country_code", "country_iso"], "person", "countryCode"),
    (&["card_number", "credit_card", "cc_number"], "person", "cardNumber"),
    (&["card_type", "card_brand"], "person", "cardType"),
    (&["cvv", "cvc"], "person", "cardCvv"),
    (
        &[
            "company",
            "company_name",
            "employer",
            "organisation",
            "organization",
            "supplier",
            "firma",
            "unternehmen",
            "empresa",
            "azienda",
        ],
        "company",
        "",
    ),
    (&["url", "website", "homepage", "link", "web"], "url", ""),
    (&["ip", "ip_address", "client_ip", "remote_addr"], "ip", ""),
    (&["mac", "mac_address"], "mac", ""),
    (&["user_agent", "useragent", "browser"], "userAgent", ""),
    (&["colour", "color"], "colour", ""),
    (&["file", "file_name", "filename"], "fileName", ""),
    (&["imei"], "imei", ""),
    (&["vat", "vat_number", "vat_id", "tax_number"], "vat", ""),
    (&["uuid", "guid"], "uuid", ""),
    (&["password", "passwd", "password_hash"], "password", ""),
    (
        &["description", "comment", "comments", "note", "notes", "text", "body", "bio", "message"],
        "text",
        "",
    ),
    (&["title", "subject", "headline"], "text", "3"),
    (&["name"], "person", "fullName"),
    (&["currency", "currency_code", "währung", "devise", "moneda", "valuta"], "choice", CURRENCIES),
    (&["product", "product_name", "item"], "text", "2"),
    (&["department", "category", "tag"], "text", "1"),
];

/// The names above that keep their meaning after a prefix, as in `user_email`. `name` and `title`
/// don't, and neither does `state`, because `order_state` is the status of an order.
const ENDS: [&str; 48] = [
    "birth_date",
    "card_number",
    "city",
    "color",
    "colour",
    "comment",
    "comments",
    "company_name",
    "country",
    "country_code",
    "credit_card",
    "currency",
    "currency_code",
    "date_of_birth",
    "description",
    "email",
    "email_address",
    "family_name",
    "fax",
    "file_name",
    "filename",
    "first_name",
    "full_name",
    "gender",
    "given_name",
    "homepage",
    "house_number",
    "iban",
    "ip",
    "ip_address",
    "last_name",
    "mac_address",
    "mobile",
    "notes",
    "password",
    "phone",
    "phone_number",
    "postal_code",
    "postcode",
    "street",
    "surname",
    "telephone",
    "url",
    "user_agent",
    "vat_number",
    "website",
    "zip",
    "zip_code",
];

/// Returns the field for a text column, or `None` if the name doesn't suggest one.
pub fn by_name(name: &str) -> Option<Value> {
    let name = snake_case(name);
    let find = |name: &str| NAMES.iter().find(|(words, ..)| words.contains(&name));
    let is_question = name.starts_with("is_") || name.starts_with("has_");
    let mut ends = name.match_indices('_').map(|(at, _)| &name[at + 1..]);
    let end = || ends.find(|end| ENDS.contains(end) && !is_question).and_then(find);
    let (_, kind, detail) = find(&name).or_else(end)?;
    Some(match (*kind, *detail) {
        ("person", part) => json!({"type": "person", "part": part}),
        ("choice", words) => {
            json!({"type": "choice", "values": words.split(' ').collect::<Vec<_>>()})
        }
        ("text", "") => json!({"type": "text", "words": 12}),
        ("text", words) => json!({"type": "text", "words": words.parse::<u32>().unwrap_or(3)}),
        (kind, _) => json!({"type": kind}),
    })
}

/// Returns the usual minimum and maximum of integers in columns with this name.
pub fn usual(name: &str) -> Option<(f64, f64)> {
    let name = snake_case(name);
    let usual = USUAL.iter().find(|(words, ..)| words.contains(&name.as_str()));
    usual.map(|(_, least, most)| (*least, *most))
}

/// Returns whether columns with this name are usually part of an address.
pub fn is_address(name: &str) -> bool {
    const PARTS: [&str; 5] = ["address", "city", "countryCode", "postcode", "street"];
    by_name(name).is_some_and(|field| PARTS.iter().any(|part| field["part"] == *part))
}

/// Returns whether a column might contain either a state in an address or a status.
pub fn is_state(name: &str) -> bool {
    snake_case(name) == "state"
}

/// Returns whether columns with this name usually identify rows.
pub fn is_id(name: &str) -> bool {
    let name = snake_case(name);
    name == "id" || name.ends_with("_id")
}

/// Returns the coordinate type that a column name suggests, and its largest value.
pub fn coordinate(name: &str) -> Option<(&'static str, f64)> {
    match snake_case(name).as_str() {
        "lat" | "latitude" | "breitengrad" => Some(("latitude", 90.0)),
        "lon" | "lng" | "long" | "longitude" | "längengrad" => Some(("longitude", 180.0)),
        _ => None,
    }
}

/// Converts a name to snake case.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut before = None;
    for letter in name.chars() {
        if letter.is_uppercase() && before.is_some_and(char::is_lowercase) {
            snake.push('_');
        }
        before = Some(letter);
        match letter.is_alphanumeric() {
            true => snake.extend(letter.to_lowercase()),
            false => snake.push('_'),
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_in_every_spelling() {
        for name in ["first_name", "firstName", "FirstName", "FIRST_NAME", "first-name"] {
            assert_eq!(by_name(name).unwrap()["part"], "givenName", "{name}");
        }
        for (name, part) in [
            ("Vorname", "givenName"),
            ("Nachname", "surname"),
            ("Telefonnummer", "phone"),
            ("Ort", "city"),
            ("Straße", "street"),
            ("Prénom", "givenName"),
            ("Code postal", "postcode"),
            ("Apellidos", "surname"),
        ] {
            assert_eq!(by_name(name).unwrap()["part"], part, "{name}");
        }
        assert_eq!(by_name("User Agent").unwrap()["type"], "userAgent");
        assert_eq!(by_name("frobnication"), None);
    }

    #[test]
    fn prefixes_are_ignored_if_the_rest_keeps_its_meaning() {
        for (name, part) in [
            ("user_email", "email"),
            ("customerEmail", "email"),
            ("billing_postal_code", "postcode"),
            ("contact_phone_number", "phone"),
        ] {
            assert_eq!(by_name(name).unwrap()["part"], part, "{name}");
        }
        for (name, kind) in
            [("user_url", "url"), ("remote_ip", "ip"), ("last_user_agent", "userAgent")]
        {
            assert_eq!(by_name(name).unwrap()["type"], kind, "{name}");
        }
        for name in ["table_name", "order_state", "has_email", "job_title", "ship", "zip_url_count"]
        {
            assert_eq!(by_name(name), None, "{name}");
        }
    }
}
