//! Roles and permissions.

use super::status::{Stage, Status};

/// User roles, in order of increasing permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Can read published resources.
    Reader,
    /// Can write drafts, but not publish them.
    Contributor,
    /// Can also publish their own resources.
    Author,
    /// Can also change other users' resources.
    Editor,
    /// Has the same permissions as an editor.
    Administrator,
}

impl Role {
    /// All roles, in order of increasing permissions.
    pub const ALL: [Role; 5] =
        [Role::Reader, Role::Contributor, Role::Author, Role::Editor, Role::Administrator];

    /// Returns the role's name in commands and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Contributor => "contributor",
            Role::Author => "author",
            Role::Editor => "editor",
            Role::Administrator => "administrator",
        }
    }

    /// Returns the role with this name, if any.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// A user. Users can own API keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The id, unique among users.
    pub id: i64,
    /// The login, unique among users.
    pub login: String,
    /// The role.
    pub role: Role,
}

/// The caller, or `None` if the request doesn't have credentials.
pub type Actor = Option<User>;

/// An action that needs permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Create an event, venue or organizer.
    Create,
    /// Change or delete an event, venue or organizer. Ownership is checked separately.
    Change,
    /// Create, change or delete a category, including in an event write.
    Categories,
    /// Create, change or delete a tag.
    Tags,
    /// Upload an image.
    Images,
    /// Import a calendar.
    Import,
    /// View and manage subscriptions to other calendars.
    Subscriptions,
}

impl Action {
    /// Returns the lowest role that is allowed to perform the action.
    fn least(self) -> Role {
        match self {
            Action::Create | Action::Change => Role::Contributor,
            Action::Categories | Action::Images => Role::Author,
            Action::Tags | Action::Import | Action::Subscriptions => Role::Editor,
        }
    }
}

/// Returns whether the user's role allows an action.
pub fn may(user: &User, action: Action) -> bool {
    user.role >= action.least()
}

/// Returns whether the user's event writes are allowed to create terms.
pub fn may_make_terms(user: &User) -> bool {
    user.role >= Role::Author
}

/// Returns whether the user is allowed to set an image by URL.
pub fn may_use_images(user: &User) -> bool {
    user.role >= Role::Author
}

/// Returns whether the user is allowed to assign a resource to this author.
pub fn may_set_author(user: &User, author: i64) -> bool {
    user.role >= Role::Editor || user.id == author
}

/// Returns whether the caller can see everyone's unpublished resources.
pub fn sees_all(actor: &Actor) -> bool {
    actor.as_ref().is_some_and(|user| user.role >= Role::Editor)
}

/// Returns the caller's id if they can see their own unpublished resources, or `None` otherwise.
pub fn sees_own(actor: &Actor) -> Option<i64> {
    actor.as_ref().filter(|user| user.role >= Role::Contributor).map(|user| user.id)
}

/// Returns whether the caller is allowed to read a resource with this status.
pub fn may_read(actor: &Actor, status: &Status, author: i64) -> bool {
    match status.stage() {
        Stage::Publish => true,
        Stage::Trash => sees_all(actor),
        _ => sees_all(actor) || sees_own(actor) == Some(author),
    }
}

/// Returns whether the user is allowed to change or delete a resource. `previous` is the status
/// before it was trashed.
pub fn may_edit(user: &User, status: &Status, previous: Option<&Status>, author: i64) -> bool {
    let standing = if status.is_trashed() { previous.unwrap_or(status) } else { status };
    match user.role {
        Role::Reader => false,
        Role::Contributor => user.id == author && !standing.is_published(),
        Role::Author => user.id == author,
        Role::Editor | Role::Administrator => true,
    }
}

/// Returns the status that a user's write results in, without considering the publication date.
///
/// If a contributor writes to a scheduled resource, it becomes pending.
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
