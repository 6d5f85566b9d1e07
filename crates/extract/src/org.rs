//! Org files as markdown, line for line: a line of the text is the same line of the file, so that
//! citations, editors and searches agree about it.
//!
//! Headlines become headings, blocks and drawers become code or quotes, rulers and the rules of
//! tables get their form in markdown. A line that would only look like markup gets a backslash.
//! Everything else is left as it is.

use std::collections::HashMap;

/// Maximum level of a heading.
const DEEPEST: usize = 6;

/// Blocks whose lines are prose.
const QUOTES: [&str; 2] = ["quote", "verse"];

/// The text of an Org file; bytes that are not UTF-8 stay as they are.
pub(crate) fn text(bytes: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(&bytes) {
        Ok(org) => markdown(org).into_bytes(),
        Err(_) => bytes,
    }
}

fn markdown(org: &str) -> String {
    let lines: Vec<&str> = org.split('\n').collect();
    let ends = PartEnds::of(&lines);
    let mut out: Vec<String> = Vec::with_capacity(lines.len());
    while let Some(line) = lines.get(out.len()) {
        match Part::starting(line, out.len(), &ends) {
            Some(part) => out.extend(part.lines(lines.get(out.len()..).unwrap_or_default())),
            None => out.push(one_line(line)),
        }
    }
    out.join("\n")
}

/// The lines at which blocks and drawers may end, found once: a file may begin any number of parts that
/// never end.
struct PartEnds {
    /// The lines `#+end_name`, ascending, by name in lower case.
    blocks: HashMap<String, Vec<usize>>,
    /// The lines `:end:` and the headlines, ascending; whether it is `:end:`.
    drawers: Vec<(usize, bool)>,
}

impl PartEnds {
    fn of(lines: &[&str]) -> Self {
        let mut blocks: HashMap<String, Vec<usize>> = HashMap::new();
        let mut drawers = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let bare = line.trim();
            if let Some(name) = after(bare, "#+end_") {
                blocks.entry(name.to_lowercase()).or_default().push(at);
            }
            let is_end = bare.eq_ignore_ascii_case(":end:");
            if is_end || headline(line).is_some() {
                drawers.push((at, is_end));
            }
        }
        Self { blocks, drawers }
    }

    /// The line that ends a block of this name which begins at line `start`.
    fn block(&self, name: &str, start: usize) -> Option<usize> {
        let ends = self.blocks.get(name)?;
        ends.get(ends.partition_point(|end| *end <= start)).copied()
    }

    /// The line that ends a drawer which begins at line `start`; `None` if a headline comes first.
    fn drawer(&self, start: usize) -> Option<usize> {
        let at = self.drawers.partition_point(|(end, _)| *end <= start);
        let (end, is_end) = self.drawers.get(at)?;
        is_end.then_some(*end)
    }
}

/// Several lines that belong together, by their number.
enum Part {
    Quote(usize),
    /// With the language of the code.
    Code(usize, String),
}

impl Part {
    /// The block or drawer that begins with this line, which is line `start`; `None` if there is none,
    /// or none that ends.
    fn starting(line: &str, start: usize, ends: &PartEnds) -> Option<Self> {
        let first = line.trim();
        if let Some(words) = after(first, "#+begin_") {
            let mut words = words.split_whitespace();
            let name = words.next()?.to_lowercase();
            let count = ends.block(&name, start)? - start + 1;
            let language = words.next().filter(|_| name == "src");
            return Some(match QUOTES.contains(&name.as_str()) {
                true => Self::Quote(count),
                false => Self::Code(count, language.unwrap_or_default().replace('`', "")),
            });
        }
        if !is_drawer(first) {
            return None;
        }
        let count = ends.drawer(start)? - start + 1;
        Some(Self::Code(count, String::new()))
    }

    /// Its lines as markdown, as many as it has.
    fn lines(&self, lines: &[&str]) -> Vec<String> {
        let (Self::Quote(count) | Self::Code(count, _)) = *self;
        let inside = lines.get(1..count.saturating_sub(1)).unwrap_or_default();
        let ended = |line: Option<&&str>, text: String| match line {
            Some(line) if line.ends_with('\r') => text + "\r",
            _ => text,
        };
        let (open, close, inside): (String, String, Vec<String>) = match self {
            Self::Quote(_) => {
                let quoted = inside.iter().map(|line| format!("> {}", line.trim_start()));
                (String::new(), String::new(), quoted.collect())
            }
            Self::Code(_, language) => {
                let fence = fence_around(inside);
                let verbatim = inside.iter().map(|line| (*line).to_owned());
                (format!("{fence}{language}"), fence, verbatim.collect())
            }
        };
        let mut out = vec![ended(lines.first(), open)];
        out.extend(inside);
        out.push(ended(lines.get(count - 1), close));
        out
    }
}

