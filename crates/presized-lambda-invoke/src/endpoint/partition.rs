//! The partitions of AWS: which one a region is in, and the domains of its hosts.
//!
//! They are those of
//! <https://github.com/boto/botocore/blob/develop/botocore/data/partitions.json>.

/// Regions under one root of accounts and domains. All of them have FIPS and dual stack hosts.
#[derive(Debug)]
pub(super) struct Partition {
    /// What the names of its regions begin with, before a word and a number.
    region_prefix: &'static str,
    domain: &'static str,
    dual_stack_domain: &'static str,
}

impl Partition {
    /// The partition of `region`, told by its name, so that a region of tomorrow has one too.
    ///
    /// A name of no known form is in `aws`, as in the rules of AWS's own clients: that is where
    /// a new form of name would come up first.
    pub(super) fn of(region: &str) -> &'static Self {
        OTHERS.iter().find(|partition| partition.has(region)).unwrap_or(&AWS)
    }

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

/// aws, and aws-us-gov, which has the same domains. No prefix is asked for.
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
