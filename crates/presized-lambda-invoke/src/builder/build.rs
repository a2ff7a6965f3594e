use std::sync::Arc;

use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};

use super::ClientBuilder;
use crate::client::ClientInner;
use crate::clock::Clock;
use crate::connector::Connector;
use crate::credentials::{self, CredentialsCache, NoCredentials, Provider};
use crate::endpoint::{self, Endpoint, EndpointError, EndpointSettings};
use crate::retry_quota::RetryQuota;
use crate::sign::Signer;
use crate::trace;
use crate::transport::Transport;
use crate::user_agent_error::UserAgentError;
use crate::{Client, Error};

impl ClientBuilder {
    /// Builds the client. It makes no connection yet.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Config`](crate::ErrorKind::Config) if a setting is missing or invalid,
    /// or if settings contradict each other. Returns
    /// [`ErrorKind::Credentials`](crate::ErrorKind::Credentials) if no credentials are set and the
    /// environment has none or is not read.
    pub fn build(self) -> Result<Client, Error> {
        self.build_inner().map(Client::new)
    }

    pub(super) fn build_inner(self) -> Result<ClientInner, Error> {
        let environment = self.environment;
        let lookup = |name: &str| environment.and_then(|read| read(name));
        let region = self.region.or_else(|| endpoint::region(&lookup)).map(endpoint::split_fips);
        let (region, is_pseudo) =
            region.map_or((None, false), |(region, is_pseudo)| (Some(region), is_pseudo));
        let settings = EndpointSettings {
            endpoint: self.endpoint.as_ref().map(|(setting, url)| (*setting, &**url)),
            region: region.as_deref(),
            fips: is_pseudo || self.fips.unwrap_or_else(|| endpoint::fips(&lookup)),
            dual_stack: self.dual_stack.unwrap_or_else(|| endpoint::dual_stack(&lookup)),
        };
        let endpoint = Endpoint::resolve(&settings, &lookup).map_err(Error::config)?;
        let region = region.ok_or_else(|| Error::config(EndpointError::NoRegion))?;
        let credentials = match self.credentials {
            Some(provider) => provider,
            None if environment.is_none() => {
                return Err(Error::credentials(NoCredentials::NotSet));
            }
            None => Provider::new(credentials::from_env(&lookup).map_err(Error::credentials)?),
        };
        let user_agent = self.user_agent.as_deref().unwrap_or(AGENT);
        let user_agent = HeaderValue::from_str(user_agent)
            .map_err(|source| Error::config(UserAgentError(source)))?;
        let proxy = self.proxy.resolve(&endpoint, self.http_version, &lookup);
        let proxy = proxy.map_err(Error::config)?;
        let connector = if endpoint.is_tls() {
            let config = self.tls.client_config().map_err(Error::config)?;
            Connector::tls(config, self.http_version, self.connect_timeout, proxy)
        } else {
            Connector::tcp(self.http_version, self.connect_timeout, proxy)
        };
        let transport = Transport::new(connector, self.idle_timeout);
        let clock = Arc::<Clock>::default();
        // The time of Lambda decides about the expiry too.
        let ours = Arc::clone(&clock);
        let now = move || ours.now();
        let headers = HeaderMap::from_iter([
            (HOST, endpoint.host_header().clone()),
            (USER_AGENT, user_agent),
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        ]);
        Ok(ClientInner {
            endpoint,
            transport,
            credentials: CredentialsCache::new(credentials, now),
            signer: Signer::new(&region),
            clock,
            function_environment: trace::in_function(environment),
            headers,
            retry: self.retry,
            retry_quota: RetryQuota::new(self.retry_quota),
            hook: self.hook,
            defaults: self.defaults,
        })
    }
}

pub(super) const AGENT: &str = concat!("presized/", env!("CARGO_PKG_VERSION"), " lambda-invoke");

#[cfg(all(test, any(feature = "ring", feature = "aws-lc-rs")))]
mod tests;
