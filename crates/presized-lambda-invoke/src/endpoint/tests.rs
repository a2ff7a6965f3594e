mod urls;

use super::*;

/// Makes an environment with these variables.
fn environment<'a>(
    variables: &'a [(&'a str, &'a str)],
) -> impl Fn(&str) -> Option<String> + use<'a> {
    move |name| {
        let (_, value) = variables.iter().find(|(other, _)| *other == name)?;
        Some((*value).to_owned())
    }
}

fn of_url(url: &str) -> Result<Endpoint, EndpointError> {
    let settings =
        EndpointSettings { endpoint: Some(("endpoint()", url)), ..EndpointSettings::default() };
    Endpoint::resolve(&settings, &environment(&[]))
}

fn of_region(region: &str, fips: bool, dual_stack: bool) -> Result<Endpoint, EndpointError> {
    let settings = EndpointSettings { endpoint: None, region: Some(region), fips, dual_stack };
    Endpoint::resolve(&settings, &environment(&[]))
}

fn host(endpoint: &Endpoint) -> &str {
    endpoint.authority().as_str()
}

#[test]
fn endpoint_of_code_precedes_service_variable_general_variable_and_region() {
    const OF_REGION: &str = "lambda.eu-west-1.amazonaws.com";
    // (endpoint(), AWS_ENDPOINT_URL_LAMBDA, AWS_ENDPOINT_URL, AWS_IGNORE_…): host
    let table = [
        ("", "", "", "", OF_REGION),
        ("", "", "http://general", "", "general"),
        ("", "http://service", "", "", "service"),
        ("", "http://service", "http://general", "", "service"),
        ("http://code", "", "", "", "code"),
        ("http://code", "", "http://general", "", "code"),
        ("http://code", "http://service", "", "", "code"),
        ("http://code", "http://service", "http://general", "", "code"),
        ("", "", "http://general", "true", OF_REGION),
        ("", "http://service", "", "True", OF_REGION),
        ("", "http://service", "http://general", "TRUE", OF_REGION),
        ("http://code", "http://service", "http://general", "true", "code"),
        ("", "http://service", "http://general", "false", "service"),
        ("", "", "http://general", "1", "general"),
    ];
    for row in table {
        let (code, service, general, ignore, expected) = row;
        let variables = [
            ("AWS_ENDPOINT_URL_LAMBDA", service),
            ("AWS_ENDPOINT_URL", general),
            ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", ignore),
        ];
        // A blank variable counts as unset.
        let set: Vec<_> = variables.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        for variables in [&variables[..], &set] {
            let settings = EndpointSettings {
                endpoint: Some(("endpoint()", code)).filter(|(_, code)| !code.is_empty()),
                region: Some("eu-west-1"),
                ..EndpointSettings::default()
            };
            let endpoint = Endpoint::resolve(&settings, &environment(variables));
            assert_eq!(host(&endpoint.expect(expected)), expected, "{row:?}");
        }
    }
}

