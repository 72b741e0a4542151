//! Models as their users meet them: from folders, through the public interface.

mod directory;
mod encoder;
mod minilm;
mod tiny;
