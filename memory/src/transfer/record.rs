//! The format of an export. The first line is a header, and each following line contains one entry.
//!
//! ```json
//! {"aurora_memory": 1, "entries": 2}
//! {"id": "note:a", "scope": "user", "created_at": "2026-01-31T12:00:00Z", "edited_at": "2026-01-31T12:00:00Z", "entry": {…}}
//! ```

use aurora_memory_policy::Scope;
use std::borrow::Cow;

use aurora_storage::{AccessRecord, Judgements, Verdict};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Version of the export format.
pub(super) const VERSION: u32 = 1;
/// Field that only a header line has.
pub(super) const HEADER: &str = "aurora_memory";
/// Field that only the line of an entry has.
pub(super) const ENTRY: &str = "entry";

/// The first line of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// Version of the export format; see [`VERSION`].
    pub(super) aurora_memory: u32,
    /// Number of entries that follow.
    pub(super) entries: u64,
}

/// The line of an entry. `E` is the type of the entry's document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine<'l, E> {
    pub(super) id: Cow<'l, str>,
    pub(super) scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    pub(super) created_at: Time,
    pub(super) edited_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) access: Option<Access>,
    pub(super) entry: E,
}

/// A time in Unix seconds. It is serialised as RFC 3339, or as a number if RFC 3339 cannot represent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time(pub(super) i64);

/// The serialised form of an access record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Time>,
    #[serde(default)]
    recent: Vec<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdicts: Option<Verdicts>,
}

/// Number of judgements with each verdict, and the time of the last judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdicts {
    good: u32,
    helpful: u32,
    unhelpful: u32,
    bad: u32,
    last: Time,
}

impl Access {
    /// Converts an access record. Returns `None` for a record without any time.
    pub(super) fn from_record(record: &AccessRecord) -> Option<Self> {
        let AccessRecord { count, last, recent, judgements } = record;
        record.newest()?;
        Some(Self {
            count: *count,
            last: (*count > 0).then_some(Time(*last)),
            recent: recent.iter().copied().map(Time).collect(),
            verdicts: judgements.last().map(|last| {
                let [good, helpful, unhelpful, bad] = Verdict::ALL.map(|verdict| judgements.count(verdict));
                Verdicts { good, helpful, unhelpful, bad, last: Time(last) }
            }),
        })
    }

    pub(super) fn into_record(self) -> AccessRecord {
        let recent: Vec<i64> = self.recent.into_iter().map(|Time(time)| time).collect();
        let last = self.last.map(|Time(time)| time).or(recent.iter().max().copied());
        let judgements = self.verdicts.map(|verdicts| {
            let Verdicts { good, helpful, unhelpful, bad, last: Time(last) } = verdicts;
            Judgements::from_counts([good, helpful, unhelpful, bad], last)
        });
        AccessRecord {
            // A count without a time is ignored, because activation is computed from times.
            count: if last.is_some() { self.count } else { 0 },
            last: last.unwrap_or_default(),
            recent,
            judgements: judgements.unwrap_or_default(),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match Timestamp::from_second(self.0) {
            Ok(time) => serializer.collect_str(&time),
            Err(_) => serializer.serialize_i64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a time must be a string such as \"2026-01-31T12:00:00Z\"")]
        enum Written {
            Text(String),
            Seconds(i64),
        }
        match Written::deserialize(deserializer)? {
            Written::Seconds(seconds) => Ok(Self(seconds)),
            Written::Text(text) => match text.parse::<Timestamp>() {
                Ok(time) => Ok(Self(time.as_second())),
                Err(_) => Err(serde::de::Error::custom(format!("{text:?} is not a time such as 2026-01-31T12:00:00Z"))),
            },
        }
    }
}
