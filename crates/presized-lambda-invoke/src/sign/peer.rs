//! Compares signatures with those of `aws_sigv4::http_request`.

use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use http::header::HOST;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::target::Target;
use crate::wire::Operation;

proptest! {
    #[test]
    fn call_is_signed_as_by_aws(
        base in BASE_PATH,
        function in "\\PC{0,20}",
        qualifier in option::of("\\PC{1,10}"),
        headers in headers(),
        payload in vec(any::<u8>(), 0..100),
        token in option::of("[!-~]{1,40}"),
        second in 0_u64..200 * 365 * 86_400,
    ) {
        prop_assume!(!matches!(&*function, "" | "." | ".."));
        let target = Target::new(&base, Operation::Invoke, &function, qualifier.as_deref())
            .expect("a name that a path can carry");
        let credentials = Credentials::new("AKID", "secret", token, None, "test");
        let now = UNIX_EPOCH + std::time::Duration::from_secs(second);
        let mut ours = headers.clone();
        Signer::new("eu-central-1")
            .sign(&Method::POST, &target, &mut ours, &PayloadHash::of(&payload), &credentials, now)
            .expect("a request that can be signed");
        let uri = format!("https://host{}", target.path_and_query);
        prop_assert_eq!(&ours[AUTHORIZATION], &*by_aws(&uri, &headers, &payload, credentials, now));
    }

    #[test]
    fn path_and_query_are_signed_as_by_aws(
        path in "(/([a-c.%:@~*' -]|%2[Ff]){0,3}){0,5}",
        mut query in vec(("\\PC{0,3}", "\\PC{0,3}"), 0..5),
    ) {
        // A space is never sent, because it is percent-encoded first.
        let path = path.replace(' ', "%20");
        let mut sent = String::new();
        let mut parameters: Vec<_> = query.iter_mut().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        canonical::push_query(&mut parameters, &mut sent);
        let request = CanonicalRequest {
            method: "POST",
            path: &canonical::path(&path),
            query: &sent,
            payload_hash: &PayloadHash::of(b"").0,
        };
        let credentials = Credentials::new("AKID", "secret", None, None, "test");
        let mut ours = HeaderMap::from_iter([(HOST, HeaderValue::from_static("host"))]);
        let theirs = by_aws(&format!("https://host{path}?{sent}"), &ours, b"", credentials.clone(), UNIX_EPOCH);
        Signer::new("eu-central-1")
            .sign_request(request, &mut ours, is_signed, &credentials, UNIX_EPOCH)
            .expect("a request that can be signed");
        prop_assert_eq!(&ours[AUTHORIZATION], &*theirs);
    }
}

/// Generates headers of which some are signed and some are not.
fn headers() -> impl Strategy<Value = HeaderMap> {
    let name = prop_oneof![
        "x-amz-[a-c0-2-]{1,3}",
        Just("content-type".to_owned()),
        Just("user-agent".to_owned()),
        Just("x-amzn-trace-id".to_owned()),
        Just("transfer-encoding".to_owned()),
        "accept|x-[a-c]{1,3}|[a-c]{1,2}",
    ];
    vec((name, "[ -~\t]{0,30}|[ -~\u{80}-\u{2ff}]{0,5}|( {0,3}[a-b]{0,2}){0,5}"), 0..8).prop_map(
        |headers| {
            let host = (HOST, HeaderValue::from_static("host:8443"));
            let parse = |(name, value): (String, String)| {
                let name: HeaderName = name.parse().expect("a name");
                (name, value.parse().expect("a value"))
            };
            let mut map = HeaderMap::new();
            for (name, value) in headers.into_iter().map(parse).chain([host]) {
                map.append(name, value);
            }
            map
        },
    )
}

fn by_aws(
    uri: &str,
    headers: &HeaderMap,
    payload: &[u8],
    credentials: Credentials,
    now: SystemTime,
) -> String {
    let identity = credentials.into();
    let params = SigningParams::builder()
        .identity(&identity)
        .region("eu-central-1")
        .name("lambda")
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .expect("all required parameters are set")
        .into();
    let headers = headers.iter().map(|(name, value)| {
        (name.as_str(), str::from_utf8(value.as_bytes()).expect("generated as UTF-8"))
    });
    let request = SignableRequest::new("POST", uri, headers, SignableBody::Bytes(payload))
        .expect("a URI that can be parsed");
    let (instructions, _) = sign(request, &params).expect("can be signed").into_parts();
    let (_, value) = instructions
        .headers()
        .find(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        .expect("a signature");
    value.to_owned()
}

const BASE_PATH: &str = "(/([a-c~:@.]|%20){1,3}){0,3}";
