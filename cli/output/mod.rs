//! Everything that aur prints: tables, boxes, reports, progress and JSON.

pub(crate) mod code;
pub(crate) mod context;
pub(crate) mod evaluation;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod links;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod sanitize;
pub(crate) mod scores;
pub(crate) mod style;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod trace;
pub(crate) mod trail;
pub(crate) mod units;
pub(crate) mod width;

pub(crate) use links::Links;
pub(crate) use scores::{ScoreCard, ScorePart};
pub(crate) use style::{Painter, Role};
