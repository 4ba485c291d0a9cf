//! Checks the documented ranges of settings.

use std::any::TypeId;

use clap::Arg;
use shell::Cli;

/// Compares the settings of a service with its `--help`. Each number must have a range such as `1
/// to 512`, which may be followed by a unit, and values outside of the range must be rejected.
///
/// ```no_run
/// # fn test<C: shell::Cli>() {
/// testkit::assert_settings_have_ranges::<C>();
/// # }
/// ```
///
/// # Panics
/// Panics with a list of all settings that lack a range or accept numbers outside of it.
pub fn assert_settings_have_ranges<C: Cli>() {
    let command = C::command();
    let numbers = command.get_arguments().filter(|arg| arg.get_env().is_some() && is_number(arg));
    let wrong: Vec<String> = numbers.filter_map(|arg| fault::<C>(arg)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_number(arg: &Arg) -> bool {
    let id = arg.get_value_parser().type_id();
    let is_type = |type_id: TypeId| id == type_id;
    [
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<f64>(),
    ]
    .into_iter()
    .any(is_type)
}

/// Returns what is wrong with a setting, or `None` if it is fine.
fn fault<C: Cli>(arg: &Arg) -> Option<String> {
    let flag = arg.get_long()?;
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let Some((least, most)) = range(&help) else {
        return Some(format!("--{flag}: its help names no range such as \"1 to 512\": {help}"));
    };
    let takes = |value: f64| {
        let line = [C::INFO.name.to_owned(), format!("--{flag}={value}")];
        shell::parse::<C>(line.into_iter().map(Into::into)).is_ok()
    };
    let (below, above) = (least - 1.0, most + 1.0);
    let inside = takes(least) && takes(most);
    let outside = takes(below) || takes(above);
    let wrong = !inside || outside;
    wrong.then(|| format!("--{flag}: it does not accept exactly {least} to {most}"))
}

/// Finds the first range such as `1 to 512`, and returns its two numbers.
fn range(help: &str) -> Option<(f64, f64)> {
    let words: Vec<&str> = help.split_whitespace().collect();
    let number = |word: &str| word.trim_matches(['(', ')', ',', ';', ':', '.']).parse::<f64>().ok();
    words.windows(3).find_map(|three| match three {
        [least, "to", most] => Some((number(least)?, number(most)?)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_is_two_numbers() {
        assert_eq!(range("Threads, 1 to 512 [default: cores]"), Some((1.0, 512.0)));
        assert_eq!(range("Up to 5, which is 0 to 9."), Some((0.0, 9.0)));
        assert_eq!(range("Brings it up to date"), None);
    }
}
