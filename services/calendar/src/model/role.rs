//! Roles, and what each may do.

use super::status::{Stage, Status};

/// A role, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads what is published.
    Reader,
    /// Writes, but publishes nothing.
    Contributor,
    /// Publishes own ones.
    Author,
    /// Changes what others wrote.
    Editor,
    /// As an editor.
    Administrator,
}

impl Role {
    /// All roles, from least to most.
    pub const ALL: [Role; 5] =
        [Role::Reader, Role::Contributor, Role::Author, Role::Editor, Role::Administrator];

    /// Returns the name by which commands and the database know the role.
    pub fn name(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Contributor => "contributor",
            Role::Author => "author",
            Role::Editor => "editor",
            Role::Administrator => "administrator",
        }
    }

    /// Looks a role up by its name.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// Somebody who is known: the owner of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: i64,
    /// The login.
    pub login: String,
    /// The role.
    pub role: Role,
}

/// Who asks; `None` without credentials.
pub type Actor = Option<User>;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Create an event, a venue or an organizer.
    Create,
    /// Change or delete one of them; whose it is, is checked apart.
    Change,
    /// Create, change or delete a category, also on the fly.
    Categories,
    /// Create, change or delete a tag.
    Tags,
    /// Upload an image.
    Images,
    /// Import a calendar.
    Import,
}

impl Action {
    /// The least role that may do it at all.
    fn least(self) -> Role {
        match self {
            Action::Create | Action::Change => Role::Contributor,
            Action::Categories | Action::Images => Role::Author,
            Action::Tags | Action::Import => Role::Editor,
        }
    }
}

/// Tells whether somebody's role allows a action at all.
pub fn may(user: &User, action: Action) -> bool {
    user.role >= action.least()
}

/// Tells whether new terms may be made on the fly in an event.
pub fn may_make_terms(user: &User) -> bool {
    user.role >= Role::Author
}

/// Tells whether an image may be set by address.
pub fn may_use_images(user: &User) -> bool {
    user.role >= Role::Author
}

/// Tells whether somebody may put another user's name on a resource.
pub fn may_set_author(user: &User, author: i64) -> bool {
    user.role >= Role::Editor || user.id == author
}

/// Tells whether somebody sees what others have not published.
pub fn sees_all(actor: &Actor) -> bool {
    actor.as_ref().is_some_and(|user| user.role >= Role::Editor)
}

/// Returns whose unpublished resources the caller may see besides the published ones.
pub fn sees_own(actor: &Actor) -> Option<i64> {
    actor.as_ref().filter(|user| user.role >= Role::Contributor).map(|user| user.id)
}

/// Tells whether a resource in this status may be read.
pub fn may_read(actor: &Actor, status: &Status, author: i64) -> bool {
    match status.stage() {
        Stage::Publish => true,
        Stage::Trash => sees_all(actor),
        _ => sees_all(actor) || sees_own(actor) == Some(author),
    }
}

/// Tells whether a resource may be changed or deleted; `previous` is its status before the trash.
pub fn may_edit(user: &User, status: &Status, previous: Option<&Status>, author: i64) -> bool {
    let standing = if status.is_trashed() { previous.unwrap_or(status) } else { status };
    match user.role {
        Role::Reader => false,
        Role::Contributor => user.id == author && !standing.is_published(),
        Role::Author => user.id == author,
        Role::Editor | Role::Administrator => true,
    }
}

/// Returns the status that a write results in for this role, before the publication date is asked.
///
/// What a contributor writes waits for an editor, also where it was to be published later.
pub fn granted(user: &User, asked: Option<Status>, current: Option<&Status>) -> Status {
    let contributor = user.role <= Role::Contributor;
    match asked.or_else(|| current.cloned()) {
        Some(wanted) if contributor => match wanted.stage() {
            Stage::Publish | Stage::Future => Status::of(Stage::Pending),
            _ => wanted,
        },
        Some(wanted) => wanted,
        None if contributor => Status::of(Stage::Draft),
        None => Status::of(Stage::Publish),
    }
}
