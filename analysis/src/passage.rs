//! The parts of a chunk that an embedder reads, and the order in which it reads them.

/// The parts of a chunk that express its meaning, borrowed from its record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Passage<'a> {
    /// The chunk's type as shown to users: `function`, `class`, `kb`.
    pub kind: &'a str,
    /// Path of the file, relative to the indexed root, with `/` as separator.
    pub path: &'a str,
    /// Simple name, or a section's heading.
    pub name: &'a str,
    /// Name with its enclosing scopes.
    pub qualified_name: &'a str,
    /// Declaration without the body, or empty if missing.
    pub signature: &'a str,
    /// Documentation text, or empty if missing.
    pub doc: &'a str,
    /// Text of the chunk.
    pub body: &'a str,
}

impl<'a> Passage<'a> {
    /// Returns a line with the kind and the qualified name, then signature, doc and body on separate lines. Signature
    /// and doc are left empty if the body contains them.
    ///
    /// ```
    /// use aurora_analysis::Passage;
    /// let p = Passage { kind: "function", qualified_name: "auth.login", signature: "def login(user)", ..Passage::default() };
    /// assert_eq!(p.full(), "function auth.login\ndef login(user)\n\n");
    /// ```
    pub fn full(&self) -> String {
        [self.kind, " ", self.qualified_name, "\n", self.extra_signature(), "\n", self.extra_doc(), "\n", self.body]
            .concat()
    }

    /// Returns the path, the qualified name, then signature, doc and body as in [`Passage::full`], on separate lines.
    /// Path and name come first because some models truncate long texts.
    ///
    /// ```
    /// use aurora_analysis::Passage;
    /// let p = Passage { path: "auth.py", qualified_name: "auth.login", doc: "Logs in.", body: "x()", ..Passage::default() };
    /// assert_eq!(p.located(), "auth.py\nauth.login\n\nLogs in.\nx()");
    /// ```
    pub fn located(&self) -> String {
        let parts = [self.path, self.qualified_name, self.extra_signature(), self.extra_doc(), self.body];
        parts.join("\n")
    }

    /// Returns the enclosing scopes: the qualified name without the simple name at its end.
    ///
    /// ```
    /// use aurora_analysis::Passage;
    /// let p = Passage { name: "save", qualified_name: "User.save", ..Passage::default() };
    /// assert_eq!(p.scopes(), "User.");
    /// ```
    pub fn scopes(&self) -> &'a str {
        self.qualified_name.strip_suffix(self.name).unwrap_or(self.qualified_name)
    }

    /// Returns the last three components of the path without the file extension. They usually name the topic.
    ///
    /// ```
    /// use aurora_analysis::Passage;
    /// let p = Passage { path: "src/main/java/org/auth/Login.java", ..Passage::default() };
    /// assert_eq!(p.path_tail(), "org/auth/Login");
    /// ```
    pub fn path_tail(&self) -> &'a str {
        let file = self.path.rfind('/').map_or(0, |slash| slash + 1);
        let end = self.path[file..].rfind('.').filter(|&dot| dot > 0).map_or(self.path.len(), |dot| file + dot);
        let path = &self.path[..end];
        let start = path.rmatch_indices('/').nth(2).map_or(0, |(slash, _)| slash + 1);
        &path[start..]
    }

    /// Returns the signature, or an empty string if the body contains the signature up to its first parenthesis.
    fn extra_signature(&self) -> &'a str {
        let line = first_line(self.signature);
        let beginning = line.find('(').map_or(line, |parenthesis| &line[..=parenthesis]);
        if self.body.contains(beginning) { "" } else { self.signature }
    }

    /// Returns the doc, or an empty string if the body contains the first line of the doc.
    fn extra_doc(&self) -> &'a str {
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
    fn text_that_the_body_contains_is_not_repeated() {
        let check = |signature, doc, body, expected| {
            let passage = Passage { kind: "function", qualified_name: "f", signature, doc, body, ..Passage::default() };
            assert_eq!(passage.full(), expected);
        };
        check("def f(a)", "Adds.", "return a", "function f\ndef f(a)\nAdds.\nreturn a");
        check("def f(a, b)", "", "def f(\n    a,\n    b):\n  pass", "function f\n\n\ndef f(\n    a,\n    b):\n  pass");
        check("", "Adds.\nAll of it.", "// Adds.\n// All of it.", "function f\n\n\n// Adds.\n// All of it.");
    }

    #[test]
    fn the_path_tail_has_no_extension_and_at_most_three_components() {
        for (path, tail) in
            [("a.py", "a"), ("x/.env", "x/.env"), ("a.b/c", "a.b/c"), ("a/b/c/d.test.ts", "b/c/d.test"), ("", "")]
        {
            assert_eq!(Passage { path, ..Passage::default() }.path_tail(), tail, "{path}");
        }
    }
}