#[test]
fn partition_has_hosts_for_fips_and_dual_stack() {
    // (partition, region, domain, dual stack domain)
    let table = [
        ("aws", "us-east-1", "amazonaws.com", "api.aws"),
        ("aws", "mx-central-1", "amazonaws.com", "api.aws"),
        ("aws", "ap-southeast-99", "amazonaws.com", "api.aws"),
        ("aws-us-gov", "us-gov-west-1", "amazonaws.com", "api.aws"),
        ("aws-cn", "cn-north-1", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
        ("aws-cn", "cn-southwest-12", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
        ("aws-iso", "us-iso-east-1", "c2s.ic.gov", "api.aws.ic.gov"),
        ("aws-iso-b", "us-isob-east-1", "sc2s.sgov.gov", "api.aws.scloud"),
        ("aws-iso-e", "eu-isoe-west-1", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"),
        ("aws-iso-f", "us-isof-south-1", "csp.hci.ic.gov", "api.aws.hci.ic.gov"),
        ("aws-eusc", "eusc-de-east-1", "amazonaws.eu", "api.amazonwebservices.eu"),
        // Names of no known form belong to aws.
        ("aws", "local", "amazonaws.com", "api.aws"),
        ("aws", "cn-north", "amazonaws.com", "api.aws"),
        ("aws", "cn-north-1a", "amazonaws.com", "api.aws"),
        ("aws", "cn-north-east-1", "amazonaws.com", "api.aws"),
        ("aws", "cn--1", "amazonaws.com", "api.aws"),
    ];
    for (partition, region, domain, dual_stack_domain) in table {
        for (fips, dual_stack, expected) in [
            (false, false, format!("lambda.{region}.{domain}")),
            (true, false, format!("lambda-fips.{region}.{domain}")),
            (false, true, format!("lambda.{region}.{dual_stack_domain}")),
            (true, true, format!("lambda-fips.{region}.{dual_stack_domain}")),
        ] {
            let endpoint = of_region(region, fips, dual_stack).expect(partition);
            assert_eq!(host(&endpoint), expected);
            assert_eq!(endpoint.host_header(), expected.as_str());
            assert_eq!(endpoint.scheme(), &Scheme::HTTPS);
            assert!(endpoint.is_tls());
            assert_eq!(endpoint.base_path(), "");
        }
    }
}

#[test]
fn region_must_be_one_host_label() {
    let longest = "a".repeat(63);
    assert!(of_region(&longest, false, false).is_ok());
    for region in [
        "",
        "-us-east-1",
        "us-east-1-",
        "us_east_1",
        "us-east-1 ",
        "us-east-1\r\n",
        "evil.example",
        "evil.example/",
        "evil.example#",
        "user@evil",
        "us-east-1:80",
        "\u{fc}s-east-1",
        &"a".repeat(64),
    ] {
        let refused = EndpointError::Region(region.to_owned());
        assert_eq!(of_region(region, false, false).err(), Some(refused.clone()));
        // It is refused even if only the signature needs it.
        let settings = EndpointSettings {
            endpoint: Some(("endpoint()", "http://localhost")),
            region: Some(region),
            ..EndpointSettings::default()
        };
        assert_eq!(Endpoint::resolve(&settings, &environment(&[])).err(), Some(refused));
    }
}

#[test]
fn url_of_any_setting_excludes_fips_and_dual_stack() {
    let fips = |setting| EndpointError::Fips { setting };
    let dual_stack = |setting| EndpointError::DualStack { setting };
    for (code, variable, setting) in [
        (Some(("endpoint()", "http://code")), "", "endpoint()"),
        (Some(("from_conf()", "http://code")), "", "from_conf()"),
        (None, "AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL_LAMBDA"),
        (None, "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL"),
    ] {
        for (is_fips, is_dual_stack, expected) in [
            (true, false, fips(setting)),
            (false, true, dual_stack(setting)),
            (true, true, fips(setting)),
        ] {
            let settings = EndpointSettings {
                endpoint: code,
                region: Some("us-east-1"),
                fips: is_fips,
                dual_stack: is_dual_stack,
            };
            let variables = [(variable, "http://variable")];
            let refused = Endpoint::resolve(&settings, &environment(&variables));
            assert_eq!(refused.err(), Some(expected));
        }
    }
}

#[test]
fn region_is_required_without_a_url() {
    let resolved = Endpoint::resolve(&EndpointSettings::default(), &environment(&[]));
    assert_eq!(resolved.err(), Some(EndpointError::NoRegion));
    assert!(of_url("http://localhost:9001").is_ok());
}

#[test]
fn errors_name_the_setting_and_show_no_password() {
    for (error, expected) in [
        (of_url("http://user:secret@h").err(), "endpoint URL of endpoint() is invalid"),
        (
            of_region("us east", false, false).err(),
            "region \"us east\" is invalid: it must have 1 to 63 ASCII letters, digits and hyphens, \
             and no hyphen at either end",
        ),
        (
            Some(EndpointError::NoRegion),
            "no region: call region(), or call environment() and set AWS_REGION or \
             AWS_DEFAULT_REGION",
        ),
        (
            Some(EndpointError::Fips { setting: "AWS_ENDPOINT_URL" }),
            "endpoint URL of AWS_ENDPOINT_URL cannot be combined with fips(), \
             AWS_USE_FIPS_ENDPOINT or a region named after FIPS: unset one of them",
        ),
        (
            Some(EndpointError::DualStack { setting: "endpoint()" }),
            "endpoint URL of endpoint() cannot be combined with dual_stack() or \
             AWS_USE_DUALSTACK_ENDPOINT: unset one of them",
        ),
    ] {
        assert_eq!(error.expect(expected).to_string(), expected);
    }
    let refused = of_url("http://user:secret@h").expect_err("a password");
    let source = std::error::Error::source(&refused).expect("the reason").to_string();
    let expected = "URL must not have a user or a password: call credentials() to set credentials";
    assert_eq!(source, expected);
}

#[test]
fn region_is_read_from_the_environment() {
    for (region_of, default, expected) in [
        (None, None, None),
        (Some("eu-west-1"), None, Some("eu-west-1")),
        (None, Some("us-east-2"), Some("us-east-2")),
        (Some("eu-west-1"), Some("us-east-2"), Some("eu-west-1")),
        (Some(""), Some("us-east-2"), Some("us-east-2")),
        (Some(" eu-west-1\n"), None, Some("eu-west-1")),
        (Some(""), Some(""), None),
    ] {
        let found = region(&|name| {
            let value = match name {
                "AWS_REGION" => region_of,
                "AWS_DEFAULT_REGION" => default,
                _ => None,
            };
            value.map(str::to_owned)
        });
        assert_eq!(found.as_deref(), expected);
    }
}

#[test]
fn fips_and_dual_stack_are_read_from_the_environment() {
    for (value, expected) in [
        ("true", true),
        ("True", true),
        ("TRUE", true),
        ("true\n", true),
        ("false", false),
        ("1", false),
        ("", false),
    ] {
        let of_fips = [("AWS_USE_FIPS_ENDPOINT", value)];
        let of_dual_stack = [("AWS_USE_DUALSTACK_ENDPOINT", value)];
        assert_eq!(fips(&environment(&of_fips)), expected, "{value:?}");
        assert_eq!(dual_stack(&environment(&of_dual_stack)), expected, "{value:?}");
        assert!(!fips(&environment(&of_dual_stack)));
        assert!(!dual_stack(&environment(&of_fips)));
    }
}
