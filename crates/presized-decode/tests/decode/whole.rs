//! Whole content in every coding.

use http::HeaderMap;
use http_body_util::BodyExt;
use presized_decode::{Coding, Codings, Decode, DecodeError};
use presized_support::mock::{Mock, Step};

use crate::{Form, brotli, decode, text};

#[tokio::test]
async fn content_is_the_same_for_frames_of_every_size() {
    for len in [0, 1, 5, 1000, 70_000, 300_000] {
        let content = text(len);
        for form in Form::ALL {
            let coded = form.code(&content);
            for size in [1, 2, 3, 7, 100, 4096, usize::MAX] {
                let (decoded, result) = decode(form.coding(), &coded, size).await;
                assert!(result.is_ok(), "{form:?} {len} {size}: {result:?}");
                assert!(decoded == content, "{form:?} {len} {size}: {}", decoded.len());
            }
        }
    }
}

#[tokio::test]
async fn random_content_is_the_same() {
    let mut random = fastrand::Rng::with_seed(1);
    let content: Vec<u8> = (0..200_000).map(|_| random.u8(..)).collect();
    for form in Form::ALL {
        let coded = form.code(&content);
        for size in [1, 1000, usize::MAX] {
            let (decoded, result) = decode(form.coding(), &coded, size).await;
            assert!(result.is_ok() && decoded == content, "{form:?} {size}: {result:?}");
        }
    }
}

#[tokio::test]
async fn two_codings_are_decoded_in_reverse_order() {
    let content = text(100_000);
    for first in Form::ALL {
        for second in Form::ALL {
            let coded = second.code(&first.code(&content));
            let codings = Codings::new([first.coding(), second.coding()]).unwrap();
            for size in [1, usize::MAX] {
                let (decoded, result) = decode(codings.clone(), &coded, size).await;
                assert!(result.is_ok(), "{first:?} {second:?} {size}: {result:?}");
                assert!(decoded == content, "{first:?} {second:?} {size}");
            }
        }
    }
}

#[tokio::test]
async fn four_codings_are_decoded() {
    let content = text(10_000);
    let forms = [Form::Gzip, Form::Brotli, Form::Zstd, Form::Zlib];
    let coded = forms.iter().fold(content.clone(), |coded, form| form.code(&coded));
    let codings = Codings::new(forms.map(Form::coding)).unwrap();
    let (decoded, result) = decode(codings, &coded, 5).await;
    assert!(result.is_ok() && decoded == content, "{result:?}");
}

#[tokio::test]
async fn brotli_of_every_window_is_decoded() {
    let content = text(300_000);
    for bits in 10..=23 {
        let (decoded, result) = decode(Coding::Brotli, &brotli(&content, 9, bits), 999).await;
        assert!(result.is_ok() && decoded == content, "{bits}: {result:?}");
    }
}

#[tokio::test]
async fn body_without_a_byte_is_empty() {
    for form in Form::ALL {
        let body = Mock::new([Step::Data("".into()), Step::Wait]);
        let content = Decode::new(form.coding(), body).collect().await.unwrap().to_bytes();
        assert!(content.is_empty(), "{form:?}");
    }
    // Nothing that was coded with two codings is two bytes of nothing.
    let codings = Codings::new([Coding::Gzip, Coding::Zstd]).unwrap();
    let (content, result) = decode(codings, &Form::Zstd.code(b""), 1).await;
    assert!(result.is_ok() && content.is_empty(), "{result:?}");
}

fn hello_with(trailers: impl IntoIterator<Item = HeaderMap>) -> Decode<Mock> {
    let data = Step::Data(Form::Gzip.code(b"hello").into());
    let trailers = trailers.into_iter().map(Step::Trailers);
    Decode::new(Coding::Gzip, Mock::new(std::iter::once(data).chain(trailers)))
}

#[tokio::test]
async fn frames_of_trailers_follow_the_content_as_one_and_keep_every_value() {
    let trailers = |fields: &[(&'static str, &'static str)]| {
        let mut map = HeaderMap::new();
        for &(name, value) in fields {
            map.append(name, value.parse().unwrap());
        }
        map
    };
    let body = hello_with([
        trailers(&[("x-both", "1"), ("x-both", "2"), ("x-first", "3")]),
        trailers(&[("x-second", "4"), ("x-both", "5")]),
    ]);
    let collected = body.collect().await.unwrap();
    let found = collected.trailers().unwrap();
    let values = |name| found.get_all(name).iter().collect::<Vec<_>>();
    assert_eq!(values("x-both"), ["1", "2", "5"]);
    assert_eq!(values("x-first"), ["3"]);
    assert_eq!(values("x-second"), ["4"]);
    assert_eq!(collected.to_bytes(), "hello");
}

#[tokio::test]
async fn more_trailers_than_a_map_holds_are_an_error() {
    let trailers = |from: u32, to: u32| {
        let field = |index| (format!("x-{index}").parse().unwrap(), "7".parse().unwrap());
        HeaderMap::from_iter((from..to).map(field))
    };
    let mut body = hello_with([trailers(0, 20_000), trailers(20_000, 40_000)]);
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "hello");
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(matches!(error, DecodeError::Body { .. }), "{error:?}");
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn frames_of_a_body_without_coding_pass_through() {
    let body = Mock::of(["hello ", "world"]).exact(11);
    let mut body = Decode::new(Codings::default(), body);
    assert_eq!(http_body::Body::size_hint(&body).exact(), Some(11));
    for expected in ["hello ", "world"] {
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), expected);
    }
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn bodies_are_send_and_sync() {
    fn check(_: &(impl Send + Sync)) {}
    let codings = Codings::new(Coding::ALL.iter().copied()).unwrap();
    check(&Decode::new(codings, Mock::default()));
}
