//! Searches over small indexes that the tests create.

mod columns;
mod confidence;
mod config;
mod corpus;
mod direct;
mod generated;
mod grep;
mod keywords;
mod learning;
mod properties;
mod ranking;
mod reranking;
mod roots;
mod spelling;
