//! Reads catalogue entries in the published format.

use domain::DomainName;
use serde_json::{Map, Value};

use super::breach::{Breach, Flags};
use super::{instant, markup};

/// Why an entry was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Not a JSON object.
    #[error("the entry is not a JSON object")]
    NoObject,
    /// A member is missing or has the wrong type.
    #[error("{0} is missing or has the wrong type")]
    Member(&'static str),
    /// Invalid character in the name.
    #[error("Name must be 1 to 64 letters, digits or hyphens, and start with a letter or digit")]
    Name,
    /// Malformed date.
    #[error("{0} is not a valid date")]
    Date(&'static str),
    /// Modified before it was added.
    #[error("ModifiedDate is earlier than AddedDate")]
    Order,
    /// Active content in the description.
    #[error(
        "Description contains more than plain markup: a script, a frame, a form, a style, an event handler \
         or a link that is neither http, https nor mailto"
    )]
    ActiveContent,
    /// A link isn't an absolute URL.
    #[error("{0} is not an absolute http or https URL")]
    Link(&'static str),
    /// Control characters in a string. These would break feeds, emails and terminals.
    #[error("{0} contains control characters, such as \\u0000")]
    Control(&'static str),
    /// Invalid character in the domain.
    #[error("Domain contains characters other than letters, digits, hyphens and dots")]
    Domain,
    /// The domain or one of its labels is too long.
    #[error("Domain is longer than 253 characters, or one of its labels is longer than 63")]
    DomainLength,
    /// A data class without a name.
    #[error("DataClasses contains an empty name")]
    EmptyClass,
}

const KNOWN: [&str; 20] = [
    "Name",
    "Title",
    "Domain",
    "BreachDate",
    "AddedDate",
    "ModifiedDate",
    "PwnCount",
    "Description",
    "LogoPath",
    "Attribution",
    "DisclosureUrl",
    "DataClasses",
    "IsVerified",
    "IsFabricated",
    "IsSensitive",
    "IsRetired",
    "IsSpamList",
    "IsMalware",
    "IsSubscriptionFree",
    "IsStealerLog",
];

/// Reads an entry as an active breach with id 0.
///
/// # Errors
/// See [`EntryError`].
pub fn read(value: &Value) -> Result<Breach, EntryError> {
    let object = value.as_object().ok_or(EntryError::NoObject)?;
    let name = text(object, "Name")?;
    if !is_name(name) {
        return Err(EntryError::Name);
    }
    let breach_date = text(object, "BreachDate")?;
    if !instant::is_date(breach_date) {
        return Err(EntryError::Date("BreachDate"));
    }
    let added = minute(object, "AddedDate")?;
    let modified = match object.get("ModifiedDate") {
        None | Some(Value::Null) => added,
        Some(_) => minute(object, "ModifiedDate")?,
    };
    if modified < added {
        return Err(EntryError::Order);
    }
    let breach = Breach {
        id: 0,
        name: name.to_owned(),
        title: text(object, "Title")?.to_owned(),
        domain: a_labels(&optional(object, "Domain")?.unwrap_or_default()),
        breach_date: breach_date.to_owned(),
        added,
        modified,
        pwn_count: count(object)?,
        loaded_count: 0,
        description: optional(object, "Description")?.unwrap_or_default(),
        logo_path: optional(object, "LogoPath")?.unwrap_or_default(),
        attribution: optional(object, "Attribution")?,
        disclosure_url: optional(object, "DisclosureUrl")?,
        data_classes: classes(object)?,
        flags: flags(object)?,
        active: true,
    };
    check_texts(&breach)?;
    Ok(breach)
}

/// Copies values from an existing breach for members that are missing or null in its new entry.
/// `Attribution` and `DisclosureUrl` aren't copied: if one is missing, the breach has none.
pub fn keep_missing(value: &Value, old: &Breach, new: &mut Breach) {
    let is_missing = |member: &str| value.get(member).is_none_or(Value::is_null);
    for (member, old, new) in [
        ("Domain", &old.domain, &mut new.domain),
        ("Description", &old.description, &mut new.description),
        ("LogoPath", &old.logo_path, &mut new.logo_path),
    ] {
        if is_missing(member) {
            new.clone_from(old);
        }
    }
    if is_missing("DataClasses") {
        new.data_classes.clone_from(&old.data_classes);
    }
    if is_missing("PwnCount") {
        new.pwn_count = old.pwn_count;
    }
    let (old, new) = (old.flags, &mut new.flags);
    for (member, old, new) in [
        ("IsVerified", old.verified, &mut new.verified),
        ("IsFabricated", old.fabricated, &mut new.fabricated),
        ("IsSensitive", old.sensitive, &mut new.sensitive),
        ("IsRetired", old.retired, &mut new.retired),
        ("IsSpamList", old.spam_list, &mut new.spam_list),
        ("IsMalware", old.malware, &mut new.malware),
        ("IsSubscriptionFree", old.subscription_free, &mut new.subscription_free),
        ("IsStealerLog", old.stealer_log, &mut new.stealer_log),
    ] {
        if is_missing(member) {
            *new = old;
        }
    }
}

/// Checks the strings that end up in pages, feeds and emails.
///
/// # Errors
/// See [`EntryError`].
pub fn check_texts(breach: &Breach) -> Result<(), EntryError> {
    let lines = breach.description.replace(['\n', '\r', '\t'], "");
    let classes = breach.data_classes.concat();
    for (name, text) in [
        ("Title", breach.title.as_str()),
        ("Description", &lines),
        ("Attribution", breach.attribution.as_deref().unwrap_or_default()),
        ("DataClasses", &classes),
    ] {
        if text.contains(is_unprintable) {
            return Err(EntryError::Control(name));
        }
    }
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !breach.domain.chars().all(fits) {
        return Err(EntryError::Domain);
    }
    if breach.domain.len() > MAX_DOMAIN || breach.domain.split('.').any(|label| label.len() > 63) {
        return Err(EntryError::DomainLength);
    }
    if breach.data_classes.iter().any(|class| class.trim().is_empty()) {
        return Err(EntryError::EmptyClass);
    }
    if !markup::is_allowed(&breach.description) {
        return Err(EntryError::ActiveContent);
    }
    let disclosure_url = breach.disclosure_url.as_deref().unwrap_or_default();
    for (name, url) in [("LogoPath", breach.logo_path.as_str()), ("DisclosureUrl", disclosure_url)]
    {
        if !url.is_empty() && !is_absolute(url) {
            return Err(EntryError::Link(name));
        }
    }
    Ok(())
}

/// Returns `true` for characters that don't belong in a single line of text: control characters,
/// bidi overrides, line separators and noncharacters that XML forbids.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// Lists members of an entry that this version doesn't know.
pub fn unknown_members(value: &Value) -> Vec<&str> {
    let members = value.as_object().into_iter().flat_map(Map::keys);
    members.map(String::as_str).filter(|key| !KNOWN.contains(key)).collect()
}

/// Returns `true` for a valid breach name.
pub fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns `true` for an absolute `http` or `https` URL.
pub fn is_absolute(url: &str) -> bool {
    ["https://", "http://"]
        .iter()
        .any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
        && !url.contains(|c: char| c.is_whitespace() || is_unprintable(c) || "<>\"".contains(c))
}

/// Maximum length of a domain, in its ASCII form.
const MAX_DOMAIN: usize = 253;

/// Converts a domain to lowercase and to the ASCII form that searches compare. A domain that isn't
/// a valid host name is only converted to lowercase.
pub fn a_labels(domain: &str) -> String {
    let domain = domain.trim().to_lowercase();
    match domain.is_ascii() {
        true => domain,
        false => DomainName::parse(&domain).map_or(domain, |name| name.as_str().to_owned()),
    }
}

fn text<'a>(object: &'a Map<String, Value>, key: &'static str) -> Result<&'a str, EntryError> {
    let text = object.get(key).and_then(Value::as_str).ok_or(EntryError::Member(key))?;
    expect_storable(key, text)?;
    if text.trim().is_empty() { Err(EntryError::Member(key)) } else { Ok(text) }
}

/// Fails for NUL, which PostgreSQL can't store.
fn expect_storable(key: &'static str, text: &str) -> Result<(), EntryError> {
    if text.contains('\0') { Err(EntryError::Control(key)) } else { Ok(()) }
}

fn optional(object: &Map<String, Value>, key: &'static str) -> Result<Option<String>, EntryError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            expect_storable(key, text)?;
            Ok(Some(text.clone()))
        }
        Some(_) => Err(EntryError::Member(key)),
    }
}

