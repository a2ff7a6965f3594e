use std::any::type_name;

use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};

/// A credentials provider and its name.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) provider: SharedCredentialsProvider,
    /// The name of its type. `Debug` of a provider may show secrets, and a name cannot.
    pub(crate) name: &'static str,
}

impl Provider {
    pub(crate) fn new<P: ProvideCredentials + 'static>(provider: P) -> Self {
        let name = short(type_name::<P>());
        Self { provider: SharedCredentialsProvider::new(provider), name }
    }
}

/// Returns the name of a type without its modules and its parameters.
fn short(name: &str) -> &str {
    let name = name.split_once('<').map_or(name, |(name, _)| name);
    name.rsplit_once("::").map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_type_has_neither_modules_nor_parameters() {
        for (name, expected) in [
            ("a::b::ProfileProvider", "ProfileProvider"),
            ("ProfileProvider", "ProfileProvider"),
            ("a::Cached<a::b::Provider, c::D>", "Cached"),
            ("a::f::{{closure}}", "{{closure}}"),
        ] {
            assert_eq!(short(name), expected);
        }
    }
}
