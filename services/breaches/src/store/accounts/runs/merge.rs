//! Merges two runs into one.

use database::DatabaseError;
use diesel::SqliteConnection;

use super::cursor::{Merged, RunCursor};
use super::list::{self, Run};
use super::write::RunWriter;

/// Maximum number of runs before two are merged. A lookup tests the filter of each run.
const RUNS: usize = 8;

/// Merges two runs if there are more than [`RUNS`]. Returns whether it did. Must be called in a
/// write transaction.
///
/// Picks the two runs that are closest in size. An account is then rewritten a number of times that
/// grows with the logarithm of the number of loads, and all loads cost about the same. Never
/// creates a run with more than `most` accounts.
pub fn merge_two(conn: &mut SqliteConnection, most: i64) -> Result<bool, DatabaseError> {
    let mut runs = list::all(conn)?;
    if runs.len() <= RUNS {
        return Ok(false);
    }
    runs.sort_by_key(|run| run.accounts);
    let Some((a, b)) = most_alike(&runs, most) else { return Ok(false) };
    let mut merged = Merged::new(vec![RunCursor::consuming(a.id), RunCursor::consuming(b.id)]);
    let mut writer = RunWriter::new(conn)?;
    while let Some(account) = merged.next(conn)? {
        writer.push(conn, account.as_new())?;
    }
    list::remove(conn, a.id)?;
    list::remove(conn, b.id)?;
    writer.finish(conn)?;
    Ok(true)
}

/// Returns the two runs, adjacent when sorted by size, with the smallest ratio of their sizes. If
/// there are several such pairs, returns the smallest. Returns `None` if no pair has at most `most`
/// accounts.
fn most_alike(runs: &[Run], most: i64) -> Option<(Run, Run)> {
    let pairs = runs.array_windows::<2>().map(|[a, b]| (*a, *b));
    let small = pairs.filter(|(a, b)| a.accounts + b.accounts <= most);
    small.min_by(|(a, b), (c, d)| {
        let [a, b, c, d] = [a, b, c, d].map(|run| i128::from(run.accounts));
        (b * c).cmp(&(d * a))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: i64, accounts: i64) -> Run {
        Run { id, accounts, low: 0, high: 0 }
    }

    #[test]
    fn runs_of_similar_size_are_merged() {
        let mut runs: Vec<Run> = Vec::new();
        let (mut written, mut largest) = (0, 0);
        for load in 0..1_000 {
            runs.push(run(load, 10));
            runs.sort_by_key(|run| run.accounts);
            if runs.len() > RUNS {
                let (a, b) = most_alike(&runs, i64::MAX).unwrap();
                runs.retain(|run| run.id != a.id && run.id != b.id);
                let accounts = a.accounts + b.accounts;
                runs.push(run(10_000 + load, accounts));
                written += accounts;
                if load < 10 {
                    largest = largest.max(accounts);
                }
            }
        }
        assert_eq!(largest, 20, "the first loads rewrite few other accounts");
        assert!(written < 10_000 * 10, "{written}");
        assert_eq!(most_alike(&[run(1, 6), run(2, 7)], 12), None);
    }
}
