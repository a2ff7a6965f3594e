//! The partitions of AWS: the regions of each, and the domains of its hosts
//! (<https://github.com/boto/botocore/blob/develop/botocore/data/partitions.json>).
//!
//! No crate of AWS for Rust exports them. Each SDK crate, such as aws-sdk-lambda 1.156, has them in a
//! private module. aws-types 1.7 and aws-config 1.13 have no partitions (read on 2026-12-01).

/// A group of regions with the same domains. Each partition has FIPS and dual-stack hosts.
#[derive(Debug)]
pub(super) struct Partition {
    /// The prefix of its region names, before a word and a number.
    region_prefix: &'static str,
    domain: &'static str,
    dual_stack_domain: &'static str,
}

impl Partition {
    /// Returns the partition of `region` by the form of its name, so that it knows new regions too.
    ///
    /// A name of another form belongs to `aws`, as in the endpoint rules of the AWS SDKs.
    pub(super) fn of(region: &str) -> &'static Self {
        OTHERS.iter().find(|partition| partition.has(region)).unwrap_or(&AWS)
    }

    /// Returns the host of Lambda in `region`.
    pub(super) fn host(&self, region: &str, fips: bool, dual_stack: bool) -> String {
        let service = if fips { "lambda-fips" } else { "lambda" };
        let domain = if dual_stack { self.dual_stack_domain } else { self.domain };
        format!("{service}.{region}.{domain}")
    }

    fn has(&self, region: &str) -> bool {
        region.strip_prefix(self.region_prefix).and_then(|rest| rest.split_once('-')).is_some_and(
            |(word, number)| {
                !word.is_empty()
                    && !number.is_empty()
                    && number.bytes().all(|byte| byte.is_ascii_digit())
            },
        )
    }
}

/// The partitions aws and aws-us-gov, which have the same domains.
const AWS: Partition =
    Partition { region_prefix: "", domain: "amazonaws.com", dual_stack_domain: "api.aws" };

const OTHERS: &[Partition] = &[
    // aws-cn
    Partition {
        region_prefix: "cn-",
        domain: "amazonaws.com.cn",
        dual_stack_domain: "api.amazonwebservices.com.cn",
    },
    // aws-iso
    Partition {
        region_prefix: "us-iso-",
        domain: "c2s.ic.gov",
        dual_stack_domain: "api.aws.ic.gov",
    },
    // aws-iso-b
    Partition {
        region_prefix: "us-isob-",
        domain: "sc2s.sgov.gov",
        dual_stack_domain: "api.aws.scloud",
    },
    // aws-iso-e
    Partition {
        region_prefix: "eu-isoe-",
        domain: "cloud.adc-e.uk",
        dual_stack_domain: "api.cloud-aws.adc-e.uk",
    },
    // aws-iso-f
    Partition {
        region_prefix: "us-isof-",
        domain: "csp.hci.ic.gov",
        dual_stack_domain: "api.aws.hci.ic.gov",
    },
    // aws-eusc
    Partition {
        region_prefix: "eusc-de-",
        domain: "amazonaws.eu",
        dual_stack_domain: "api.amazonwebservices.eu",
    },
];
