//! Parses the host and port of a URL, as in the `Host` header of requests and the `Origin` header of pages.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum length of a name in bytes.
const MAX_NAME_BYTES: usize = 253;
/// Maximum length of a label in bytes. Labels are the parts of a name between dots.
const MAX_LABEL_BYTES: usize = 63;
/// The default port of `http` URLs.
const DEFAULT_PORT: u16 = 80;

/// A host with its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPort {
    pub(crate) host: Host,
    /// The port; `None` means the default port of the scheme.
    pub(crate) port: Option<u16>,
}

/// A name or an IP address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Address(IpAddr),
    /// A name in lower case. A trailing dot is kept.
    Name(String),
}

impl HostPort {
    /// Parses `name`, `name:port`, `address:port` or `[address]:port`. Everything else is rejected, such as user names,
    /// zones of IPv6 addresses, escapes, and empty ports.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            let (address, rest) = rest.split_once(']')?;
            let host = Host::Address(address.parse::<Ipv6Addr>().ok()?.into());
            let port = if rest.is_empty() { None } else { Some(parse_port(rest.strip_prefix(':')?)?) };
            return Some(Self { host, port });
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(parse_port(port)?)),
            None => (text, None),
        };
        let host = match host.parse::<Ipv4Addr>() {
            Ok(address) => Host::Address(address.into()),
            Err(_) => Host::Name(is_name(host).then(|| host.to_ascii_lowercase())?),
        };
        Some(Self { host, port })
    }

    /// Returns `true` if an origin such as `http://localhost:8080` has this host and port. Origins with `https` never
    /// match, because the server does not support TLS.
    pub(crate) fn is_origin(&self, origin: &str) -> bool {
        let other = origin.strip_prefix("http://").and_then(Self::parse);
        let port = |of: &Self| of.port.unwrap_or(DEFAULT_PORT);
        other.is_some_and(|other| other.host == self.host && port(&other) == port(self))
    }
}

/// Returns `true` if each label of a name consists of letters, digits, `-` and `_`. The name may end with a dot.
fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=MAX_LABEL_BYTES).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= MAX_NAME_BYTES && name.split('.').all(is_label)
}

/// Parses a port from 1 to 65535 in decimal digits.
fn parse_port(text: &str) -> Option<u16> {
    let is_number = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(Host, Option<u16>)> {
        HostPort::parse(text).map(|found| (found.host, found.port))
    }

    #[test]
    fn hosts_are_names_or_addresses_with_a_port() {
        let name = |name: &str| Host::Name(name.to_owned());
        let address = |address: &str| Host::Address(address.parse().expect("an address"));
        for (text, host, port) in [
            ("localhost", name("localhost"), None),
            ("LocalHost:8080", name("localhost"), Some(8080)),
            ("localhost.:1", name("localhost."), Some(1)),
            ("my_host.example-1.org:65535", name("my_host.example-1.org"), Some(65_535)),
            ("127.0.0.1:80", address("127.0.0.1"), Some(80)),
            ("[::1]", address("::1"), None),
            ("[0:0:0:0:0:0:0:1]:443", address("::1"), Some(443)),
            ("[::FFFF:127.0.0.1]:443", address("::ffff:127.0.0.1"), Some(443)),
            ("127.0.0.1.", name("127.0.0.1."), None),
            ("0x7f.1", name("0x7f.1"), None),
        ] {
            assert_eq!(parse(text), Some((host, port)), "{text}");
        }
    }

    #[test]
    fn everything_else_is_rejected() {
        let long = ["a".repeat(64), format!("{}a", "a.".repeat(127))];
        for text in [
            "",
            ".",
            "..",
            ":80",
            "a..b",
            "a b",
            "-a",
            "a-.b",
            "localhost..",
            "localhost:",
            "localhost:evil",
            "localhost:0",
            "localhost:+80",
            "localhost:65536",
            "localhost:000080",
            "localhost:80:80",
            "localhost:80/",
            "user@localhost",
            "localhost:80@evil.example",
            "localhost/evil",
            "localhost#evil",
            "localhost?evil",
            "localhost\\evil",
            "local%68ost",
            "löcalhost",
            "::1",
            "[::1",
            "::1]",
            "[]",
            "[::1]80",
            "[::1]:",
            "[::1]:x",
            "[::1%lo]",
            "[::1]]",
            "[[::1]]",
            "[::1].evil.com",
            "[127.0.0.1]",
            "[127.0.0.1].evil.com",
            "[localhost]",
            "127.0.0.1]",
        ]
        .into_iter()
        .chain(long.iter().map(String::as_str))
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_origin_is_compared_by_scheme_host_and_port() {
        let is_origin = |host: &str, origin: &str| HostPort::parse(host).expect("a host").is_origin(origin);
        for (host, origin) in [
            ("localhost:8080", "http://localhost:8080"),
            ("LOCALHOST", "http://localhost"),
            ("localhost", "http://localhost:80"),
            ("search.example.org:80", "http://search.example.org"),
            ("[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080"),
        ] {
            assert!(is_origin(host, origin), "{host} {origin}");
        }
        for (host, origin) in [
            ("localhost:8080", "http://localhost"),
            ("localhost:8080", "http://localhost:80"),
            ("localhost:8080", "http://localhost:8080/"),
            ("localhost:8080", "http://localhost:8080@evil.example"),
            ("localhost:8080", "http://user@localhost:8080"),
            ("localhost:8080", "ftp://localhost:8080"),
            ("localhost:8080", "https://localhost:8080"),
            ("search.example.org", "https://search.example.org"),
            ("localhost:443", "https://localhost"),
            ("localhost:8080", "//localhost:8080"),
            ("localhost:8080", "localhost:8080"),
            ("localhost:8080", "null"),
            ("localhost:8080", ""),
            ("localhost", "http://localhost."),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]"),
        ] {
            assert!(!is_origin(host, origin), "{host} {origin}");
        }
    }
}
