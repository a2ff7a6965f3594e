//! The variables of the environment, which a function gives.

/// Returns a variable without white space at either end, or `None` if it is blank.
///
/// A variable that was read from a file often ends with a line break. A blank one counts as unset,
/// because some shells and container specifications cannot unset a variable.
pub(super) fn variable(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    let value = lookup(name)?;
    let trimmed = value.trim();
    match trimmed.len() {
        0 => None,
        len if len == value.len() => Some(value),
        _ => Some(trimmed.to_owned()),
    }
}
