//! Retention policies for memory entries. A policy determines the lifespan of an entry and the decay of its activation.
//!
//! A [`Condition`] tests the [`Facts`] about an entry. [`Policies`] are conditions with a lifespan and a decay, which
//! configuration files define. [`EntryRules`] are the rules of a single entry, and take precedence over policies.
//! [`decide`] finds the first rule or policy whose condition holds, and explains the result. [`activation_loss`] and
//! [`temporal_weight`] are the time-dependent formulas of ranking.
//!
//! A policy or rule can also set an escalation flag, such as `candidate_for_fine_tuning`. The flag is a label for the
//! entries for which the condition holds. It does not affect their lifespan.
//!
//! Deliberately absent: file access and storage (callers pass names and texts), a clock (callers pass ages), and the
//! removal of expired entries.
//!
//! | question | module |
//! |---|---|
//! | How is a condition parsed and evaluated? | `condition` |
//! | How are policies read from configuration files, and written as TOML? | `reader`, `layer`, `policies`, `writer` |
//! | How are the retention rules of an entry parsed? | `rules` |
//! | How is the retention of an entry determined and explained? | `candidate`, `retention`, `decision`, `explanation` |
//! | How does time lower the score of an entry? | `activation`, `temporal`, `scope`, `rates_reader` |
//!
//! ```
//! use aurora_memory_policy::*;
//!
//! let project = "
//! [memory.policy.fintech_critical]
//! condition = \"domain == 'fintech' OR contains_tag('security')\"
//! lifespan = '730_days'
//! decay = 'none'
//! ";
//! let file = ConfigFile { layer: Layer::Project, name: ".aurora/config.toml", text: project };
//! let policies = Policies::load(&[file])?;
//! let facts = Facts { domain: Some("fintech"), age_days: 30.0, ..Facts::default() };
//! let decision = decide(&policies, &EntryRules::default(), &facts);
//! assert_eq!((decision.policy.as_str(), decision.layer), ("fintech_critical", Layer::Project));
//! assert_eq!((decision.state, decision.expires_in_days), (State::Active, Some(700.0)));
//! assert_eq!(
//!     decision.steps[0].explanation,
//!     "The condition holds: `domain` is 'fintech', there are no tags. The entry is kept for 730 days after its creation or \
//!      last edit; it expires in 700 days. Its activation does not fall."
//! );
//! # Ok::<(), aurora_diagnostics::Diagnostics>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod activation;
mod candidate;
mod condition;
mod decision;
mod explanation;
mod facts;
mod layer;
mod lifespan;
mod policies;
mod rates_reader;
mod reader;
mod retention;
mod rules;
mod scope;
mod temporal;
mod writer;

pub use activation::{Rates, activation_loss};
pub use condition::{Condition, ConditionError};
pub use decision::{Decision, Step, decide};
pub use facts::Facts;
pub use layer::{ConfigFile, Layer, PolicyLayer};
pub use lifespan::{Decay, Lifespan};
pub use policies::{Policies, Policy};
pub use retention::{Retention, State, retention};
pub use rules::{EntryRules, RulesError, check_rule};
pub use scope::{Scope, UnknownScope};
pub use temporal::{DecayRates, temporal_weight};
