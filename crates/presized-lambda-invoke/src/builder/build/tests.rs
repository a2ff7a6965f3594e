use aws_credential_types::Credentials;

use super::*;

/// Builds a client from an environment.
fn from_env(environment: fn(&str) -> Option<String>) -> Result<ClientInner, Error> {
    let mut builder = Client::builder();
    builder.environment = Some(environment);
    builder.build_inner()
}

fn value(name: &str, table: &[(&str, &str)]) -> Option<String> {
    let keys = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "secret")];
    let mut table = table.iter().chain(&keys);
    table.find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
}

/// Returns the host of requests, and what their signature is for.
fn host_and_signer(client: &ClientInner) -> (String, String) {
    (client.endpoint.authority().to_string(), format!("{:?}", client.signer))
}

#[test]
fn pseudo_region_selects_the_fips_endpoint_and_is_signed_for_its_region() {
    for (pseudo, region) in
        [("fips-us-gov-west-1", "us-gov-west-1"), ("us-east-1-fips", "us-east-1")]
    {
        let credentials = Credentials::new("AKID", "secret", None, None, "test");
        let builder = Client::builder().region(pseudo).credentials(credentials);
        let (host, signer) = host_and_signer(&builder.build_inner().unwrap());
        assert_eq!(host, format!("lambda-fips.{region}.amazonaws.com"));
        assert_eq!(signer, format!("Signer {{ region: {region:?}, .. }}"));
    }
    let client = from_env(|name| value(name, &[("AWS_REGION", "fips-us-east-2")])).unwrap();
    let (host, signer) = host_and_signer(&client);
    assert_eq!(host, "lambda-fips.us-east-2.amazonaws.com");
    assert_eq!(signer, "Signer { region: \"us-east-2\", .. }");
}

#[test]
fn pseudo_region_excludes_an_endpoint_url() {
    let error = from_env(|name| {
        value(name, &[("AWS_REGION", "us-east-2-fips"), ("AWS_ENDPOINT_URL", "http://localhost")])
    });
    let kind = error.err().expect("the URL may lead to another host").into_kind();
    let crate::ErrorKind::Config(source) = kind else { panic!("{kind:?}") };
    assert!(source.to_string().contains("AWS_ENDPOINT_URL cannot be combined"), "{source}");
}

#[test]
fn fips_and_dual_stack_variables_select_the_endpoint() {
    let fips = from_env(|name| {
        value(name, &[("AWS_REGION", "us-east-2"), ("AWS_USE_FIPS_ENDPOINT", "true")])
    });
    let dual_stack = from_env(|name| {
        value(name, &[("AWS_REGION", "us-east-2"), ("AWS_USE_DUALSTACK_ENDPOINT", "true")])
    });
    let (fips, _) = host_and_signer(&fips.unwrap());
    let (dual_stack, _) = host_and_signer(&dual_stack.unwrap());
    assert_eq!(fips, "lambda-fips.us-east-2.amazonaws.com");
    assert_eq!(dual_stack, "lambda.us-east-2.api.aws");
}

#[test]
fn missing_credentials_are_asked_for_where_they_are_looked_for() {
    let source = |error: Option<Error>| {
        let kind = error.expect("no credentials").into_kind();
        let crate::ErrorKind::Credentials(source) = kind else { panic!("{kind:?}") };
        source.to_string()
    };
    let error = Client::builder().region("us-east-1").build().err();
    assert_eq!(
        source(error),
        "no credentials are set: call credentials(), or call environment() to read \
         AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for those of a profile, a container or an \
         instance, enable the feature aws-config and call ClientBuilder::from_conf()"
    );
    let mut builder = Client::builder().region("us-east-1");
    builder.environment = Some(|_| None);
    assert_eq!(
        source(builder.build().err()),
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: set them, or call credentials(); \
         for those of a profile, a container or an instance, enable the feature aws-config and call \
         ClientBuilder::from_conf()"
    );
}

#[test]
fn user_agent_that_a_header_cannot_carry_is_named() {
    let credentials = Credentials::new("AKID", "secret", None, None, "test");
    let builder = Client::builder().region("us-east-1").credentials(credentials);
    let kind = builder.user_agent("a\nb").build().expect_err("a line break").into_kind();
    let crate::ErrorKind::Config(source) = kind else { panic!("{kind:?}") };
    let expected = "user agent has a control character, such as a line break: remove it";
    assert_eq!(source.to_string(), expected);
}
