//! The clients that are compared.

use presized_benches::chart::Color;
use serde::{Deserialize, Serialize};

/// A client of the Invoke API, with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// aws-sdk-lambda with its defaults.
    Sdk,
    /// aws-sdk-lambda with the interceptor of presized.
    Interceptor,
    /// aws-sdk-lambda with the interceptor and a pool.
    InterceptorPool,
    /// The client of presized with its defaults.
    Presized,
    /// The client of presized with a pool.
    PresizedPool,
}

impl Way {
    /// The name in tables and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sdk => "aws-sdk-lambda",
            Self::Interceptor => "with the interceptor",
            Self::InterceptorPool => "interceptor and pool",
            Self::Presized => "presized",
            Self::PresizedPool => "presized, pool",
        }
    }

    /// The color in charts.
    pub fn color(self) -> Color {
        match self {
            Self::Sdk => Color::Grey,
            Self::Interceptor | Self::Presized => Color::Blue,
            Self::InterceptorPool | Self::PresizedPool => Color::Green,
        }
    }
}
