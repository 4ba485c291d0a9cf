//! `users`: who may write, and in which role.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;
use database::{DatabaseError, Pools};

use crate::config::parse_login;
use crate::model::role::Role;
use crate::store::users;

/// What can be done with users.
#[derive(Subcommand)]
pub enum UsersCommand {
    /// Add a user
    Add {
        /// Login of the user, without blanks and colons
        #[arg(value_parser = parse_login)]
        login: String,
        /// reader, contributor, author, editor or administrator
        #[arg(long, value_parser = parse_role)]
        role: Role,
    },
    /// Give a user another role
    SetRole {
        /// Login of the user
        login: String,
        /// reader, contributor, author, editor or administrator
        #[arg(long, value_parser = parse_role)]
        role: Role,
    },
    /// List all users
    List,
}

impl UsersCommand {
    /// Runs the command.
    pub fn run(self, pools: &Pools) -> anyhow::Result<ExitCode> {
        match self {
            UsersCommand::Add { login, role } => {
                let added = pools.write_blocking(|db| users::add(db, &login, &login, role));
                match added {
                    Ok(id) => {
                        log::info!(target: "notice", "user {id} added: {login}, {}", role.name())
                    }
                    Err(DatabaseError::Conflict) => bail!("there is a user {login} already"),
                    Err(error) => return Err(error.into()),
                }
            }
            UsersCommand::SetRole { login, role } => {
                if !pools.write_blocking(|db| users::set_role(db, &login, role))? {
                    bail!("there is no user {login}");
                }
                log::info!(target: "notice", "{login} is {} now", role.name());
            }
            UsersCommand::List => {
                let mut out = std::io::stdout().lock();
                for user in pools.read_blocking(users::list)? {
                    writeln!(out, "{}\t{}\t{}", user.id, user.login, user.role.name())?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn parse_role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| format!("one of {}", Role::ALL.map(Role::name).join(", ")))
}