/// A fence that is longer than every one inside.
fn fence_around(inside: &[&str]) -> String {
    let ticks = |line: &&str| {
        let bare = line.trim_start();
        bare.len() - bare.trim_start_matches('`').len()
    };
    let longest = inside.iter().map(ticks).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// A line outside of blocks and drawers.
fn one_line(line: &str) -> String {
    let bare = line.trim();
    let end = if line.ends_with('\r') { "\r" } else { "" };
    if let Some((level, title)) = headline(line) {
        let marks = "#".repeat(level.min(DEEPEST));
        return format!("{marks} {}{end}", with_hash_tags(title));
    }
    if is_all(bare, '-') {
        return format!("***{end}");
    }
    if bare.starts_with("|-") && bare.chars().all(|c| matches!(c, '|' | '-' | '+')) {
        return line.replace('+', "|");
    }
    match looks_like_markup(bare) {
        true => format!("\\{}", line.trim_start()),
        false => line.to_owned(),
    }
}

/// Whether a line of Org means something else as markdown.
fn looks_like_markup(bare: &str) -> bool {
    let is_tag =
        |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '!'));
    (bare.starts_with('#') && !bare.starts_with("#+"))
        || is_all(bare, '=')
        || bare.starts_with("```")
        || bare.starts_with("~~~")
        || bare.strip_prefix('<').is_some_and(is_tag)
}

/// Whether the line is three or more of this character.
fn is_all(bare: &str, mark: char) -> bool {
    bare.len() >= 3 && bare.chars().all(|c| c == mark)
}

/// The number of stars of a headline, and what follows them.
fn headline(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('*');
    let level = line.len() - title.len();
    (level > 0 && title.starts_with([' ', '\t'])).then(|| (level, title.trim()))
}

/// The title with `:one:two:` at its end as `#one #two`.
fn with_hash_tags(title: &str) -> String {
    let (before, last) = title.rsplit_once([' ', '\t']).unwrap_or(("", title));
    let is_part = |c: char| c.is_alphanumeric() || "_@#%:".contains(c);
    let are_tags =
        last.len() > 2 && last.starts_with(':') && last.ends_with(':') && last.chars().all(is_part);
    if !are_tags {
        return title.to_owned();
    }
    let tags = last.split(':').filter(|tag| !tag.is_empty());
    let tags: String = tags.map(|tag| format!(" #{tag}")).collect();
    format!("{}{tags}", before.trim_end())
        .trim_start()
        .to_owned()
}

/// Whether the line begins a drawer: `:PROPERTIES:`.
fn is_drawer(bare: &str) -> bool {
    let name = bare
        .strip_prefix(':')
        .and_then(|rest| rest.strip_suffix(':'));
    name.is_some_and(|name| {
        !name.is_empty()
            && !name.eq_ignore_ascii_case("end")
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    })
}

/// What follows `start`, in any case of letters.
fn after<'t>(line: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = line.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headlines_are_headings_with_their_state_and_tags() {
        for (org, text) in [
            ("* Workshop :work:wood:", "# Workshop #work #wood"),
            ("** TODO [#A] Filter", "## TODO [#A] Filter"),
            ("******** Deep\r", "###### Deep\r"),
            ("*bold* words", "*bold* words"),
            ("  * an item", "  * an item"),
            ("* :only:", "# #only"),
            ("* Time 10:30:", "# Time 10:30:"),
        ] {
            assert_eq!(markdown(org), text);
        }
    }

    #[test]
    fn blocks_and_drawers_are_code_or_quotes() {
        let org = "#+BEGIN_SRC sh\n* no headline\n```\n#+END_SRC\n:PROPERTIES:\n:ID: 7\n:END:\n#+begin_quote\nwords\n#+end_quote\n";
        let text = "````sh\n* no headline\n```\n````\n```\n:ID: 7\n```\n\n> words\n\n";
        assert_eq!(markdown(org), text);
        // What does not end is no block, and a headline ends a drawer.
        for org in ["#+begin_src\nx\n", ":LOGBOOK:\nx"] {
            assert_eq!(markdown(org), org);
        }
        assert_eq!(markdown(":A:\n* B\n:END:"), ":A:\n# B\n:END:");
    }

    #[test]
    fn what_only_looks_like_markup_is_no_markup() {
        for (org, text) in [
            ("# a remark", "\\# a remark"),
            ("#+TITLE: Bread", "#+TITLE: Bread"),
            ("words\n-----", "words\n***"),
            ("---", "***"),
            ("words\n===", "words\n\\==="),
            (
                "| a | b |\n|---+---|\n| 1+1 | 2 |",
                "| a | b |\n|---|---|\n| 1+1 | 2 |",
            ),
            ("- [ ] a\n- [X] b", "- [ ] a\n- [X] b"),
            ("<2026-01-31 Sat>", "<2026-01-31 Sat>"),
            ("<b>", "\\<b>"),
        ] {
            assert_eq!(markdown(org), text);
        }
        assert_eq!(text(b"* \xff".to_vec()), b"* \xff");
    }

    /// Each line that begins a part looked for its end in the whole rest of the file.
    #[test]
    fn parts_that_never_end_cost_no_more_than_their_lines() {
        for line in [":a:\n", "#+begin_x\n"] {
            let org = line.repeat(300_000);
            assert_eq!(markdown(&org), org);
        }
        let nested = "#+begin_x\n".repeat(3) + "#+end_x\nwords";
        assert_eq!(markdown(&nested).lines().last(), Some("words"));
    }

    proptest! {
        /// The text has the lines of the file.
        #[test]
        fn no_line_is_lost_or_added(org in "([-*# :|+=<`]{0,4}(#\\+begin_src|#\\+END_SRC|#\\+begin_quote|#\\+end_quote|:a:|:END:|[a-z ]{0,6})\r?\n){0,9}") {
            prop_assert_eq!(markdown(&org).split('\n').count(), org.split('\n').count());
        }
    }
}
