//! The categories of LoCoMo's questions.

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Category {
    /// Several turns hold the answer together.
    MultiHop,
    /// It asks for a time.
    Temporal,
    /// The answer needs knowledge of the world beside what was said.
    OpenDomain,
    /// One turn holds the answer.
    SingleHop,
    /// It takes something for granted that was not said; its evidence is what it distorts.
    Adversarial,
}

impl Category {
    /// The categories whose questions have an answer.
    pub(crate) const ANSWERED: [Self; 4] = [Self::MultiHop, Self::Temporal, Self::OpenDomain, Self::SingleHop];

    /// The category with a number of LoCoMo.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::MultiHop),
            2 => Some(Self::Temporal),
            3 => Some(Self::OpenDomain),
            4 => Some(Self::SingleHop),
            5 => Some(Self::Adversarial),
            _ => None,
        }
    }

    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MultiHop => "multi-hop",
            Self::Temporal => "temporal",
            Self::OpenDomain => "open-domain",
            Self::SingleHop => "single-hop",
            Self::Adversarial => "adversarial",
        }
    }
}
