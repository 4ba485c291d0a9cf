//! Publication statuses. There are six known ones. Custom statuses are treated as drafts.

/// Maximum length of a status in characters.
const MAX_CHARACTERS: usize = 20;

/// A status as stored and as returned by the API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(String);

/// The publication stage that a status represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Visible to everyone.
    Publish,
    /// To be published on the publication date.
    Future,
    /// Unfinished. Only its author and editors can see it.
    Draft,
    /// Waiting for an editor.
    Pending,
    /// Only readable with permission.
    Private,
    /// Deleted, but can be restored.
    Trash,
}

impl Stage {
    /// All known stages.
    pub const ALL: [Stage; 6] =
        [Stage::Publish, Stage::Future, Stage::Draft, Stage::Pending, Stage::Private, Stage::Trash];
}

impl Status {
    /// Parses a status. After trimming, it must have 1 to 20 characters and no comma. `any` isn't a
    /// status, because it has a special meaning in filters.
    pub fn parse(text: &str) -> Option<Status> {
        let text = text.trim();
        let fits = text.chars().count() <= MAX_CHARACTERS && !text.is_empty();
        let free = fits && !text.contains(',') && text != "any";
        free.then(|| Status(text.to_owned()))
    }

    /// Returns the known status that a custom one was probably meant to be, if any. The two can
    /// only differ in case or inflection.
    pub fn near_miss(&self) -> Option<&'static str> {
        const FORMS: [(&str, &[&str]); 6] = [
            ("publish", &["published", "publishes", "publishing", "public"]),
            ("future", &["futures"]),
            ("draft", &["drafts", "drafted"]),
            ("pending", &["pend", "pended"]),
            ("private", &["privates", "privately"]),
            ("trash", &["trashed", "trashes", "trashing"]),
        ];
        let folded = self.0.to_lowercase();
        let means = |(known, forms): &(&str, &[&str])| {
            self.0 != *known && (folded == *known || forms.contains(&folded.as_str()))
        };
        FORMS.into_iter().find(means).map(|(known, _)| known)
    }

    /// Creates a status from a database value.
    pub fn stored(text: String) -> Status {
        Status(text)
    }

    /// Returns the status for a stage.
    pub fn of(stage: Stage) -> Status {
        let name = match stage {
            Stage::Publish => "publish",
            Stage::Future => "future",
            Stage::Draft => "draft",
            Stage::Pending => "pending",
            Stage::Private => "private",
            Stage::Trash => "trash",
        };
        Status(name.to_owned())
    }

    /// Returns the status as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the stage. Custom statuses count as drafts.
    pub fn stage(&self) -> Stage {
        match self.0.as_str() {
            "publish" => Stage::Publish,
            "future" => Stage::Future,
            "pending" => Stage::Pending,
            "private" => Stage::Private,
            "trash" => Stage::Trash,
            _ => Stage::Draft,
        }
    }

    /// Returns whether the status is `publish`.
    pub fn is_published(&self) -> bool {
        self.stage() == Stage::Publish
    }

    /// Returns whether the status is `trash`.
    pub fn is_trashed(&self) -> bool {
        self.stage() == Stage::Trash
    }

    /// Replaces a row's status. If the row is being trashed, remembers the previous status.
    pub fn replace(self, slot: &mut Status, previous: &mut Option<Status>) {
        if self.is_trashed() && !slot.is_trashed() {
            *previous = Some(slot.clone());
        } else if !self.is_trashed() {
            *previous = None;
        }
        *slot = self;
    }

    /// Swaps `publish` and `future` if necessary to match the publication date.
    pub fn agreeing_with(self, published: i64, now: i64) -> Status {
        match self.stage() {
            Stage::Publish if published > now => Status::of(Stage::Future),
            Stage::Future if published <= now => Status::of(Stage::Publish),
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_statuses_are_kept_and_count_as_drafts() {
        let status = Status::parse("Confirmed").unwrap();
        assert_eq!((status.as_str(), status.stage()), ("Confirmed", Stage::Draft));
        // Filters split statuses at commas and trim them.
        assert_eq!(Status::parse(" Confirmed "), Some(status));
    }

    #[test]
    fn misspelled_statuses_get_the_known_spelling() {
        for (text, known) in [
            ("Publish", Some("publish")),
            ("published", Some("publish")),
            ("public", Some("publish")),
            ("Drafts", Some("draft")),
            ("PENDING", Some("pending")),
            ("trashed", Some("trash")),
            ("publish", None),
            ("trash", None),
            ("Confirmed", None),
            ("publisher", None),
        ] {
            assert_eq!(Status::parse(text).unwrap().near_miss(), known, "{text}");
        }
    }

    #[test]
    fn blank_long_and_listed_statuses_and_any_are_rejected() {
        for text in ["", "  ", "a,b", "any", "123456789012345678901"] {
            assert_eq!(Status::parse(text), None, "{text}");
        }
        assert!(Status::parse("äöüäöüäöüäöüäöüäöüäö").is_some());
    }

    #[test]
    fn publication_date_decides_between_publish_and_future() {
        let publish = || Status::of(Stage::Publish);
        let future = || Status::of(Stage::Future);
        assert_eq!(publish().agreeing_with(11, 10), future());
        assert_eq!(future().agreeing_with(10, 10), publish());
        assert_eq!(Status::of(Stage::Draft).agreeing_with(11, 10), Status::of(Stage::Draft));
    }
}
