//! Tests models that are loaded from folders, through the public interface.

mod cross_encoder;
mod directory;
mod encoder;
mod minilm;
mod plain;
mod tiny;
