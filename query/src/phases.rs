//! Durations of the phases of a search.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

macro_rules! phases {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Durations of the phases of a search. They are serialised in milliseconds. Keyword and vector search may run
        /// at the same time, so that the sum of the phases can exceed the duration of the search. With several indexes,
        /// the durations of a phase are added.
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Phases {$(
            $(#[doc = $doc])+
            #[cfg_attr(feature = "schema", schema(value_type = f64))]
            pub $name: Duration,
        )+}

        impl Phases {
            /// Iterates over the names and durations of the phases, in the order of a search.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, Duration)> {
                [$((stringify!($name), self.$name)),+].into_iter()
            }
        }

        impl AddAssign for Phases {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)+
            }
        }
    };
}

phases! {
    /// Parsing the query, correcting its spelling, and expanding it.
    understand,
    /// Selecting the chunks that pass the filters, and counting facets.
    filter,
    /// Embedding the query.
    embed,
    /// Finding chunks by keywords.
    keywords,
    /// Finding chunks by vectors.
    vectors,
    /// Finding chunks by names, and reading the evidence of all candidates.
    candidates,
    /// Scoring and ordering the candidates, and folding copies.
    rank,
    /// Reading the best candidates with the reranker.
    rerank,
    /// Reading the texts of the results, their snippets, and the states of their files.
    present,
}

impl Phases {
    /// Whether no phase was measured, as for a list of chunks without a query.
    pub fn is_empty(&self) -> bool {
        self.iter().all(|(_, duration)| duration.is_zero())
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, duration) in self.iter() {
            map.serialize_entry(name, &milliseconds(duration))?;
        }
        map.end()
    }
}

/// Converts a duration to milliseconds with three decimals.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Measures consecutive phases.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring the first phase.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the duration of the current phase, and starts the next one.
    pub(crate) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now))
    }
}
