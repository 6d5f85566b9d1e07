//! Removes secrets from a text before it is written to a record.
//!
//! It searches for PEM blocks, tokens with a published prefix, JSON Web Tokens, passwords in
//! addresses, headers, commands and table rows, and values assigned to names that indicate a
//! secret. Ordinary content of notes stays: hashes, commits, chunk keys, UUIDs, file names, dates,
//! and words. A secret in an unknown form is not found; file permissions are the second protection.
//! `SECURITY.md` lists forms that are found and forms that are not; a test checks both lists.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A text after its secrets were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; each secret is replaced by `[redacted: kind]`.
    pub text: Cow<'a, str>,
    /// The number of secrets.
    pub count: usize,
}

/// A pattern for a whole secret; a group called `keep` is kept.
struct SecretForm {
    what: &'static str,
    pattern: Regex,
}

/// Prefixes that issuers publish for secret scanners.
const FORMS: &[(&str, &str)] = &[
    // A block may begin or end outside the excerpt.
    (
        "PEM block",
        r"-----BEGIN [A-Z0-9 ]{3,40}-----(?s:.*?)(?:-----END [A-Z0-9 ]{3,40}-----|\z)",
    ),
    (
        "PEM block",
        r"(?:[A-Za-z0-9+/=]{16,80}\r?\n)+-----END [A-Z0-9 ]{3,40}-----",
    ),
    ("age key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    (
        "GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    ),
    (
        "GitLab token",
        r"\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}",
    ),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (
        "Slack webhook",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
    ),
    ("AWS key id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Google token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    (
        "Stripe key",
        r"\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}",
    ),
    ("API key", r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36,}"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    (
        "SendGrid key",
        r"\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,}",
    ),
    ("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("Telegram token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    (
        "JSON Web Token",
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    (
        "signed address",
        r"(?P<keep>[?&](?:sig|Signature|X-Amz-Signature)=)[A-Za-z0-9%+/=_-]{20,}",
    ),
    (
        "password in an address",
        r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,64}:)[^\s/@]{3,}@",
    ),
    (
        "authorization",
        r"(?i)(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9+/_.~-]{16,}=*",
    ),
];

static KNOWN: LazyLock<Vec<SecretForm>> = LazyLock::new(|| {
    FORMS
        .iter()
        .filter_map(|(what, pattern)| {
            Regex::new(pattern)
                .ok()
                .map(|pattern| SecretForm { what, pattern })
        })
        .collect()
});

/// Names of keys whose value is probably a secret.
const NAMES: &str = concat!(
    r"(?:passwor[dt]|passwd|passphrase|pwd|secret|token|kennwort|psk|(?:wlan|netzwerk|sicherheits)-?schlüssel|",
    r"(?:access|private)[_-]?key|(?:api|account|storage|encryption|signing|master|recovery|license|network|wlan|wi-?fi|wpa[23]?)",
    r"[ _-]?key)"
);

/// Patterns for the position of a value in a line, with the certainty that it is a secret. `NAMES`
/// is replaced by [`NAMES`]; the groups `keep` and `tail` are kept.
const PLACES: &[(Sure, &str)] = &[
    // `name = value`
    (
        Sure::IfItLooksSecret,
        r#"(?P<keep>\b[\w-]{0,40}?NAMES[\w-]{0,20}["'`]?\s{0,3}(?:[:=]|=>|:=)\s{0,3}["'`]?)(?P<value>[^\s"'`,;<>|]{6,400})"#,
    ),
    // The second cell of a row.
    (
        Sure::IfItLooksSecret,
        r"(?P<keep>\|[^|\n]{0,40}?\bNAMES\b[^|\n]{0,20}\|[ \t]*`?)(?P<value>[^|\s`]{6,400})(?P<tail>`?[ \t]*\|)",
    ),
    // `.netrc`
    (
        Sure::UnlessItIsAPlaceholder,
        r"(?P<keep>\bmachine\s+\S+\s+login\s+\S+\s+(?:account\s+\S+\s+)?password\s+)(?P<value>\S{1,400})",
    ),
    (
        Sure::IfItLooksSecret,
        r"(?P<keep>\b(?:machine|login)\s+\S+\s+password\s+)(?P<value>\S{6,400})",
    ),
    // Command-line options.
    (
        Sure::UnlessItIsAPlaceholder,
        r#"(?P<keep>\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?["']?[^\s:"']{1,64}:)(?P<value>[^\s"']{1,400})"#,
    ),
    (
        Sure::UnlessItIsAPlaceholder,
        r#"(?P<keep>\b(?:mysql\w*|mariadb[\w-]*)\b[^\n|;]{0,200}?\s(?-i:-p)["']?)(?P<value>[^\s"']{1,400})"#,
    ),
    (
        Sure::UnlessItIsAPlaceholder,
        r#"(?P<keep>\bsshpass\s+(?-i:-p)\s*["']?)(?P<value>[^\s"']{1,400})"#,
    ),
    (
        Sure::UnlessItIsAPlaceholder,
        r#"(?P<keep>\b(?:docker|podman)\s+login\b[^\n|;]{0,200}?\s(?-i:-p)\s+["']?)(?P<value>[^\s"']{1,400})"#,
    ),
    (
        Sure::IfItLooksSecret,
        r#"(?P<keep>\s--?(?:password|passwd|passphrase|token|secret|api-?key)\s+["']?)(?P<value>[^\s"']{6,400})"#,
    ),
];

