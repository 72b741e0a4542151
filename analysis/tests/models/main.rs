//! Tests of models through the public interface, loaded from folders.

mod cross_encoder;
mod directory;
mod encoder;
mod minilm;
mod plain;
mod tiny;
