use super::*;

/// An environment of these variables.
fn environment<'a>(
    variables: &'a [(&'a str, &'a str)],
) -> impl Fn(&str) -> Option<String> + use<'a> {
    move |name| {
        let (_, value) = variables.iter().find(|(other, _)| *other == name)?;
        Some((*value).to_owned())
    }
}

fn of_url(url: &str) -> Result<Endpoint, EndpointError> {
    let settings = Settings { endpoint: Some(url), ..Settings::default() };
    Endpoint::resolve(&settings, &environment(&[]))
}

fn of_region(region: &str, fips: bool, dual_stack: bool) -> Result<Endpoint, EndpointError> {
    let settings = Settings { endpoint: None, region: Some(region), fips, dual_stack };
    Endpoint::resolve(&settings, &environment(&[]))
}

fn host(endpoint: &Endpoint) -> &str {
    endpoint.authority().as_str()
}

#[test]
fn code_goes_before_the_variable_of_the_service_before_the_general_one_before_the_region() {
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
        // An empty one is as good as none.
        let set: Vec<_> = variables.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        for variables in [&variables[..], &set] {
            let settings = Settings {
                endpoint: Some(code).filter(|code| !code.is_empty()),
                region: Some("eu-west-1"),
                ..Settings::default()
            };
            let endpoint = Endpoint::resolve(&settings, &environment(variables));
            assert_eq!(host(&endpoint.expect(expected)), expected, "{row:?}");
        }
    }
}

#[test]
fn every_partition_has_hosts_for_fips_and_dual_stack() {
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
        // Of no partition's form, so of aws.
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
fn a_region_is_one_host_label() {
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
        // Nor is it taken where only signatures are made with it.
        let settings = Settings {
            endpoint: Some("http://localhost"),
            region: Some(region),
            ..Settings::default()
        };
        assert_eq!(Endpoint::resolve(&settings, &environment(&[])).err(), Some(refused));
    }
}

