//! Ways to prove control of a domain.

use std::collections::HashSet;

use domain::{DomainError, DomainName};

use super::page_head;

/// How a domain was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerificationMethod {
    /// TXT record.
    Dns,
    /// Link in an email to an address that only the domain's owner can read.
    Email,
    /// File on the domain's website.
    File,
    /// Meta tag on the domain's home page.
    MetaTag,
    /// Granted by the operator.
    Operator,
    /// Inherited from a verified parent, on a plan that includes subdomains.
    Parent,
}

impl VerificationMethod {
    /// Methods used through the API and web pages, i.e. all but the operator's.
    pub const ATTEMPTED: [Self; 5] =
        [Self::Dns, Self::Email, Self::File, Self::MetaTag, Self::Parent];

    /// Returns the name used in the database and metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Email => "email",
            Self::File => "file",
            Self::MetaTag => "meta",
            Self::Operator => "operator",
            Self::Parent => "parent",
        }
    }
}

/// Local part of an address that only the domain's owner can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailAlias(&'static str);

impl EmailAlias {
    /// Every allowed alias.
    pub const ALL: [Self; 5] =
        [Self("admin"), Self("hostmaster"), Self("info"), Self("security"), Self("webmaster")];

    /// Parses an alias, ignoring case. Returns `None` if it isn't one of the five.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|alias| alias.0.eq_ignore_ascii_case(text.trim()))
    }

    /// Returns the local part.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Outcome of a search for a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Found the proof.
    Proof,
    /// Found nothing.
    Absent,
    /// Found a proof, but with the wrong value.
    Other,
}

impl Evidence {
    fn of(values: impl Iterator<Item = bool>) -> Self {
        values.fold(Self::Absent, |found, fits| match (found, fits) {
            (Self::Proof, _) | (_, true) => Self::Proof,
            _ => Self::Other,
        })
    }
}

/// The proof that a domain's owner publishes. It consists of the operator's prefix and a code that
/// is unique to the subscriber and domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The `VERIFY_PREFIX` setting.
    pub prefix: String,
    /// 24 random characters from `[a-z0-9]`.
    pub code: String,
}

impl Proof {
    /// Returns the content of the TXT record.
    pub fn txt_record(&self) -> String {
        format!("{}-verify=dweb_{}", self.prefix, self.code)
    }

    /// Returns the path of the file.
    pub fn file_path(&self) -> String {
        format!("/{}-verification.txt", self.prefix)
    }

    /// Returns the content of the file.
    pub fn file_content(&self) -> String {
        format!("{}-verify={}", self.prefix, self.code)
    }

    /// Returns the meta tag for the `head` of the home page.
    pub fn meta_tag(&self) -> String {
        format!("<meta name=\"{}-verification\" content=\"{}\">", self.prefix, self.code)
    }

    /// Looks for the proof in TXT records, ignoring quotes and whitespace around each one. The
    /// strings of a record must already have been joined.
    pub fn in_txt(&self, records: &[String]) -> Evidence {
        let (name, expected) = (format!("{}-verify=", self.prefix), self.txt_record());
        let bare = records.iter().map(|record| record.trim().trim_matches('"').trim());
        Evidence::of(
            bare.filter(|record| record.starts_with(&name)).map(|record| record == expected),
        )
    }

    /// Looks for the proof in a file, which may begin with a byte order mark.
    pub fn in_file(&self, content: &[u8]) -> Evidence {
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        match content.trim_ascii() {
            [] => Evidence::Absent,
            found if found == self.file_content().as_bytes() => Evidence::Proof,
            _ => Evidence::Other,
        }
    }

    /// Looks for the proof in the head of a page. The body doesn't count because visitors may have
    /// written it.
    pub fn in_page(&self, html: &[u8]) -> Evidence {
        let html = String::from_utf8_lossy(html);
        let name = format!("{}-verification", self.prefix);
        let contents = page_head::meta_contents(&html, &name).into_iter();
        Evidence::of(contents.map(|content| content.trim() == self.code))
    }
}

/// Domains that can't be verified: free email providers and public suffixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenyList(HashSet<String>);

