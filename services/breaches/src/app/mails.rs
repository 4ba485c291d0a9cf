//! The text of our emails.

use domain::DomainName;

use super::letter::Letter;
use crate::external::Mail;
use crate::model::notice::{DomainReport, FoundPaste};
use crate::model::verification::EmailAlias;
use crate::model::{Breach, instant, markup};

/// Closing paragraph of every email that was requested on a web page.
const NOT_YOU: &str =
    "If you did not request this, ignore this email. Nothing happens unless you open the link.";

/// Returns the email with a domain approval link.
pub fn domain_approval(owner: &str, domain: &DomainName, alias: EmailAlias, link: &str) -> Mail {
    Mail::plain(
        format!("{}@{domain}", alias.as_str()),
        format!("Approve searches of {domain}"),
        format!(
            "{owner} wants to see which addresses at {domain} appear in data breaches.\n\n\
             If {owner} may see that, open this link and confirm. It can be used once and \
             expires in 24 hours:\n\n{link}\n\n\
             If you do not know {owner}, ignore this email.\n"
        ),
    )
}

/// Returns the email with a sign-in link.
pub fn sign_in(address: &str, link: &str) -> Mail {
    Mail::plain(
        address.to_owned(),
        "Sign in".to_owned(),
        format!(
            "Open this link to sign in. It can be used once and expires in 15 minutes:\n\n\
             {link}\n\n{NOT_YOU}\n"
        ),
    )
}

/// Returns the email with a link to confirm notices.
pub fn confirm_notices(address: &str, link: &str) -> Mail {
    Mail::plain(
        address.to_owned(),
        "Confirm notices of data breaches".to_owned(),
        format!(
            "Open this link and confirm, and you will get an email when {address} appears in a new \
             data breach. The link can be used once and expires in 24 hours:\n\n{link}\n\n\
             {NOT_YOU}\n"
        ),
    )
}

/// Returns the email with a link to the opt-out choices.
pub fn opt_out(address: &str, link: &str) -> Mail {
    Mail::plain(
        address.to_owned(),
        "Hide or delete your address".to_owned(),
        format!(
            "Open this link to choose whether {address} is hidden from searches or deleted. \
             The link can be used once and expires in 24 hours:\n\n{link}\n\n{NOT_YOU}\n"
        ),
    )
}

/// Advice for owners of a breached account.
const ADVICE: &str = "Change the password of this account and of every account that uses the same one. \
     Turn on two-factor authentication where it is available.";

/// Returns the notice about a breach that contains the recipient's address.
pub fn new_breach(address: &str, breach: &Breach, url: &str, unsubscribe: String) -> Letter {
    let Breach { title, name, breach_date, pwn_count, data_classes, .. } = breach;
    let description = markup::text(&breach.description);
    let mut paragraphs = vec![description, ADVICE.to_owned()];
    paragraphs.retain(|text| !text.trim().is_empty());
    let mut links = vec![("The breach", format!("{url}/breaches/{name}"))];
    add_websites(breach, format!("{url}/account/stealer-logs"), &mut paragraphs, &mut links);
    Letter {
        subject: format!("Your address is in {}", named(title)),
        lead: format!("{address} is in {}.", named(title)),
        facts: facts([
            ("Date", breach_date.to_string()),
            ("Accounts", pwn_count.to_string()),
            ("Exposed", data_classes.join(", ")),
        ]),
        paragraphs,
        links,
        topic: OWN_TOPIC.to_owned(),
        unsubscribe,
    }
}

/// Returns a breach's name for use in a sentence. A title such as `The Copper Kettle` already has
/// an article.
fn named(title: &str) -> String {
    let first = title.split_whitespace().next().unwrap_or_default();
    match ["the", "a", "an"].iter().any(|article| first.eq_ignore_ascii_case(article)) {
        true => format!("{title} breach"),
        false => format!("the {title} breach"),
    }
}

/// Topic of unsubscribe links in notices about the recipient's own address.
const OWN_TOPIC: &str = "notices about your address";

