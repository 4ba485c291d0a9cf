//! The texts of mails.

use domain::DomainName;

use crate::external::Mail;
use crate::model::notice::FoundPaste;
use crate::model::verification::EmailAlias;
use crate::model::{Breach, markup};

/// The end of every requested mail.
const NOT_YOU: &str =
    "If you did not request this, ignore this mail. Nothing happens unless you open the link.";

/// The mail that proves control of a domain.
pub fn domain_approval(owner: &str, domain: &DomainName, alias: EmailAlias, link: &str) -> Mail {
    Mail {
        to: format!("{}@{domain}", alias.as_str()),
        subject: format!("Approve searches of {domain}"),
        text: format!(
            "{owner} wants to see which addresses at {domain} appear in data breaches.\n\n\
             If {owner} may see that, open this link and confirm. It works once and for 24 hours:\n\n\
             {link}\n\n\
             If you do not know {owner}, ignore this mail.\n"
        ),
    }
}

/// The sign-in link.
pub fn sign_in(address: &str, link: &str) -> Mail {
    Mail {
        to: address.to_owned(),
        subject: "Sign in".to_owned(),
        text: format!(
            "Open this link to sign in. It works once and for 15 minutes:\n\n{link}\n\n{NOT_YOU}\n"
        ),
    }
}

/// The confirmation of notices.
pub fn confirm_notices(address: &str, link: &str) -> Mail {
    Mail {
        to: address.to_owned(),
        subject: "Confirm notices of data breaches".to_owned(),
        text: format!(
            "Open this link and confirm, and you will get a mail when {address} appears in a new \
             data breach. The link works once and for 24 hours:\n\n{link}\n\n{NOT_YOU}\n"
        ),
    }
}

/// The link to the opt-out choices.
pub fn opt_out(address: &str, link: &str) -> Mail {
    Mail {
        to: address.to_owned(),
        subject: "Hide or delete your address".to_owned(),
        text: format!(
            "Open this link to choose whether {address} is hidden from searches or deleted. It \
             works once and for 24 hours:\n\n{link}\n\n{NOT_YOU}\n"
        ),
    }
}

/// Advice after a breach.
const ADVICE: &str = "Change the password of this account and of every account that uses the same one. \
     Turn on two-factor authentication where it is available.";

/// The notice that a breach contains the recipient's address.
pub fn new_breach(address: &str, breach: &Breach, url: &str, unsubscribe: &str) -> Mail {
    let Breach { title, name, breach_date, pwn_count, data_classes, .. } = breach;
    let classes = data_classes.join(", ");
    let description = markup::text(&breach.description);
    Mail {
        to: address.to_owned(),
        subject: format!("Your address is in the breach of {title}"),
        text: format!(
            "{address} is in the breach of {title}.\n\n\
             Date: {breach_date}\nAccounts: {pwn_count}\nExposed: {classes}\n\n\
             {description}\n\n{}{ADVICE}\n\n{url}/breaches/{name}\n\n\
             Unsubscribe: {unsubscribe}\n",
            stolen(breach, &format!("{url}/account/stealer-logs"))
        ),
    }
}

/// Explains a stealer log and links to its websites; empty for other breaches.
fn stolen(breach: &Breach, page: &str) -> String {
    if !breach.flags.stealer_log {
        return String::new();
    }
    format!(
        "Malware on a computer recorded these during a sign-in. See the websites: \
         {page}\n\n"
    )
}

/// The notice that a paste contains the recipient's address.
pub fn new_paste(address: &str, source: &str, id: &str, url: &str, unsubscribe: &str) -> Mail {
    Mail {
        to: address.to_owned(),
        subject: "Your address is in a paste".to_owned(),
        text: format!(
            "{address} was found in a public text: {source} {id}.\n\n{url}/account\n\n\
             Unsubscribe: {unsubscribe}\n"
        ),
    }
}

/// A breach contains addresses of a domain, which the mail does not name.
pub fn domain_breach(to: &str, domain: &str, breach: &Breach, new: i64, url: &str) -> Mail {
    let Breach { title, breach_date, data_classes, .. } = breach;
    let (classes, plural) =
        (data_classes.join(", "), if new == 1 { "address" } else { "addresses" });
    Mail {
        to: to.to_owned(),
        subject: format!("{domain} is in the breach of {title}"),
        text: format!(
            "{new} {plural} at {domain} were found in the breach of {title}.\n\n\
             Date: {breach_date}\nExposed: {classes}\n\n\
             {}See which: {url}/account/domains/{domain}\n\n\
             Remove the domain there to end these notices.\n",
            stolen(breach, &format!("{url}/account/domains/{domain}"))
        ),
    }
}

/// Pastes contain addresses of a domain, which the mail does not name.
pub fn domain_pastes(to: &str, domain: &str, count: i64, last: &[FoundPaste], url: &str) -> Mail {
    let line =
        |FoundPaste { source, id, addresses }: &FoundPaste| format!("{source} {id}: {addresses}\n");
    let lines: String = last.iter().map(line).collect();
    let is_all = usize::try_from(count).is_ok_and(|count| count == last.len());
    let more = if is_all { "" } else { "and others\n" };
    Mail {
        to: to.to_owned(),
        subject: format!("Addresses at {domain} are in pastes"),
        text: format!(
            "New addresses at {domain} were found in public texts. Texts: {count}; with their \
             addresses:\n\n{lines}{more}\n\
             Remove the domain to end these notices: {url}/account/domains\n"
        ),
    }
}
