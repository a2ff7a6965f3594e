//! Calls a function of AWS Lambda with credentials from a program.
//!
//! `AWS_REGION=… cargo run -p invoke --bin credentials -- NAME PROGRAM [ARGUMENT]...`
//!
//! The program must write the JSON of `credential_process` in an AWS profile
//! (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>), as
//! `aws configure export-credentials` does.
//!
//! Any implementation of `ProvideCredentials` works. The default chain of the crate `aws-config`
//! has profiles, SSO, web identity, and the metadata of containers and instances. In the
//! repository, benches/peers/examples/aws_config.rs is a complete program with it.
//!
//! ```text
//! let config = aws_config::load_defaults(BehaviorVersion::latest()).await;
//! let provider = config.credentials_provider().ok_or("no credentials provider")?;
//! let client = Client::builder().environment().credentials(provider).build()?;
//! ```

use std::error::Error;
use std::time::SystemTime;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{self, future};
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use presized_lambda_invoke::{Client, Credentials, ProvideCredentials};
use serde::Deserialize;
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(function), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("usage: credentials NAME PROGRAM [ARGUMENT]...".into());
    };
    let provider = ProcessCredentials { program, arguments: arguments.collect() };

    let client = Client::builder().environment().credentials(provider).build()?;
    println!("{}", client.invoke(function).send().await?.text()?);
    Ok(())
}

/// A provider that runs a program. The client runs it again before the credentials expire.
#[derive(Debug)]
struct ProcessCredentials {
    program: String,
    arguments: Vec<String>,
}

impl ProcessCredentials {
    async fn run(&self) -> provider::Result {
        let mut command = Command::new(&self.program);
        // The call may be dropped while the program runs.
        command.args(&self.arguments).kill_on_drop(true);
        let output = command.output().await.map_err(CredentialsError::provider_error)?;
        if !output.status.success() {
            // Its output may have a secret, so no message shows it.
            let message = format!("{} exited with {}", self.program, output.status);
            return Err(CredentialsError::provider_error(message));
        }
        parse(&output.stdout).map_err(CredentialsError::provider_error)
    }
}

impl ProvideCredentials for ProcessCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.run())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Written {
    version: u32,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

fn parse(json: &[u8]) -> Result<Credentials, Box<dyn Error + Send + Sync>> {
    let written: Written = serde_json::from_slice(json)?;
    if written.version != 1 {
        return Err(format!("unknown version {}", written.version).into());
    }
    let expiration = match written.expiration {
        Some(text) => {
            let time = DateTime::from_str(&text, Format::DateTimeWithOffset)?;
            Some(SystemTime::try_from(time)?)
        }
        None => None,
    };
    Ok(Credentials::new(
        written.access_key_id,
        written.secret_access_key,
        written.session_token,
        expiration,
        "ProcessCredentials",
    ))
}
