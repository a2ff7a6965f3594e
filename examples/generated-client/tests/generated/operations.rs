//! Tests of the two operations as a caller uses them: valid and invalid requests, and shared memory.

use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::Full;
use presized::{BufferPool, CollectError, LengthHistory, MemoryBudget, Reader, payload};
use presized_support::drive::drive;
use presized_support::frames::Frames;

use crate::LIMIT;
use generated_client::s3::{self, GetBucketPolicyInput};
use generated_client::schemas::{self, GetCodeBindingSourceInput};
use generated_client::{BuildError, Config, SdkError, Transport};

const ENDPOINT: &str = "http://localhost:8080";

/// Returns a transport that responds to every request with the same content, and its requests.
fn recorder(
    content: impl Into<Bytes>,
) -> (impl Transport + Clone, Arc<Mutex<Vec<Request<Bytes>>>>) {
    let content = content.into();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&requests);
    let transport = move |request: Request<Bytes>| {
        recorded.lock().unwrap().push(request);
        ready(Ok::<_, Infallible>(Response::new(Frames::of(content.clone()))))
    };
    (transport, requests)
}

#[test]
fn members_are_percent_encoded_in_the_target() {
    let table = [
        (
            ["aws.events", "aws.ec2@StateChange", "Java8"],
            None,
            "aws.events/schemas/name/aws.ec2%40StateChange/language/Java8/source",
        ),
        (["r", "s", "l"], Some("1"), "r/schemas/name/s/language/l/source?schemaVersion=1"),
        (
            ["A-z_0.9~", "a/b", "../x"],
            Some("a b&c#d+e"),
            "A-z_0.9~/schemas/name/a%2Fb/language/..%2Fx/source?schemaVersion=a%20b%26c%23d%2Be",
        ),
        (
            ["a%2Fb", "q?x", "h\u{f6}\u{1f980}"],
            Some(""),
            "a%252Fb/schemas/name/q%3Fx/language/h%C3%B6%F0%9F%A6%80/source?schemaVersion=",
        ),
        (["\r\n", "\0", "\u{7f}"], None, "%0D%0A/schemas/name/%00/language/%7F/source"),
    ];
    for ([registry, schema, language], version, expected) in table {
        let (transport, requests) = recorder("source");
        let client = schemas::Client::new(Config::new(transport, ENDPOINT, LIMIT));
        let mut input = GetCodeBindingSourceInput::new(registry, schema, language);
        input.schema_version = version.map(str::to_owned);
        let output = drive(client.get_code_binding_source(input)).unwrap();
        assert_eq!(output.body.unwrap(), "source");
        let request = requests.lock().unwrap().pop().unwrap();
        assert_eq!(request.method(), Method::GET);
        assert_eq!(request.uri().to_string(), format!("{ENDPOINT}/v1/registries/name/{expected}"));
    }
}

#[test]
fn bucket_is_in_the_path_and_its_owner_in_a_header_field() {
    let (transport, requests) = recorder("{}");
    let client = s3::Client::new(Config::new(transport, ENDPOINT, LIMIT));
    let mut input = GetBucketPolicyInput::new("a bucket");
    input.expected_bucket_owner = Some("123456789012".to_owned());
    let output = drive(client.get_bucket_policy(input)).unwrap();
    assert_eq!(output.policy.as_deref(), Some("{}"));
    let request = requests.lock().unwrap().pop().unwrap();
    assert_eq!(request.uri().to_string(), format!("{ENDPOINT}/a%20bucket?policy"));
    assert_eq!(request.headers()["x-amz-expected-bucket-owner"], "123456789012");
}

