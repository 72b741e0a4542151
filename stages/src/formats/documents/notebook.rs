//! Jupyter notebooks.

use serde::Deserialize;

use super::error::{ExtractError, MAX_TEXT_BYTES};
use super::markup::decoded;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    kernelspec: Kernel,
    #[serde(default)]
    language_info: LanguageInfo,
}

#[derive(Default, Deserialize)]
struct Kernel {
    #[serde(default)]
    language: String,
}

#[derive(Default, Deserialize)]
struct LanguageInfo {
    #[serde(default)]
    name: String,
}

impl Metadata {
    /// Returns the language of the code: Python unless the notebook declares another language.
    fn language(&self) -> &str {
        let named = [self.kernelspec.language.as_str(), self.language_info.name.as_str()];
        named.into_iter().find(|name| !name.is_empty()).unwrap_or("python")
    }
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Source,
}

/// The text of a cell: one string, or one string per line.
#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

impl Default for Source {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Source {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Lines(lines) => lines.concat(),
        }
    }
}

/// Converts the cells of a notebook to Markdown. Code cells are fenced, and outputs are omitted.
///
/// # Errors
/// Fails if the bytes are not a notebook, or the text is too large.
pub(super) fn text(bytes: &[u8]) -> Result<String, ExtractError> {
    let Notebook { cells, metadata } = serde_json::from_str(&decoded(bytes))?;
    let mut text = String::new();
    for Cell { cell_type, source } in cells {
        let source = source.text();
        let source = source.trim_matches('\n');
        if source.trim().is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        if cell_type == "code" {
            let fence = if source.contains("```") { "~~~~" } else { "```" };
            text.push_str(&format!("{fence}{}\n{source}\n{fence}\n", metadata.language()));
        } else {
            text.push_str(source);
            text.push('\n');
        }
        if text.len() as u64 > MAX_TEXT_BYTES {
            return Err(ExtractError::TooLarge);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_markdown() {
        let notebook = serde_json::json!({
            "metadata": { "kernelspec": { "language": "python" } },
            "cells": [
                { "cell_type": "markdown", "source": ["# Load\n", "the table"] },
                { "cell_type": "code", "source": "x = load()\n", "outputs": [{ "text": "hidden" }] },
                { "cell_type": "code", "source": "" },
                { "cell_type": "raw", "source": "notes" },
            ],
        });
        let expected = "# Load\nthe table\n\n```python\nx = load()\n```\n\nnotes\n";
        assert_eq!(text(notebook.to_string().as_bytes()).unwrap(), expected);
        assert!(text(b"{}").is_err() && text(b"").is_err());
    }
}
