//! The time that a server announces to keep an idle connection.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{builder, client};

/// A load balancer that has forgotten a connection answers with a reset.
#[tokio::test]
async fn connection_is_not_used_after_the_time_that_the_server_announces() {
    for (header, wait, tls) in [
        ("timeout=1", 1_500, false),
        ("max=9, timeout=2", 1_100, false),
        ("timeout=0", 0, false),
        ("timeout=2", 1_100, true),
        ("timeout=0", 0, true),
    ] {
        let used = Mutex::new(HashSet::new());
        let reply =
            move |_, request: &Recorded| match used.lock().unwrap().insert(request.connection) {
                true => Reply::response("200 OK", &[("Keep-Alive", header)], "1"),
                false => Reply::Reset(Default::default()),
            };
        let server = if tls { Scripted::start_tls(reply) } else { Scripted::start(reply) };
        let client = client(&server);
        for wait in [0, wait] {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            assert_eq!(client.invoke("f").send().await.unwrap().payload, "1", "{header}, {tls}");
        }
        assert_eq!(server.requests().len(), 2, "{header}, {tls}");
    }
}

#[tokio::test]
async fn connection_is_used_again_within_the_time_that_the_server_announces() {
    for header in ["timeout=15", "timeout=99999999999999999999", "max=5", "timeout=x", "timeout"] {
        let reply = move |_, _: &_| Reply::response("200 OK", &[("Keep-Alive", header)], "1");
        for server in [Scripted::start(reply), Scripted::start_tls(reply)] {
            let client = builder(&server).idle_timeout(Duration::from_secs(20)).build().unwrap();
            for _ in 0..5 {
                assert_eq!(client.invoke("f").send().await.unwrap().payload, "1");
            }
            assert!(server.requests().iter().all(|request| request.connection == 0), "{header}");
        }
    }
}