/// The condition for removing a value at one of [`PLACES`].
#[derive(Clone, Copy)]
enum Sure {
    /// Ordinary words occur in this position too.
    IfItLooksSecret,
    /// Only secrets and placeholders occur in this position.
    UnlessItIsAPlaceholder,
}

static PLACED: LazyLock<Vec<(Sure, Regex)>> = LazyLock::new(|| {
    let whole = |pattern: &str| Regex::new(&format!("(?i){}", pattern.replace("NAMES", NAMES)));
    PLACES
        .iter()
        .filter_map(|(sure, pattern)| whole(pattern).ok().map(|regex| (*sure, regex)))
        .collect()
});

/// A block of base64 that is cut off at both ends.
static BASE64: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)(?:^[A-Za-z0-9+/]{56,76}={0,2}\r?\n?){3,}").ok());

/// Removes the secrets from `text`. The same text gives the same result. Redacting a second time
/// changes nothing.
pub fn redact(text: &str) -> Redacted<'_> {
    let mut out = Redacted {
        text: Cow::Borrowed(text),
        count: 0,
    };
    for form in KNOWN.iter() {
        out.apply(&form.pattern, form.what, |_| true);
    }
    for (sure, pattern) in PLACED.iter() {
        out.apply(pattern, "secret", |found| {
            found.name("value").is_some_and(|value| match sure {
                Sure::IfItLooksSecret => looks_secret(value.as_str()),
                Sure::UnlessItIsAPlaceholder => !is_placeholder(value.as_str()),
            })
        });
    }
    if let Some(pattern) = BASE64.as_ref() {
        // Lists of hashes are not a key.
        out.apply(pattern, "base64 block", |found| {
            found[0]
                .bytes()
                .any(|b| b.is_ascii_uppercase() || b == b'+')
        });
    }
    out
}

impl Redacted<'_> {
    fn apply(&mut self, pattern: &Regex, what: &str, is_secret: impl Fn(&Captures<'_>) -> bool) {
        let mut count = 0;
        let replaced = pattern.replace_all(&self.text, |found: &Captures<'_>| {
            if !is_secret(found) {
                return found[0].to_owned();
            }
            count += 1;
            let keep = found.name("keep").map_or("", |keep| keep.as_str());
            // The `@` after a password belongs to the address.
            let at = if found[0].ends_with('@') && !keep.is_empty() {
                "@"
            } else {
                ""
            };
            let end = found.name("tail").map_or(at, |tail| tail.as_str());
            format!("{keep}[redacted: {what}]{end}")
        });
        if count > 0 {
            self.text = Cow::Owned(replaced.into_owned());
            self.count += count;
        }
    }
}

/// Whether an assigned value is a secret, and not a word, date, number, path, variable or
/// placeholder.
fn looks_secret(value: &str) -> bool {
    if is_placeholder(value) {
        return false;
    }
    let value = value.trim_end_matches(['.', ')', ']', '}', '!', '?', ':']);
    // A padded base64 block does not end like a path.
    let is_path = value.starts_with(['/', '~']) && !value.ends_with('=');
    if is_path || value.contains("://") {
        return false;
    }
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.chars().filter(|c| c.is_numeric()).count();
    let marks = value
        .chars()
        .filter(|c| "!@#$%^&*+=?~".contains(*c))
        .count();
    let upper_inside =
        value.chars().skip(1).any(char::is_uppercase) && value.chars().any(char::is_lowercase);
    value.chars().count() >= 6
        && letters > 0
        && (digits > 0 || marks > 0 || upper_inside && value.len() >= 16)
}

/// Whether a value is only a placeholder for a secret.
fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 8] = [
        "password", "passwd", "pass", "pw", "secret", "token", "passwort", "geheim",
    ];
    value.starts_with(['$', '{', '<', '%', '[', '('])
        || value.contains("[redacted")
        || value
            .bytes()
            .all(|b| matches!(b, b'x' | b'X' | b'*' | b'.' | b'-' | b'_'))
        || WORDS.iter().any(|word| {
            value
                .trim_end_matches(['.', ',', ')', '`', ';'])
                .eq_ignore_ascii_case(word)
        })
}

