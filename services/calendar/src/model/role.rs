//! Roles and permissions.

use super::status::{Stage, Status};

/// A role, from least to most powerful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// May read published resources.
    Reader,
    /// May write drafts, but cannot publish.
    Contributor,
    /// May also publish own resources.
    Author,
    /// May also change the resources of other users.
    Editor,
    /// Has the permissions of an editor.
    Administrator,
}

impl Role {
    /// All roles, from least to most powerful.
    pub const ALL: [Role; 5] =
        [Role::Reader, Role::Contributor, Role::Author, Role::Editor, Role::Administrator];

    /// Returns the name of the role in commands and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Contributor => "contributor",
            Role::Author => "author",
            Role::Editor => "editor",
            Role::Administrator => "administrator",
        }
    }

    /// Returns the role with this name, or `None` if there is none.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// The owner of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The id, which is unique among users.
    pub id: i64,
    /// The login, which is unique.
    pub login: String,
    /// The role.
    pub role: Role,
}

/// The caller; `None` if there are no credentials.
pub type Actor = Option<User>;

/// The action that a request performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Create an event, a venue or an organizer.
    Create,
    /// Change or delete one of them. Ownership is checked separately.
    Change,
    /// Create, change or delete a category, including as part of an event write.
    Categories,
    /// Create, change or delete a tag.
    Tags,
    /// Upload an image.
    Images,
    /// Import a calendar.
    Import,
    /// See and manage subscriptions to other calendars.
    Subscriptions,
}

impl Action {
    /// Returns the lowest role that may perform the action.
    fn least(self) -> Role {
        match self {
            Action::Create | Action::Change => Role::Contributor,
            Action::Categories | Action::Images => Role::Author,
            Action::Tags | Action::Import | Action::Subscriptions => Role::Editor,
        }
    }
}

/// Returns whether the user's role permits an action.
pub fn may(user: &User, action: Action) -> bool {
    user.role >= action.least()
}

/// Returns whether an event write of this user may create terms.
pub fn may_make_terms(user: &User) -> bool {
    user.role >= Role::Author
}

/// Returns whether the user may set an image by URL.
pub fn may_use_images(user: &User) -> bool {
    user.role >= Role::Author
}

/// Returns whether the user may make this author the owner of a resource.
pub fn may_set_author(user: &User, author: i64) -> bool {
    user.role >= Role::Editor || user.id == author
}

/// Returns whether the caller may see all users' unpublished resources.
pub fn sees_all(actor: &Actor) -> bool {
    actor.as_ref().is_some_and(|user| user.role >= Role::Editor)
}

/// Returns the id of the caller if the caller may see their own unpublished resources. Otherwise
/// returns `None`.
pub fn sees_own(actor: &Actor) -> Option<i64> {
    actor.as_ref().filter(|user| user.role >= Role::Contributor).map(|user| user.id)
}

/// Returns whether the caller may read a resource in this status.
pub fn may_read(actor: &Actor, status: &Status, author: i64) -> bool {
    match status.stage() {
        Stage::Publish => true,
        Stage::Trash => sees_all(actor),
        _ => sees_all(actor) || sees_own(actor) == Some(author),
    }
}

/// Returns whether the user may change or delete a resource. `previous` is its status before the
/// trash.
pub fn may_edit(user: &User, status: &Status, previous: Option<&Status>, author: i64) -> bool {
    let standing = if status.is_trashed() { previous.unwrap_or(status) } else { status };
    match user.role {
        Role::Reader => false,
        Role::Contributor => user.id == author && !standing.is_published(),
        Role::Author => user.id == author,
        Role::Editor | Role::Administrator => true,
    }
}

/// Returns the status that a role may set with a write, before the publication date is considered.
///
/// A write by a contributor becomes pending, even if the resource was scheduled.
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