impl DenyList {
    /// Parses a list with one domain per line and `#` comments.
    ///
    /// # Errors
    /// Names the first line that isn't a domain, such as a wildcard, because it would never match.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut names = HashSet::new();
        for (index, line) in text.lines().enumerate() {
            let entry = line.split('#').next().unwrap_or_default().trim();
            match DomainName::parse(entry) {
                Ok(name) => {
                    names.insert(name.to_string());
                }
                // A single label can't be verified anyway.
                Err(DomainError::Empty | DomainError::SingleLabel) => {}
                Err(error) => {
                    let line = index + 1;
                    return Err(format!(
                        "line {line}, {entry}: {error}; wildcards are not allowed"
                    ));
                }
            }
        }
        Ok(Self(names))
    }

    /// Returns the built-in list.
    ///
    /// # Errors
    /// See [`Self::parse`].
    pub fn built_in() -> Result<Self, String> {
        Self::parse(include_str!("../../data/verify_deny.txt"))
    }

    /// Returns `true` if the domain is on the list.
    pub fn has(&self, domain: &DomainName) -> bool {
        self.0.contains(domain.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "k3vabcdefghijklmnopqrst0";

    fn proof() -> Proof {
        Proof { prefix: "breach".into(), code: CODE.into() }
    }

    #[test]
    fn quotes_and_blanks_around_txt_records_are_ignored() {
        let judge = |records: &[&str]| {
            proof().in_txt(&records.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let right = format!("breach-verify=dweb_{CODE}");
        assert_eq!(proof().txt_record(), right);
        for (records, expected) in [
            (&[][..], Evidence::Absent),
            (&["v=spf1 -all", "other-verify=dweb_1"], Evidence::Absent),
            (&["breach-verify=dweb_old"], Evidence::Other),
            (&[&right.replace("dweb_", "")], Evidence::Other),
            (&[&right.to_uppercase()], Evidence::Absent),
            (&[&right], Evidence::Proof),
            (&["breach-verify=dweb_old", &right, "x"], Evidence::Proof),
            (&[&format!(" \" {right} \" ")], Evidence::Proof),
            (&[&format!("{right}x")], Evidence::Other),
        ] {
            assert_eq!(judge(records), expected, "{records:?}");
        }
    }

    #[test]
    fn file_with_more_than_the_proof_is_rejected() {
        let right = format!("breach-verify={CODE}");
        for (content, expected) in [
            (String::new(), Evidence::Absent),
            (right.clone(), Evidence::Proof),
            (format!("\n {right}\r\n"), Evidence::Proof),
            (format!("\u{feff}{right}\r\n"), Evidence::Proof),
            ("\u{feff}".into(), Evidence::Absent),
            (format!("{right} x"), Evidence::Other),
            ("<html>not found</html>".into(), Evidence::Other),
        ] {
            assert_eq!(proof().in_file(content.as_bytes()), expected, "{content}");
        }
    }

    #[test]
    fn only_tags_in_the_head_prove_control() {
        let tag = proof().meta_tag();
        let unquoted = format!("<META content={CODE} name=Breach-Verification />");
        let single = format!("<meta\n name='breach-verification'\n content=' {CODE} ' />");
        for (html, expected) in [
            (format!("<html><head>{tag}</head>"), Evidence::Proof),
            (format!("<title>a > b</title>{unquoted}"), Evidence::Proof),
            (format!("<head><script>x</script>{single}"), Evidence::Proof),
            (format!("<meta name=\"a>b\" content=\"c\">{tag}"), Evidence::Proof),
            (tag.replace(CODE, "old"), Evidence::Other),
            ("<head><meta name=\"x\" content=\"y\"></head>".into(), Evidence::Absent),
            (format!("<head></head><body>{tag}</body>"), Evidence::Absent),
            (format!("<p>hello</p>{tag}"), Evidence::Absent),
            (format!("<!-- {tag} -->"), Evidence::Absent),
            (format!("<!-- {tag}"), Evidence::Absent),
            (
                format!("<!-- newest entry -->{} <br>", tag.trim_matches(['<', '>'])),
                Evidence::Absent,
            ),
            (format!("<script>'{tag}'</script>"), Evidence::Absent),
            (format!("<title>{tag}</title>"), Evidence::Absent),
            (format!("<meta name=\"x\" content='{tag}'>"), Evidence::Absent),
        ] {
            assert_eq!(proof().in_page(html.as_bytes()), expected, "{html}");
        }
    }

    #[test]
    fn only_the_five_aliases_are_parsed() {
        assert_eq!(EmailAlias::parse(" HostMaster ").map(EmailAlias::as_str), Some("hostmaster"));
        assert_eq!(EmailAlias::parse("postmaster"), None);
        assert_eq!(EmailAlias::parse(""), None);
    }

    #[test]
    fn deny_list_contains_free_mail_and_public_suffixes() {
        let list = DenyList::built_in().unwrap();
        for (name, expected) in
            [("gmail.com", true), ("co.uk", true), ("example.com", false), ("a.co.uk", false)]
        {
            assert_eq!(list.has(&DomainName::parse(name).unwrap()), expected, "{name}");
        }
        let own = DenyList::parse("\u{feff}# ours\nExample.com # x\n\nuk\n").unwrap();
        assert!(own.has(&DomainName::parse("example.com").unwrap()));
        assert!(!own.has(&DomainName::parse("gmail.com").unwrap()));
    }

    #[test]
    fn deny_list_rejects_lines_that_match_nothing() {
        for line in ["*.example.com", "@example.com", "a@example.com", "example.com, example.net"] {
            let error = DenyList::parse(&format!("example.org\n{line}\n")).unwrap_err();
            assert!(error.starts_with(&format!("line 2, {line}: ")), "{error}");
        }
    }
}
