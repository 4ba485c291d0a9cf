//! Renders notices as plain text, and as HTML styled like the web pages.

use askama::Template;

use crate::external::{Mail, NoticeHeaders};

/// The content of a notice. It's unescaped because the HTML template does the escaping.
#[derive(Debug)]
pub struct Letter {
    /// Serves as both the subject line and the heading.
    pub subject: String,
    /// Opening sentences.
    pub lead: String,
    /// Name-value pairs, one per line.
    pub facts: Vec<(String, String)>,
    /// Paragraphs after the facts.
    pub paragraphs: Vec<String>,
    /// Links as (label, URL).
    pub links: Vec<(&'static str, String)>,
    /// The notices that the unsubscribe link turns off.
    pub topic: String,
    /// Unsubscribe URL.
    pub unsubscribe: String,
}

#[derive(Template)]
#[template(path = "notice_mail.html")]
struct Html<'a> {
    letter: &'a Letter,
}

impl Letter {
    /// Builds the email. `id` must be the same for every delivery attempt.
    pub fn to(self, address: &str, id: String) -> Mail {
        Mail {
            to: address.to_owned(),
            text: self.text(),
            // Rendering into a string can't fail.
            html: Html { letter: &self }.render().ok(),
            notice: Some(NoticeHeaders { id, unsubscribe: self.unsubscribe }),
            subject: self.subject,
        }
    }

    fn text(&self) -> String {
        let facts: String =
            self.facts.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let links = self.links.iter().map(|(label, url)| format!("{label}: {url}"));
        let end = format!("Unsubscribe from {}: {}\n", self.topic, self.unsubscribe);
        let mut parts = vec![self.lead.clone()];
        if !facts.is_empty() {
            parts.push(facts.trim_end().to_owned());
        }
        parts.extend(self.paragraphs.iter().cloned());
        parts.extend(links);
        parts.push(end);
        parts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_part_escapes_every_text() {
        let evil = || "<script>&\"'".to_owned();
        let letter = Letter {
            subject: evil(),
            lead: evil(),
            facts: vec![(evil(), evil())],
            paragraphs: vec![evil()],
            links: vec![("Page", evil())],
            topic: evil(),
            unsubscribe: evil(),
        };
        let mail = letter.to("owner@example.org", "1".to_owned());
        let html = mail.html.unwrap();
        assert!(!html.contains("<script>") && !html.contains("&\"'"), "{html}");
        assert_eq!(html.matches("&#60;script&#62;&#38;&#34;&#39;").count(), 9, "{html}");
        assert!(mail.text.contains("<script>&\"': <script>&\"'\n"), "{}", mail.text);
    }
}
