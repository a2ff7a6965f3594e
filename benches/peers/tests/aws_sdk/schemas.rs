//! GetCodeBindingSource, whose payload is a blob.

use aws_sdk_schemas::Client;
use aws_sdk_schemas::operation::get_code_binding_source::builders::GetCodeBindingSourceFluentBuilder;
use presized::{LengthHistory, Reader};
use presized_aws_sdk::Interceptor;
use presized_support::scripted::{Reply, Scripted};

use crate::chunked;
use crate::clients::schemas;

#[tokio::test]
async fn a_source_is_the_blob_that_was_sent() {
    let trailers = "x-sum: 1\r\n";
    let table: [(Reply, &[u8]); 5] = [
        (Reply::response("200 OK", &[], b"\x00\xffPK"), b"\x00\xffPK"),
        (chunked(&["he", "l", "lo"], ""), b"hello"),
        (chunked(&["hello"], trailers), b"hello"),
        (Reply::Close("HTTP/1.1 200 OK\r\n\r\nhello".into()), b"hello"),
        (Reply::response("200 OK", &[], ""), b""),
    ];
    for (reply, expected) in table {
        let server = Scripted::in_turn([reply.clone()]);
        let client = schemas(server.address(), Interceptor::new(5));
        let output = source(&client).send().await.unwrap();
        assert_eq!(output.body.unwrap_or_default().as_ref(), expected, "{reply:?}");
    }
}

#[tokio::test]
async fn history_learns_from_responses_without_a_length() {
    let server = Scripted::start(|_, _| chunked(&["hello"], ""));
    let history = LengthHistory::new();
    let client = schemas(server.address(), Interceptor::new(Reader::new(5).history(&history)));
    source(&client).send().await.unwrap();
    assert_eq!(history.expected(), Some(5));
}

pub(crate) fn source(client: &Client) -> GetCodeBindingSourceFluentBuilder {
    client.get_code_binding_source().registry_name("r").schema_name("s").language("Java8")
}
