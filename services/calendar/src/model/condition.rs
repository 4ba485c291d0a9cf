//! A subscription's state, as shown in responses and on pages.

/// A subscription's state in responses and on pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Runs when it is due.
    Active,
    /// Its file is being fetched or imported.
    Running,
    /// The last runs failed.
    Failing,
    /// Stopped until an editor decides what to do.
    Stopped,
    /// Paused by an editor.
    Paused,
    /// Its events are being trashed, and then it will be removed.
    Removing,
}

impl Condition {
    const ALL: [Condition; 6] = [
        Condition::Active,
        Condition::Running,
        Condition::Failing,
        Condition::Stopped,
        Condition::Paused,
        Condition::Removing,
    ];

    /// Returns the name used in responses and commands.
    pub fn name(self) -> &'static str {
        match self {
            Condition::Active => "active",
            Condition::Running => "running",
            Condition::Failing => "failing",
            Condition::Stopped => "stopped",
            Condition::Paused => "paused",
            Condition::Removing => "removing",
        }
    }

    /// Returns the condition with this name, if any.
    pub fn named(name: &str) -> Option<Condition> {
        Condition::ALL.into_iter().find(|condition| condition.name() == name)
    }
}
