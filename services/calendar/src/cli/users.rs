//! `users`: users and their roles.

use std::process::ExitCode;

use anyhow::bail;
use batch::Output;
use clap::Subcommand;
use database::{DatabaseError, Pools};
use domain::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::config::parse_login;
use crate::jobs::{change_role, create_user, remove_user};
use crate::model::role::Role;
use crate::store::users;

/// Subcommands of `users`.
#[derive(Subcommand)]
pub enum UsersCommand {
    /// Add a user
    Add {
        /// Login of the new user: 1 to 60 characters, without spaces or colons
        #[arg(value_parser = parse_login)]
        login: String,
        /// Role: reader, contributor, author, editor or administrator
        #[arg(long, value_parser = parse_role)]
        role: Role,
    },
    /// Change a user's role
    SetRole {
        /// Login of the user
        login: String,
        /// Role: reader, contributor, author, editor or administrator
        #[arg(long, value_parser = parse_role)]
        role: Role,
    },
    /// Remove a user. Their keys are revoked, and another user becomes the author of their items
    Remove {
        /// Login of the user
        login: String,
        /// Login of the user who becomes the author of the events, venues, organizers and images
        #[arg(long, value_name = "LOGIN")]
        give_to: String,
    },
    /// List all users
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

impl UsersCommand {
    pub fn run(self, pools: &Pools) -> anyhow::Result<ExitCode> {
        match self {
            UsersCommand::Add { login, role } => {
                match create_user(pools, &login, role, SystemClock.unix()) {
                    Ok(id) => {
                        log::info!(target: "notice", "user {id} added: {login}, {}", role.name())
                    }
                    Err(DatabaseError::Conflict) => bail!("user {login} already exists"),
                    Err(error) => return Err(error.into()),
                }
            }
            UsersCommand::SetRole { login, role } => {
                change_role(pools, &login, role)?;
                log::info!(target: "notice", "{login} is now {}", role.name());
            }
            UsersCommand::Remove { login, give_to } => {
                let given = remove_user(pools, (&login, &give_to), SystemClock.unix())?;
                log::info!(target: "notice", "{login} removed; {give_to} now owns {given}");
            }
            UsersCommand::List { json } => {
                let users = pools.read_blocking(users::list)?;
                let heading = json!({"id": "id", "login": "login", "role": "role"});
                let heading = (!json).then_some(heading);
                let shown = users.iter().map(
                    |user| json!({"id": user.id, "login": user.login, "role": user.role.name()}),
                );
                let shown: Vec<Value> = heading.into_iter().chain(shown).collect();
                Output::from_json_flag(json).print_list(&shown, |row| {
                    let text = |name: &str| match &row[name] {
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    format!("{}\t{}\t{}", text("id"), text("login"), text("role"))
                })?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn parse_role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| format!("one of {}", Role::ALL.map(Role::name).join(", ")))
}