#[test]
fn a_url_excludes_fips_and_dual_stack_wherever_it_is_from() {
    let fips = |source| EndpointError::Fips { source };
    let dual_stack = |source| EndpointError::DualStack { source };
    for (code, variable, source) in [
        (Some("http://code"), "", "endpoint()"),
        (None, "AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL_LAMBDA"),
        (None, "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL"),
    ] {
        for (is_fips, is_dual_stack, expected) in [
            (true, false, fips(source)),
            (false, true, dual_stack(source)),
            (true, true, fips(source)),
        ] {
            let settings = Settings {
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
fn without_a_url_there_must_be_a_region() {
    let resolved = Endpoint::resolve(&Settings::default(), &environment(&[]));
    assert_eq!(resolved.err(), Some(EndpointError::NoRegion));
    assert!(of_url("http://localhost:9001").is_ok());
}

#[test]
fn a_url_gives_scheme_host_and_base_path() {
    for (url, tls, authority, base_path) in [
        ("http://localhost:9001", false, "localhost:9001", ""),
        ("https://localhost:9001/", true, "localhost:9001", ""),
        ("HTTPS://Example.com", true, "Example.com", ""),
        ("http://my_stack:4566", false, "my_stack:4566", ""),
        ("http://127.0.0.1:80", false, "127.0.0.1", ""),
        ("http://127.0.0.1:443", false, "127.0.0.1:443", ""),
        ("https://example.com:443/a", true, "example.com", "/a"),
        ("https://example.com:80/a", true, "example.com:80", "/a"),
        ("https://example.com:/a", true, "example.com", "/a"),
        ("https://example.com:0443/a", true, "example.com", "/a"),
        ("http://[::1]", false, "[::1]", ""),
        ("http://[::1]:8080/x", false, "[::1]:8080", "/x"),
        ("http://h/a/b/", false, "h", "/a/b"),
        ("http://h/a/b///", false, "h", "/a/b"),
        ("http://h///", false, "h", ""),
        ("http://h/a%20b/c:d@e;f=~", false, "h", "/a%20b/c:d@e;f=~"),
        ("http://h/.../..a/.b", false, "h", "/.../..a/.b"),
    ] {
        let endpoint = of_url(url).expect(url);
        assert_eq!(endpoint.is_tls(), tls, "{url}");
        assert_eq!(host(&endpoint), authority, "{url}");
        assert_eq!(endpoint.host_header(), authority, "{url}");
        assert_eq!(endpoint.base_path(), base_path, "{url}");
    }
}

#[test]
fn a_url_that_is_no_endpoint_is_refused() {
    for (url, error) in [
        ("", UrlError::Syntax),
        ("http://", UrlError::Syntax),
        ("http:///a", UrlError::Syntax),
        ("http:/a", UrlError::Syntax),
        ("http://a b", UrlError::Syntax),
        ("http://h/a b", UrlError::Syntax),
        ("http://h\r\nX: y", UrlError::Syntax),
        (" http://h", UrlError::Syntax),
        ("http://\u{f6}.example", UrlError::Syntax),
        ("http://[::1", UrlError::Syntax),
        ("localhost", UrlError::Scheme),
        ("localhost:9001", UrlError::Scheme),
        ("/a/b", UrlError::Scheme),
        ("ftp://h", UrlError::Scheme),
        ("unix://h/socket", UrlError::Scheme),
        ("http://:9001", UrlError::Host),
        ("http://user@h", UrlError::UserInfo),
        ("http://user:secret@h:1/a", UrlError::UserInfo),
        ("http://h:65536", UrlError::Port),
        ("http://h:+80", UrlError::Port),
        ("http://h:http", UrlError::Port),
        ("http://h?a=b", UrlError::Query),
        ("http://h/a?", UrlError::Query),
        ("http://h/a#b", UrlError::Query),
        ("http://h#b", UrlError::Query),
        ("http://h//a", UrlError::EmptySegment),
        ("http://h/a//b/", UrlError::EmptySegment),
        ("http://h/.", UrlError::DotSegment),
        ("http://h/../a", UrlError::DotSegment),
        ("http://h/a/./b", UrlError::DotSegment),
        ("http://h/a/%2e%2E/", UrlError::DotSegment),
        ("http://h/a/.%2e", UrlError::DotSegment),
        ("http://h/%", UrlError::PathCharacter),
        ("http://h/a%2", UrlError::PathCharacter),
        ("http://h/%zz", UrlError::PathCharacter),
        ("http://h/{a}", UrlError::PathCharacter),
        ("http://h/a|b", UrlError::PathCharacter),
        ("http://h/\u{f6}", UrlError::PathCharacter),
    ] {
        let refused = EndpointError::Url { source: "endpoint()", error };
        assert_eq!(of_url(url).err(), Some(refused), "{url:?}");
    }
}

#[test]
fn errors_say_what_to_set_and_no_password() {
    for (error, expected) in [
        (
            of_url("http://user:secret@h").err(),
            "the endpoint URL of endpoint() must have no user or password in it: credentials are \
             set by themselves",
        ),
        (
            of_region("us east", false, false).err(),
            "\"us east\" is not a region: it must be 1 to 63 ASCII letters, digits and hyphens, \
             with no hyphen at either end",
        ),
        (
            Some(EndpointError::NoRegion),
            "no region: call region() of the builder, or set AWS_REGION or AWS_DEFAULT_REGION and \
             build from the environment",
        ),
        (
            Some(EndpointError::Fips { source: "AWS_ENDPOINT_URL" }),
            "an endpoint URL (of AWS_ENDPOINT_URL) and FIPS (of fips() or AWS_USE_FIPS_ENDPOINT) \
             exclude each other: unset one of them",
        ),
        (
            Some(EndpointError::DualStack { source: "endpoint()" }),
            "an endpoint URL (of endpoint()) and dual stack (of dual_stack() or \
             AWS_USE_DUALSTACK_ENDPOINT) exclude each other: unset one of them",
        ),
    ] {
        assert_eq!(error.expect(expected).to_string(), expected);
    }
}

#[test]
fn the_environment_gives_the_region() {
    for (region_of, default, expected) in [
        (None, None, None),
        (Some("eu-west-1"), None, Some("eu-west-1")),
        (None, Some("us-east-2"), Some("us-east-2")),
        (Some("eu-west-1"), Some("us-east-2"), Some("eu-west-1")),
        (Some(""), Some("us-east-2"), Some("us-east-2")),
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
fn the_environment_gives_fips_and_dual_stack() {
    for (value, expected) in [
        ("true", true),
        ("True", true),
        ("TRUE", true),
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
