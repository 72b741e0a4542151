//! Retention policies of memory entries: which entries are kept, for how long, and how their activation decays.
//!
//! A [`Condition`] tests the [`Facts`] about an entry. [`Policies`] are conditions with a lifespan and a decay, in layers of
//! configuration. [`EntryRules`] are the rules of a single entry and take precedence over policies. [`decide`] finds the first
//! rule or policy that holds and explains the result. [`activation_loss`] and [`temporal_weight`] are the time-dependent
//! formulas of ranking.
//!
//! Deliberately absent: files and storage (callers pass names and texts), a clock (callers pass ages), and the handling of
//! expired entries.
//!
//! | question | module |
//! |---|---|
//! | What is a condition, and when does it hold? | `condition` |
//! | How does a configuration become policies, and a seed's JSON become TOML? | `reader`, `layer`, `policies`, `writer` |
//! | Which rules does an entry define for itself? | `rules` |
//! | What happens to an entry, and why? | `candidate`, `retention`, `decision`, `explanation` |
//! | How much does time lower a rank? | `activation`, `temporal`, `scope`, `rates_reader` |
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
