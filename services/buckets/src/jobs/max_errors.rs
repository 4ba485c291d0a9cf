//! Limits the number of bad lines in a load.

use serde::{Deserialize, Serialize};

/// Maximum number of bad lines in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MaxErrors {
    /// A number of lines.
    Count(u64),
    /// A percentage of all lines.
    Percent(f64),
}

impl MaxErrors {
    /// Percentage that allows every line to be bad.
    pub const ALL: f64 = 100.0;
}

impl std::str::FromStr for MaxErrors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || "must be a number of lines such as 10, or a percentage such as 1%".to_owned();
        match text.strip_suffix('%') {
            None => text.parse().map(Self::Count).map_err(|_| wrong()),
            Some(share) => {
                let share: f64 = share.parse().map_err(|_| wrong())?;
                if (0.0..=100.0).contains(&share) { Ok(Self::Percent(share)) } else { Err(wrong()) }
            }
        }
    }
}
