//! What of a chunk is shown to an embedder, and in which order.

/// The parts of a chunk that carry its meaning, borrowed from the record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passage<'a> {
    /// The chunk's type as shown to users: `function`, `class`, `kb`.
    pub kind: &'a str,
    /// Name with its enclosing scopes, or a section's heading.
    pub qualified_name: &'a str,
    /// Declaration without the body; empty where there is none.
    pub signature: &'a str,
    /// Documentation text; empty where there is none.
    pub doc: &'a str,
    /// The chunk's own text.
    pub body: &'a str,
}

impl Passage<'_> {
    /// `kind qualified_name`, then the signature on a line of its own: what is known before the body is read.
    ///
    /// ```
    /// use aurora_analysis::Passage;
    /// let p = Passage { kind: "function", qualified_name: "auth.login", signature: "def login(user)", ..Passage::default() };
    /// assert_eq!(p.heading(), "function auth.login\ndef login(user)");
    /// ```
    pub fn heading(&self) -> String {
        [self.kind, " ", self.qualified_name, "\n", self.signature].concat()
    }

    /// `kind qualified_name`, then signature, doc and body, each on lines of their own; signature and doc only where the
    /// body does not hold them anyway: counted twice, a signature costs the static model up to 0.01 of MRR@10.
    pub fn full(&self) -> String {
        [self.kind, " ", self.qualified_name, "\n", self.extra_signature(), "\n", self.extra_doc(), "\n", self.body]
            .concat()
    }

    /// The signature, or nothing when the body holds its beginning, up to the first parenthesis.
    pub(crate) fn extra_signature(&self) -> &str {
        let line = first_line(self.signature);
        let beginning = line.find('(').map_or(line, |parenthesis| &line[..=parenthesis]);
        if self.body.contains(beginning) { "" } else { self.signature }
    }

    /// The doc, or nothing when the body holds its first line.
    pub(crate) fn extra_doc(&self) -> &str {
        if self.body.contains(first_line(self.doc)) { "" } else { self.doc }
    }
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_body_holds_is_not_said_twice() {
        let check = |signature, doc, body, expected| {
            let passage = Passage { kind: "function", qualified_name: "f", signature, doc, body };
            assert_eq!(passage.full(), expected);
            assert_eq!(passage.heading(), format!("function f\n{signature}"));
        };
        check("def f(a)", "Adds.", "return a", "function f\ndef f(a)\nAdds.\nreturn a");
        check("def f(a, b)", "", "def f(\n    a,\n    b):\n  pass", "function f\n\n\ndef f(\n    a,\n    b):\n  pass");
        check("", "Adds.\nAll of it.", "// Adds.\n// All of it.", "function f\n\n\n// Adds.\n// All of it.");
    }
}
