//! Passwords of `curl --user name:password`.

use memchr::memmem;

use crate::secret::Secret;
use crate::url::is_password;

/// Most bytes of a command that are looked at.
const LONGEST: usize = 512;

/// Adds the passwords of `curl` commands. A name without a password is a token.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for start in memmem::find_iter(bytes, b"curl ") {
        let command = &bytes[start..bytes.len().min(start + LONGEST)];
        let option =
            [&b" -u "[..], b" --user "].iter().find_map(|option| Some(memmem::find(command, option)? + option.len()));
        let Some(option) = option.filter(|option| !ends_before(&command[..*option])) else { continue };
        let argument = &command[option..];
        let from = argument.iter().position(|byte| !b" \"'".contains(byte)).unwrap_or(argument.len());
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\".contains(byte);
        let length = argument[from..].iter().position(ends);
        let is_cut = command.len() == LONGEST;
        let Some(length) = length.or((!is_cut).then_some(argument.len() - from)) else { continue };
        let credentials = &argument[from..from + length];
        let Some(colon) = memchr::memchr(b':', credentials) else { continue };
        let secret = if colon + 1 == credentials.len() { 0..colon } else { colon + 1..credentials.len() };
        if is_password(&credentials[secret.clone()]) && !credentials.starts_with(b"<") {
            let at = start + option + from;
            found.push(Secret { rule: "curl-password", span: at + secret.start..at + secret.end, continues: false });
        }
    }
}

/// Whether the command ends within a text: at a line feed without a backslash before it.
fn ends_before(text: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', text).any(|at| !text[..at].ends_with(b"\\"))
}