#[test]
fn input_without_a_valid_request_is_not_sent() {
    let (transport, requests) = recorder("");
    let config = Config::new(transport, ENDPOINT, LIMIT);
    let s3 = s3::Client::new(config.clone());
    for value in ["", ".", ".."] {
        for (position, member) in ["RegistryName", "SchemaName", "Language"].iter().enumerate() {
            let mut labels = ["a", "b", "c"];
            labels[position] = value;
            let [registry, schema, language] = labels;
            let input = GetCodeBindingSourceInput::new(registry, schema, language);
            let client = schemas::Client::new(config.clone());
            let error = drive(client.get_code_binding_source(input)).unwrap_err();
            assert_label(error, member);
        }
        assert_label(
            drive(s3.get_bucket_policy(GetBucketPolicyInput::new(value))).unwrap_err(),
            "Bucket",
        );
    }
    let mut input = GetBucketPolicyInput::new("bucket");
    input.expected_bucket_owner = Some("1\r\nHost: elsewhere".to_owned());
    let error = drive(s3.get_bucket_policy(input)).unwrap_err();
    assert!(matches!(error, SdkError::Build(BuildError::Request(_))), "{error:?}");
    let error = drive(s3.get_bucket_policy(GetBucketPolicyInput::new("b".repeat(1 << 16))));
    assert!(matches!(error, Err(SdkError::Build(BuildError::Request(_)))), "{error:?}");
    assert_eq!(requests.lock().unwrap().len(), 0);
}

#[track_caller]
fn assert_label<E: std::fmt::Debug>(error: SdkError<E>, expected: &str) {
    match error {
        SdkError::Build(BuildError::Label { member, .. }) => assert_eq!(member, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn transport_that_fails_is_the_source_of_the_error() {
    let transport = |_: Request<Bytes>| {
        ready(Err::<Response<Full<Bytes>>, _>(std::io::Error::other("no route to host")))
    };
    let client = s3::Client::new(Config::new(transport, ENDPOINT, LIMIT));
    let error = drive(client.get_bucket_policy(GetBucketPolicyInput::new("bucket"))).unwrap_err();
    assert!(matches!(error, SdkError::Send(_)), "{error:?}");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no route to host");
}

#[test]
fn pool_budget_and_history_are_shared_between_services() {
    let (pool, history) = (BufferPool::new(1 << 20), LengthHistory::new());
    let budget = MemoryBudget::new(2 * LIMIT);
    let reader = Reader::new(LIMIT).pool(&pool).budget(&budget).history(&history);
    let (transport, _) = recorder(vec![0; 100 << 10]);
    let config = Config::new(transport, ENDPOINT, reader);
    let input = GetCodeBindingSourceInput::new("r", "s", "l");
    let schemas = schemas::Client::new(config.clone());
    let source = drive(schemas.get_code_binding_source(input)).unwrap().body.unwrap();
    assert_eq!((pool.stats().outstanding, budget.in_use() > 0), (1, true));
    drop(source);
    assert_eq!((pool.stats().outstanding, budget.in_use()), (0, 0));

    // A limit above the budget is refused, in the client of the other service too.
    let client =
        s3::Client::new(Config { reader: config.reader.clone().limit(3 * LIMIT), ..config });
    let error = drive(client.get_bucket_policy(GetBucketPolicyInput::new("bucket"))).unwrap_err();
    assert!(matches!(error, SdkError::Payload(CollectError::Budget { .. })), "{error:?}");
}

#[test]
fn reads_and_calls_are_send() {
    fn assert_shared<T: Clone + Send + Sync>() {}
    assert_shared::<Reader>();
    assert_shared::<BufferPool>();
    assert_shared::<MemoryBudget>();
    assert_shared::<LengthHistory>();

    fn assert_send<T: Send>(_: T) {}
    fn assert_reads<B>(response: fn() -> Response<B>)
    where
        B: Body<Data: Send, Error: Send> + Send,
    {
        let reader = Reader::new(LIMIT);
        assert_send(payload::blob(response(), LIMIT));
        assert_send(payload::text(response(), LIMIT));
        assert_send(reader.blob(response()));
        assert_send(reader.text(response()));
    }
    assert_reads(Response::<Full<Bytes>>::default);

    let transport = |_| ready(Ok::<_, Infallible>(Response::<Full<Bytes>>::default()));
    let client = s3::Client::new(Config::new(transport, ENDPOINT, LIMIT));
    assert_send(client.get_bucket_policy(GetBucketPolicyInput::new("bucket")));
}
