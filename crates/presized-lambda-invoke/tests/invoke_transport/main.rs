//! The sockets of the Invoke client: TLS and TCP keep-alive.

#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
mod tls;

use std::time::Duration;

use aws_credential_types::Credentials;
use presized_lambda_invoke::{Client, ClientBuilder};

/// A NAT gateway drops a flow after 350 s without traffic, and plain `SO_KEEPALIVE` starts after two
/// hours.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn connection_is_kept_alive_while_the_function_runs() {
    use presized_support::scripted::{Reply, Scripted};

    let server = Scripted::in_turn([Reply::Hang("".into())]);
    let client = builder(server.url()).build().unwrap();
    let call = tokio::spawn(client.invoke("f").send());
    let asked_in = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            if let Some(left) = keepalive_timer(server.address().port()) {
                break left;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let asked_in = asked_in.await.expect("the kernel has a timer for the connection");
    assert!(asked_in <= Duration::from_secs(60), "{asked_in:?}");
    call.abort();
}

/// Returns the time until the next keep-alive probe of the connection to `port`, if the kernel will
/// send one: `tr` and `tm->when` in `/proc/net/tcp`, in hundredths of a second.
#[cfg(target_os = "linux")]
fn keepalive_timer(port: u16) -> Option<Duration> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the table of the kernel");
    let peer = format!(":{port:04X}");
    table.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(2);
        let (remote, state) = (fields.next()?, fields.next()?);
        let (timer, left) = fields.nth(1)?.split_once(':')?;
        let keeps_alive = remote.ends_with(&peer) && state == ESTABLISHED && timer == KEEPALIVE;
        let hundredths = u64::from_str_radix(left, 16).ok()?;
        keeps_alive.then(|| Duration::from_millis(hundredths * 10))
    })
}

fn builder(endpoint: String) -> ClientBuilder {
    Client::builder()
        .region("us-east-1")
        .system_roots(false)
        .endpoint(endpoint)
        .credentials(Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None, None, "test"))
        // A test that hangs fails. No test waits for it.
        .timeout(Duration::from_secs(20))
}

#[cfg(target_os = "linux")]
const ESTABLISHED: &str = "01";
#[cfg(target_os = "linux")]
const KEEPALIVE: &str = "02";
