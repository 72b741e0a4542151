//! Finds personal data: mail addresses, phone numbers, payment cards, bank accounts and national ids.
//!
//! The rules prefer to miss data over masking other text, because numbers in technical text are mostly versions, times,
//! line numbers and ids. A number must have the notation of its kind, and its check digits must be correct.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::secret::Secret;

/// A rule: its name, the pattern of the notation, and a test of the match and the text around the match.
struct Rule {
    name: &'static str,
    pattern: Regex,
    accepts: fn(&Context<'_>) -> bool,
}

/// A match with the text around it.
struct Context<'t> {
    text: &'t str,
    matched: &'t str,
    start: usize,
    end: usize,
}

impl Context<'_> {
    fn before(&self) -> Option<char> {
        self.text[..self.start].chars().next_back()
    }

    fn after(&self) -> Option<char> {
        self.text[self.end..].chars().next()
    }

    /// Whether the match is part of a longer word, number, path or version.
    fn is_inside_word(&self) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let joins = |c: char| "-./\\@#=&%+:".contains(c);
        let mut after = self.text[self.end..].chars();
        let (next, following) = (after.next(), after.next());
        self.before().is_some_and(|c| is_word(c) || (joins(c) && c != ':' && c != '='))
            || next.is_some_and(is_word)
            || next.is_some_and(joins) && following.is_some_and(is_word)
    }

    fn digits(&self) -> Vec<u32> {
        self.matched.chars().filter_map(|c| c.to_digit(10)).collect()
    }
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |name, pattern: &str, accepts| Rule {
        name,
        pattern: Regex::new(pattern).expect("the pattern is valid"),
        accepts,
    };
    vec![
        rule(
            "email",
            r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}",
            is_email,
        ),
        rule("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", is_iban),
        rule(
            "payment-card",
            r"\b[2-6][0-9]{3}(?:[0-9]{9,15}|(?: [0-9]{4}){3}|(?:-[0-9]{4}){3}|[ -][0-9]{6}[ -][0-9]{4,5})\b",
            is_card,
        ),
        rule(
            "phone",
            r"\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,5}\)[ .-]?)?[0-9]{1,12}(?:[ .-][0-9]{2,8}){0,5}\b",
            is_international,
        ),
        rule("phone", r"(?:\([2-9][0-9]{2}\) ?|\b[2-9][0-9]{2}[-.])[2-9][0-9]{2}[-.][0-9]{4}\b", is_north_american),
        rule("us-ssn", r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", is_ssn),
        rule("uk-nino", r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} [0-9]{2} [0-9]{2} ?[A-D]\b", |context| {
            !context.is_inside_word()
        }),
        rule("br-cpf", r"\b[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}\b", is_cpf),
    ]
});

/// Adds the personal data in a text.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    for rule in &*RULES {
        for captures in rule.pattern.captures_iter(text) {
            let span = whole(&captures);
            let context = Context { text, matched: &text[span.clone()], start: span.start, end: span.end };
            if (rule.accepts)(&context) {
                found.push(Secret { rule: rule.name, span, continues: false });
            }
        }
    }
}

fn whole(captures: &Captures<'_>) -> std::ops::Range<usize> {
    captures.get(0).expect("the whole match").range()
}

/// Local parts of addresses that belong to programs.
const PROGRAMS: &[&str] = &["git", "hg", "svn", "noreply", "no-reply", "donotreply", "bot", "mailer-daemon"];
/// Ends of names of files and modules, such as `icon@2x.png`, which are not top-level domains.
const FILE_ENDS: &[&str] = &[
    "css", "gif", "gz", "html", "jpeg", "jpg", "js", "json", "mjs", "png", "service", "socket", "svg", "tgz", "timer",
    "ts", "txt", "webp", "xml", "yaml", "yml", "zip",
];

/// Rejects addresses of programs, users in URLs and remotes (`git@host:path`), and names of files and units.
fn is_email(context: &Context<'_>) -> bool {
    let Some((local, domain)) = context.matched.split_once('@') else { return false };
    let lower = local.to_ascii_lowercase();
    let is_program =
        PROGRAMS.contains(&lower.as_str()) || domain.ends_with("noreply.github.com") || lower.ends_with("[bot]");
    let end = domain.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let follows_url = context.before().is_some_and(|c| matches!(c, '/' | ':' | '@') || c.is_alphanumeric())
        && !context.text[..context.start].ends_with("mailto:");
    let mut after = context.text[context.end..].chars();
    let is_remote = match after.next() {
        Some(':') => after.next().is_some_and(|c| !c.is_whitespace()),
        Some('/') => true,
        Some(c) => c.is_alphanumeric() || c == '_' || c == '@',
        None => false,
    };
    let has_edge_dot = local.ends_with('.') || local.contains("..");
    !is_program && !follows_url && !is_remote && !has_edge_dot && !FILE_ENDS.contains(&end.as_str())
}