/// Forms of secrets in notes, with an example in which `X` is the secret, and whether it is found.
#[cfg(test)]
const EXAMPLES: &[(&str, bool)] = &[
    ("password: X", true),
    ("DB_PASSWORD=X", true),
    (r#""client_secret": "X""#, true),
    ("Passwort: X", true),
    ("psk=X", true),
    ("WPA2 key: X", true),
    ("WLAN-Schlüssel: X", true),
    ("AccountName=a;AccountKey=X;EndpointSuffix=core", true),
    ("Server=db;User Id=a;Password=X;", true),
    ("postgres://app:X@db.local/x", true),
    ("Authorization: Bearer X", true),
    ("| password | X |", true),
    ("| Wi-Fi key | `X` |", true),
    ("machine git.local login ann password X", true),
    ("machine git.local password X", true),
    ("curl -u ann:X https://git.local", true),
    ("curl --user 'ann:X' https://git.local", true),
    ("mysql -u root -pX shop", true),
    ("sshpass -p X ssh ann@git.local", true),
    ("docker login -u ann -p X", true),
    ("restic --password X", true),
    ("https://a.local/b?sv=1&sig=X", true),
    ("The password is X.", false),
    ("Log in as ann with X.", false),
    ("| user | password |\n|---|---|\n| ann | X |", false),
    ("Password:\nX", true),
    ("PIN: 4711", false),
    ("key: X", false),
    ("seed: ring apple moss", false),
    ("password: apple", false),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Built at run time, so that no scanner mistakes this file for a leak.
    fn secrets() -> Vec<(&'static str, String)> {
        let many = |part: &str, n: usize| part.repeat(n);
        let pem = format!(
            "-----BEGIN {0}-----\n{1}\n{1}\n-----END {0}-----",
            "RSA PRIVATE KEY",
            many("MIIEpQIBAAKCAQEA", 4)
        );
        vec![
            ("PEM block", pem.clone()),
            ("PEM block", pem.replace("RSA ", "OPENSSH ")),
            ("PEM block", pem.replace("RSA PRIVATE KEY", "PGP MESSAGE")),
            ("GitHub token", format!("ghp_{}", many("a1B2c3", 6))),
            ("GitHub token", format!("github_pat_{}", many("11ABC_d", 8))),
            ("GitLab token", format!("glpat-{}", many("aB3-", 6))),
            ("Slack token", format!("xoxb-{}", many("123456789-", 3))),
            ("AWS key id", format!("AKIA{}", many("ABCD2345", 2))),
            ("Google key", format!("AIza{}", many("Sy-_a", 7))),
            ("Stripe key", format!("sk_live_{}", many("4eC39", 5))),
            ("API key", format!("sk-proj-{}", many("Ab3_", 10))),
            ("API key", format!("sk-ant-api03-{}", many("xY9-", 10))),
            ("Hugging Face token", format!("hf_{}", many("abCDe", 7))),
            ("npm token", format!("npm_{}", many("aB3dE6", 6))),
            (
                "JSON Web Token",
                format!("eyJ{0}.eyJ{0}.{0}", many("hbGci1", 4)),
            ),
            (
                "Telegram token",
                format!("123456789:AA{}", many("abcDE_-1234", 3)),
            ),
        ]
    }

    #[test]
    fn s30_every_known_form_is_taken_out_wherever_it_stands() {
        for (what, secret) in secrets() {
            for text in [
                secret.clone(),
                format!("before {secret} after"),
                format!("| a | {secret} |"),
                format!("`{secret}`,"),
            ] {
                let out = redact(&text);
                assert!(
                    out.text.contains(&format!("[redacted: {what}]")) && out.count >= 1,
                    "{what}: {}",
                    out.text
                );
                let inside: String = secret
                    .chars()
                    .rev()
                    .take(12)
                    .collect::<String>()
                    .chars()
                    .rev()
                    .collect();
                assert!(!out.text.contains(&inside), "{what}: {}", out.text);
                assert_eq!(redact(&out.text).text, out.text, "twice is once");
            }
        }
    }

    #[test]
    fn s30_blocks_that_are_cut_are_taken_out_too() {
        let line = "MIIEpQIBAAKCAQEA7bq1".repeat(3);
        let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
        for text in [
            format!("notes\n{begin}\n{line}\n{line}\n"),
            format!("{line}\n{line}\n{end}\nnotes"),
            format!("{line}\n{line}\n{line}\n{line}\n"),
        ] {
            let out = redact(&text);
            assert!(!out.text.contains("MIIEpQIBAAKCAQEA"), "{}", out.text);
        }
    }

    #[test]
    fn s30_assigned_values_and_passwords_in_addresses() {
        for (text, kept, gone) in [
            ("password: hunter22", "password: ", "hunter22"),
            ("DB_PASSWORD=\"c0rrect-horse\"", "DB_PASSWORD=\"", "c0rrect"),
            ("api_key = 'a8f3kd92kd'", "api_key = '", "a8f3"),
            ("client-secret: aB3dE6gH9", "client-secret: ", "aB3d"),
            ("Passwort: Geheim!2024", "Passwort: ", "Geheim"),
            ("export TOKEN=qwErTyUiOpAsDfGh", "export TOKEN=", "qwEr"),
            (
                "postgres://app:s3cr3t@db.local/x",
                "postgres://app:",
                "s3cr3t",
            ),
            (
                "Authorization: Bearer abcdefgh12345678",
                "Bearer ",
                "abcdefgh",
            ),
        ] {
            let out = redact(text);
            assert!(
                out.text.contains(kept) && !out.text.contains(gone) && out.count == 1,
                "{text}: {}",
                out.text
            );
        }
        assert!(
            redact("postgres://app:s3cr3t@db.local/x")
                .text
                .ends_with("]@db.local/x")
        );
    }

    /// Secrets in the forms listed as found are removed, and secrets in the forms listed as not
    /// found are kept.
    #[test]
    fn s30_the_forms_that_security_md_lists_are_found_or_not_as_it_says() {
        let page = include_str!("../../../../SECURITY.md");
        for (example, is_found) in EXAMPLES {
            for secret in [
                "Tr0ub4dor-and-3x-more",
                "qwErTyUi0pAsDfGhJkLz",
                "mV9k2xQ8fTz+hLrWc4b7A==",
            ] {
                let text = example.replace('X', secret);
                let out = redact(&text);
                assert_eq!(
                    (out.count > 0, out.text.contains(secret)),
                    (*is_found, !is_found && text != *example),
                    "{text}"
                );
                assert_eq!(redact(&out.text).text, out.text, "twice is once");
            }
            let cell = example.replace('\n', " ⏎ ").replace('|', "¦");
            let row = format!(
                "| `{}` | {} |",
                cell.replace('`', ""),
                if *is_found { "taken out" } else { "stays" }
            );
            assert!(page.contains(&row), "SECURITY.md lacks: {row}");
        }
    }

    #[test]
    fn s30_what_notes_are_full_of_stays() {
        for text in [
            "Use curl -u user:password or curl -u \"$USER:$TOKEN\" and mysql -p shop",
            "| password | required |\n| token | see the vault |\n| secret | min. 12 characters |",
            "The machine shop password policy; login or password reset; machine learning password managers",
            "The key: dc3a2753a02e3c5fb21bada98f4a25c8 and WPA2 key: see router; license key: required",
            "mysqldump --port 3306 -P 3306 and docker login -u ann -p $TOKEN",
            "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "commit 2764476a1b2c3d4e5f60718293a4b5c6d7e8f901 fixes it",
            "[source: projects/Proofbox.md#H1: Proofbox | dc3a2753a02e3c5fb21bada98f4a25c8]",
            "uuid: 123e4567-e89b-12d3-a456-426614174000",
            "The password: required, at least twelve characters.",
            "Password policy: rotate yearly. Token budget: 2000. Tokens: 220",
            "token: 2026-01-31 and secret: meeting, secret santa: Thursday",
            "api_key: ${LOCAL_AGENT_API_KEY} or <your key> or xxxxxxxx",
            "password: ask Jonas; passphrase: see vault",
            "see https://example.org/a/b?token_type=bearer and notes:projects/Plan.md",
            "call +49 151 23456789, IBAN DE89 3704 0044 0532 0130 00, 14:30:00Z",
            "Bearer of bad news; basic understanding of baking",
            "最終発酵は32度。Kündigungsfrist: sechs Monate zum Quartalsende",
            "a very-long-kebab-case-heading-that-goes-on-and-on-for-ever",
            "sk-learn and skin_care and ghp_short and AKIAB",
            "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b\n\
             53c234e5e8472b6ac51c1ae1cab3fe06fad053beb8ebfd8977b010655bfdd3c3\n\
             1121cfccd5913f0a63fec40a6ffd44ea64f9dc135c66634ba001d10bcf4302a2\n",
        ] {
            assert_eq!(
                redact(text),
                Redacted {
                    text: Cow::Borrowed(text),
                    count: 0
                }
            );
        }
    }

    #[test]
    fn all_patterns_are_patterns() {
        assert_eq!(KNOWN.len(), FORMS.len());
        assert_eq!(PLACED.len(), PLACES.len());
        assert!(BASE64.is_some());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived_and_plain_words_stay(text in "\\PC{0,400}", words in "([a-zäöü]{1,12} ){0,40}") {
            let once = redact(&text).text.into_owned();
            assert_eq!(&*redact(&once).text, &once);
            assert_eq!(redact(&words).count, 0);
        }
    }
}
