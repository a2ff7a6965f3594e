//! Three bodies that are refused, each in a new process that reports its memory.

use std::env;
use std::error::Error;
use std::net::SocketAddr;
use std::process::Command;

use http::Method;
use presized::ResponseExt;

use crate::client::Client;
use crate::server::Served;
use crate::table;
use crate::usage;

/// The first argument of the process that refuses a body.
pub(crate) const REFUSE: &str = "refuse";

/// A body, and a limit with which it cannot be read.
struct Refusal {
    served: Served,
    limit: u64,
}

const REFUSALS: [Refusal; 3] = [
    // The declared length is over the limit.
    Refusal { served: Served { declared: Some(64 << 20), sent: 64 << 20 }, limit: 1 << 20 },
    // No length is declared, and the body grows over the limit.
    Refusal { served: Served { declared: None, sent: 64 << 20 }, limit: 1 << 20 },
    // The limit allows the declared length, but the server sends 10 bytes.
    Refusal { served: Served { declared: Some(1 << 40), sent: 10 }, limit: 2 << 40 },
];

/// Starts a process for each refusal.
pub(crate) fn show(server: SocketAddr) -> Result<(), crate::Error> {
    println!(
        "Three bodies that are refused, and the memory that each took, with the buffers of hyper:"
    );
    for index in 0..REFUSALS.len() {
        let mut child = Command::new(env::current_exe()?);
        let status = child.args([REFUSE, &server.to_string(), &index.to_string()]).status()?;
        if !status.success() {
            return Err(format!("the process that refuses a body failed: {status}").into());
        }
    }
    Ok(())
}

/// Refuses a body in this process, and prints the error and the memory.
pub(crate) async fn refuse(mut args: impl Iterator<Item = String>) -> Result<(), crate::Error> {
    let mut next = || args.next().ok_or("too few arguments");
    let (server, index): (_, usize) = (next()?.parse()?, next()?.parse()?);
    let Refusal { served, limit } = REFUSALS.get(index).ok_or("no such refusal")?;

    let response = Client::connect(server).await?.get(*served).await?;
    let before = usage::memory();
    let result = response.collect_presized(&Method::GET, *limit).await;
    let after = usage::memory();
    let Err(error) = result else {
        return Err(format!("{served} was not refused").into());
    };

    let length = match served.declared {
        Some(declared) => format!("{} declared", table::bytes(declared)),
        None => "chunked".to_owned(),
    };
    println!("\n  {length}, {} sent, limit {}", table::bytes(served.sent), table::bytes(*limit));
    println!("    error   {}", lines(&error));
    println!("    kept    {} bytes", table::count(error.partial().len() as u64));
    if let (Some(before), Some(after)) = (before, after) {
        let used = after.peak.saturating_sub(before.peak);
        let reserved = after.peak_reserved.saturating_sub(before.reserved);
        println!("    memory  {} used, {} reserved", table::bytes(used), table::bytes(reserved));
    }
    Ok(())
}

/// Formats an error and its sources, each on a line of its own.
fn lines(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}\n            {}", lines(source)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use presized::CollectError;
    use tokio::runtime;

    use super::*;
    use crate::server;

    #[test]
    fn each_refusal_is_an_error_of_its_own() -> Result<(), crate::Error> {
        let server = server::start()?;
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let mut errors = Vec::new();
        for Refusal { served, limit } in REFUSALS {
            errors.push(runtime.block_on(async {
                let response = Client::connect(server).await?.get(served).await?;
                let result = response.collect_presized(&Method::GET, limit).await;
                Ok::<_, crate::Error>(result.err().ok_or("not refused")?)
            })?);
        }
        let [declared, grown, short] = &errors[..] else { panic!("{errors:?}") };
        assert!(matches!(declared, CollectError::DeclaredTooLarge { .. }), "{declared:?}");
        assert!(matches!(grown, CollectError::TooLarge { .. }), "{grown:?}");
        assert!(matches!(short, CollectError::Body { received: 10, .. }), "{short:?}");
        Ok(())
    }
}