/// Lengths of IBANs by country, from the registry of SWIFT.
const IBAN_LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BR", 29),
    ("CH", 21),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DK", 18),
    ("EE", 20),
    ("ES", 24),
    ("FI", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GR", 27),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IS", 26),
    ("IT", 27),
    ("KZ", 20),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MT", 31),
    ("NL", 18),
    ("NO", 15),
    ("PL", 28),
    ("PT", 25),
    ("RO", 24),
    ("RS", 22),
    ("SA", 24),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("TR", 26),
    ("UA", 29),
    ("XK", 20),
];

/// Checks the length and the check digits: the rearranged number modulo 97 is 1 (ISO 13616).
fn is_iban(context: &Context<'_>) -> bool {
    let plain: String = context.matched.chars().filter(|c| *c != ' ').collect();
    let length = IBAN_LENGTHS.iter().find(|(country, _)| plain.starts_with(country)).map(|(_, length)| *length);
    if length != Some(plain.len()) || context.is_inside_word() {
        return false;
    }
    let rearranged = plain[4..].chars().chain(plain[..4].chars()).filter_map(|c| c.to_digit(36));
    rearranged.fold(0, |rest, value| (rest * if value > 9 { 100 } else { 10 } + value) % 97) == 1
}

/// Checks the prefix and the length of the card's network, and the check digit (Luhn, ISO/IEC 7812-1).
fn is_card(context: &Context<'_>) -> bool {
    let digits = context.digits();
    let prefix = digits[..4].iter().fold(0, |number, digit| number * 10 + digit);
    let fits = match prefix {
        4000..=4999 => matches!(digits.len(), 13 | 16 | 19),
        5100..=5599 | 2221..=2720 | 3528..=3589 | 6011 | 6440..=6599 => digits.len() == 16,
        3400..=3499 | 3700..=3799 => digits.len() == 15,
        3000..=3059 | 3600..=3699 | 3800..=3899 => digits.len() == 14,
        6200..=6299 => (16..=19).contains(&digits.len()),
        _ => false,
    };
    let is_repeated = digits[4..].iter().all(|digit| *digit == digits[4]) && digits[4] != 1;
    fits && !is_repeated && has_luhn_digit(&digits) && !context.is_inside_word()
}

fn has_luhn_digit(digits: &[u32]) -> bool {
    let value = |(place, digit): (usize, &u32)| match place % 2 {
        0 => *digit,
        _ => digit * 2 / 10 + digit * 2 % 10,
    };
    digits.iter().rev().enumerate().map(value).sum::<u32>() % 10 == 0
}

/// Accepts 8 to 15 digits (ITU-T E.164). A number without separators must not begin a line, because added lines of a
/// diff begin with `+`.
fn is_international(context: &Context<'_>) -> bool {
    let digits = context.digits().len();
    let has_separators = context.matched.contains([' ', '-', '.', '(']);
    let is_first = context.before().is_none_or(|c| c == '\n');
    let follows = context.before().is_none_or(|c| c.is_whitespace() || "(<[\"':,;=*|".contains(c));
    let groups = context.matched.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty());
    let is_decimal = context.matched.matches('.').count() == 1 && !context.matched.contains([' ', '-', '(']);
    let are_short = !has_separators || groups.clone().all(|group| group.len() <= 8);
    let needed = if has_separators { 8 } else { 10 };
    let is_north_american = !context.matched.starts_with("+1") || digits == 11;
    (needed..=15).contains(&digits)
        && follows
        && are_short
        && !is_decimal
        && is_north_american
        && (has_separators && groups.count() > 2 || !is_first)
        && !context.after().is_some_and(|c| c.is_alphanumeric() || "_/@%".contains(c))
}

/// Accepts numbers of the North American Numbering Plan in the notations `(212) 555-0123`, `212-555-0123` and
/// `212.555.0123`.
fn is_north_american(context: &Context<'_>) -> bool {
    let separators: Vec<char> = context.matched.chars().filter(|c| "-.".contains(*c)).collect();
    let digits = context.digits();
    let is_service = digits[1] == 1 && digits[2] == 1 || digits[4] == 1 && digits[5] == 1;
    !is_service && separators.windows(2).all(|pair| pair[0] == pair[1]) && !context.is_inside_word()
}

/// Rejects numbers that were never assigned.
fn is_ssn(context: &Context<'_>) -> bool {
    let (area, rest) = context.matched.split_at(3);
    let is_assigned = !matches!(area, "000" | "666") && !area.starts_with('9');
    is_assigned && &rest[1..3] != "00" && &rest[4..] != "0000" && !context.is_inside_word()
}

/// Checks the two check digits: weighted sums modulo 11.
fn is_cpf(context: &Context<'_>) -> bool {
    let digits = context.digits();
    let check = |count: usize| {
        let sum: u32 =
            digits[..count].iter().zip((2..=count as u32 + 1).rev()).map(|(digit, weight)| digit * weight).sum();
        sum * 10 % 11 % 10
    };
    let is_repeated = digits.iter().all(|digit| *digit == digits[0]);
    !is_repeated && check(9) == digits[9] && check(10) == digits[10] && !context.is_inside_word()
}
