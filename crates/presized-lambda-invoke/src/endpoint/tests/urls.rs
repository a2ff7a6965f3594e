use super::*;

#[test]
fn url_gives_scheme_host_and_base_path() {
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
fn invalid_url_is_refused() {
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
        let refused = EndpointError::Url { setting: "endpoint()", error };
        assert_eq!(of_url(url).err(), Some(refused), "{url:?}");
    }
}