fn facts<const N: usize>(facts: [(&str, String); N]) -> Vec<(String, String)> {
    facts.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Explains stealer logs and links to the captured websites. Does nothing for other breaches.
fn add_websites(
    breach: &Breach,
    page: String,
    paragraphs: &mut Vec<String>,
    links: &mut Vec<(&'static str, String)>,
) {
    if breach.flags.stealer_log {
        paragraphs.push("Malware on a computer recorded these during a sign-in.".to_owned());
        links.push(("See the websites", page));
    }
}

/// Returns the notice about a paste that contains the recipient's address.
pub fn new_paste(address: &str, source: &str, id: &str, url: &str, unsubscribe: String) -> Letter {
    Letter {
        subject: "Your address is in a paste".to_owned(),
        lead: format!("{address} was found in a paste: {source} {id}."),
        facts: Vec::new(),
        paragraphs: Vec::new(),
        links: vec![("See all of your breaches and pastes", format!("{url}/account"))],
        topic: OWN_TOPIC.to_owned(),
        unsubscribe,
    }
}

/// Returns the notice about a breach that contains addresses at a domain. The addresses themselves
/// aren't included.
pub fn domain_breach(
    domain: &str,
    breach: &Breach,
    new: i64,
    url: &str,
    unsubscribe: String,
) -> Letter {
    let Breach { title, breach_date, data_classes, .. } = breach;
    let (were, page) = (
        if new == 1 { "address at {} was" } else { "addresses at {} were" }.replace("{}", domain),
        format!("{url}/account/domains/{domain}"),
    );
    let (mut paragraphs, mut links) = (Vec::new(), vec![("See which", page.clone())]);
    add_websites(breach, page, &mut paragraphs, &mut links);
    Letter {
        subject: format!("{domain} is in {}", named(title)),
        lead: format!("{new} {were} found in {}.", named(title)),
        facts: facts([("Date", breach_date.to_string()), ("Exposed", data_classes.join(", "))]),
        paragraphs,
        links,
        topic: domain_topic(domain),
        unsubscribe,
    }
}

fn domain_topic(domain: &str) -> String {
    format!("emails about {domain}")
}

/// Returns the notice about pastes that contain addresses at a domain. The addresses themselves
/// aren't included.
pub fn domain_pastes(
    domain: &str,
    count: i64,
    last: &[FoundPaste],
    url: &str,
    unsubscribe: String,
) -> Letter {
    let line = |found: &FoundPaste| {
        (format!("{} {}", found.source, found.id), found.addresses.to_string())
    };
    let is_all = usize::try_from(count).is_ok_and(|count| count == last.len());
    let more = if is_all { Vec::new() } else { vec!["There are more pastes.".to_owned()] };
    Letter {
        subject: format!("Addresses at {domain} are in pastes"),
        lead: format!(
            "New addresses at {domain} were found in pastes. Pastes: {count}; with the number of \
             addresses:"
        ),
        facts: last.iter().map(line).collect(),
        paragraphs: more,
        links: vec![("Your domains", format!("{url}/account/domains"))],
        topic: domain_topic(domain),
        unsubscribe,
    }
}

/// Returns the monthly email with a domain's counts. The addresses themselves aren't included.
pub fn domain_report(
    report: &DomainReport,
    listed: &[(Breach, i64)],
    url: &str,
    unsubscribe: String,
) -> Letter {
    let DomainReport { domain, since, until, exposed, first, repeated, limited, count, breaches } =
        report;
    let (begin, end) = (instant::month(*since), instant::month(*until - 1));
    let months = if begin == end { begin } else { format!("{begin} to {end}") };
    let line = |(breach, addresses): &(Breach, i64)| (breach.title.clone(), addresses.to_string());
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut paragraphs = Vec::new();
    // Totals may include breaches that have since been hidden or retired, so the totals are left
    // out if any breach is missing.
    let lead = if *exposed == 0 {
        format!("No address at {domain} is in a breach added in {months}.")
    } else if listed.len() < breaches.len() {
        format!("Addresses at {domain} are in breaches added in {months}:")
    } else {
        rows.push(("Addresses".to_owned(), exposed.to_string()));
        rows.push(("For the first time".to_owned(), first.to_string()));
        rows.push(("In several breaches".to_owned(), repeated.to_string()));
        format!(
            "Addresses at {domain} are in breaches added in {months}. Breaches: {count}; with the \
             number of addresses:"
        )
    };
    rows.extend(listed.iter().map(line));
    if *count > breaches.len() {
        paragraphs.push("There are more breaches.".to_owned());
    }
    if *limited {
        let text = "The domain is larger than your plan covers. Only breaches that do not require \
                    a subscription are counted.";
        paragraphs.push(text.to_owned());
    }
    let page = format!("{url}/account/domains/{domain}/report?since={}", instant::date(*since));
    Letter {
        subject: format!("{domain}: new exposures in {months}"),
        lead,
        facts: rows,
        paragraphs,
        links: vec![("See which", page)],
        topic: format!("monthly emails about {domain}"),
        unsubscribe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_with_an_article_gets_no_second_one() {
        for (title, expected) in [
            ("Adobe", "the Adobe breach"),
            ("The Copper Kettle", "The Copper Kettle breach"),
            ("a small world", "a small world breach"),
            ("Theatre", "the Theatre breach"),
        ] {
            assert_eq!(named(title), expected);
        }
    }
}