fn minute(object: &Map<String, Value>, key: &'static str) -> Result<i64, EntryError> {
    let seconds = instant::parse(text(object, key)?).ok_or(EntryError::Date(key))?;
    Ok(instant::whole_minute(seconds))
}

fn count(object: &Map<String, Value>) -> Result<i64, EntryError> {
    match object.get("PwnCount") {
        None | Some(Value::Null) => Ok(0),
        Some(value) => {
            value.as_i64().filter(|count| *count >= 0).ok_or(EntryError::Member("PwnCount"))
        }
    }
}

fn classes(object: &Map<String, Value>) -> Result<Vec<String>, EntryError> {
    let values = match object.get("DataClasses") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(value) => value.as_array().ok_or(EntryError::Member("DataClasses"))?,
    };
    let mut classes = Vec::with_capacity(values.len());
    for value in values {
        let class = value.as_str().ok_or(EntryError::Member("DataClasses"))?;
        expect_storable("DataClasses", class)?;
        classes.push(class.to_owned());
    }
    classes.sort_by_cached_key(|class| (class.to_lowercase(), class.clone()));
    classes.dedup();
    Ok(classes)
}

fn flags(object: &Map<String, Value>) -> Result<Flags, EntryError> {
    let flag = |key: &'static str| match object.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(value) => value.as_bool().ok_or(EntryError::Member(key)),
    };
    Ok(Flags {
        verified: flag("IsVerified")?,
        fabricated: flag("IsFabricated")?,
        sensitive: flag("IsSensitive")?,
        retired: flag("IsRetired")?,
        spam_list: flag("IsSpamList")?,
        malware: flag("IsMalware")?,
        subscription_free: flag("IsSubscriptionFree")?,
        stealer_log: flag("IsStealerLog")?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({
            "Name": "db8151dd", "Title": "Sample", "Domain": "Sample.example",
            "BreachDate": "2020-02-20", "AddedDate": "2020-05-15T00:00:42Z",
            "ModifiedDate": "2020-05-15T01:02Z", "PwnCount": 22_802_117,
            "Description": "<a href=\"https://a.example/online\">one</a>",
            "LogoPath": "https://logos.example/a.png",
            "DataClasses": ["Phone numbers", "email addresses"], "IsVerified": true
        })
    }

    #[test]
    fn published_entry_is_read_and_normalised() {
        let breach = read(&sample()).unwrap();
        assert_eq!(breach.domain, "sample.example");
        assert_eq!(breach.data_classes, ["email addresses", "Phone numbers"]);
        assert_eq!(instant::with_zone(breach.added), "2020-05-15T00:00:00Z");
        assert!(breach.flags.verified && !breach.flags.stealer_log);
        assert_eq!(breach.attribution, None);
    }

    #[test]
    fn domain_is_converted_to_the_form_that_searches_compare() {
        for (domain, expected) in [
            ("M\u{fc}nchen.DE", "xn--mnchen-3ya.de"),
            (" Sample.example ", "sample.example"),
            ("_odd.example", "_odd.example"),
            ("", ""),
        ] {
            let mut entry = sample();
            entry["Domain"] = json!(domain);
            assert_eq!(read(&entry).unwrap().domain, expected);
        }
    }

    #[test]
    fn invalid_member_is_rejected_with_its_error() {
        let cases = [
            ("Name", json!("a b"), EntryError::Name),
            ("Name", json!("-a"), EntryError::Name),
            ("Title", json!(" "), EntryError::Member("Title")),
            ("Title", json!("a\0b"), EntryError::Control("Title")),
            ("Description", json!("a\0b"), EntryError::Control("Description")),
            ("DataClasses", json!(["a\0b"]), EntryError::Control("DataClasses")),
            ("BreachDate", json!("2020-2-20"), EntryError::Date("BreachDate")),
            ("AddedDate", json!("2020-05-15"), EntryError::Date("AddedDate")),
            ("ModifiedDate", json!("2020-05-14T00:00Z"), EntryError::Order),
            ("PwnCount", json!(-1), EntryError::Member("PwnCount")),
            ("LogoPath", json!("a.png"), EntryError::Link("LogoPath")),
            ("LogoPath", json!("https://a.example/\u{7}"), EntryError::Link("LogoPath")),
            ("DisclosureUrl", json!("javascript:a()"), EntryError::Link("DisclosureUrl")),
            ("DisclosureUrl", json!("https://a.example/\">"), EntryError::Link("DisclosureUrl")),
            ("Title", json!("a\u{b}b"), EntryError::Control("Title")),
            ("Title", json!("a\r\nBcc: b@c.example"), EntryError::Control("Title")),
            ("Title", json!("a\u{202e}b"), EntryError::Control("Title")),
            ("Description", json!("a\u{1b}[2J"), EntryError::Control("Description")),
            ("Attribution", json!("a\nb"), EntryError::Control("Attribution")),
            ("DataClasses", json!(["a\u{1}"]), EntryError::Control("DataClasses")),
            ("Domain", json!("<b>a.example</b>"), EntryError::Domain),
            ("Domain", json!("a.example/\n"), EntryError::Domain),
            ("Domain", json!(vec!["a.example"; 31].join(".")), EntryError::DomainLength),
            ("Domain", json!(format!("{}.example", "a".repeat(64))), EntryError::DomainLength),
            ("DataClasses", json!([""]), EntryError::EmptyClass),
            ("DataClasses", json!(["Names", " "]), EntryError::EmptyClass),
            ("IsVerified", json!("yes"), EntryError::Member("IsVerified")),
            ("DataClasses", json!([1]), EntryError::Member("DataClasses")),
            ("Description", json!("<ScRipt>"), EntryError::ActiveContent),
            ("Description", json!("<img src=x onerror = 'a()'>"), EntryError::ActiveContent),
            ("Description", json!("<svg/onload=a()>"), EntryError::ActiveContent),
            ("Description", json!("<a href=\"java\nscript:a()\">"), EntryError::ActiveContent),
        ];
        for (key, value, error) in cases {
            let mut entry = sample();
            entry[key] = value;
            assert_eq!(read(&entry), Err(error), "{key}");
        }
        assert_eq!(read(&json!([])), Err(EntryError::NoObject));
    }

    #[test]
    fn missing_members_keep_what_the_breach_has() {
        let mut old = read(&sample()).unwrap();
        old.flags.sensitive = true;
        old.attribution = Some("A".to_owned());
        let short = json!({
            "Name": "db8151dd", "Title": "New", "BreachDate": "2020-02-20",
            "AddedDate": "2020-05-15T00:00Z", "ModifiedDate": "2020-05-15T01:02Z",
            "PwnCount": null, "IsSensitive": null, "IsMalware": true
        });
        let mut new = read(&short).unwrap();
        keep_missing(&short, &old, &mut new);
        let mut flags = old.flags;
        flags.malware = true;
        let expected = Breach { title: "New".to_owned(), attribution: None, flags, ..old };
        assert_eq!(new, expected);
    }

    #[test]
    fn null_means_that_an_optional_member_is_missing() {
        let mut short = json!({
            "Name": "db8151dd", "Title": "Sample", "BreachDate": "2020-02-20",
            "AddedDate": "2020-05-15T00:00Z"
        });
        let expected = read(&short).unwrap();
        let object = short.as_object_mut().unwrap();
        for key in KNOWN {
            object.entry(key).or_insert(Value::Null);
        }
        assert_eq!(read(&short), Ok(expected));
    }

    #[test]
    fn unknown_members_are_listed() {
        let mut entry = sample();
        entry["IsNew"] = json!(true);
        assert_eq!(unknown_members(&entry), ["IsNew"]);
        assert_eq!(unknown_members(&sample()), Vec::<&str>::new());
    }
}
