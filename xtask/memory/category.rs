//! The categories of LoCoMo's questions.

/// Category of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Category {
    /// The answer combines several turns.
    MultiHop,
    /// The question asks when something happened.
    Temporal,
    /// The answer needs general knowledge in addition to the conversation.
    OpenDomain,
    /// The answer is in one turn.
    SingleHop,
    /// The question assumes something that nobody said. The evidence is the turn that the question misrepresents.
    Adversarial,
}

impl Category {
    /// The categories whose questions have an answer.
    pub(crate) const ANSWERED: [Self; 4] = [Self::MultiHop, Self::Temporal, Self::OpenDomain, Self::SingleHop];

    /// Returns the category for a number in LoCoMo.
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

    /// Returns the name of the category in tables.
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
