//! JSON Canvas, the format of Obsidian's boards. Groups become headings above the cards inside
//! them, and each card comes below its line number in the file.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::NoText;
use super::rendition::{DEEPEST, Rendition, disarmed, disarmed_line, one_line};
use local_agent_text::markdown::{closed, code_blocks};

/// Maximum number of nodes and edges of one board together.
const MOST_ELEMENTS: usize = 20_000;
/// Maximum number of groups of one board. Each node is compared with each group.
const MOST_GROUPS: usize = 1_000;
/// The level of a group that is not inside another.
const GROUP_LEVEL: u8 = 2;
/// Maximum number of characters of a card's text that name it at the end of an arrow.
const NAME_CHARS: usize = 60;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CanvasNode {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    text: String,
    file: String,
    subpath: String,
    url: String,
    label: String,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// The line of the file at which it begins, from 1.
    #[serde(skip)]
    line: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CanvasEdge {
    from_node: String,
    to_node: String,
    label: String,
    #[serde(skip)]
    line: usize,
}

/// The text of a board; an error if it has none.
pub(crate) fn text(bytes: &[u8], most: usize) -> Result<String, NoText> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let json = std::str::from_utf8(bytes).map_err(|_| NoText::broken("it is not UTF-8"))?;
    if json.trim().is_empty() {
        return Ok(String::new());
    }
    serde_json::from_str::<IgnoredAny>(json)
        .map_err(|error| NoText::broken(format!("it is not JSON: {error}")))?;
    let elements = elements(json);
    if elements.len() > MOST_ELEMENTS {
        return Err(NoText::broken(format!(
            "it has more than {MOST_ELEMENTS} nodes and edges"
        )));
    }
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let (mut line, mut seen) = (1, 0);
    for (list, range) in elements {
        line += json[seen..range.start].matches('\n').count();
        seen = range.start;
        let one = &json[range];
        match list {
            List::Nodes => nodes.push(CanvasNode {
                line,
                ..read(one, line)?
            }),
            List::Edges => edges.push(CanvasEdge {
                line,
                ..read(one, line)?
            }),
        }
    }
    Board::of(nodes, edges)?.write(most)
}

fn read<'j, T: Deserialize<'j>>(json: &'j str, line: usize) -> Result<T, NoText> {
    serde_json::from_str(json).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line").next().unwrap_or_default();
        NoText::broken(format!("line {line} is not part of a canvas: {what}"))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Nodes,
    Edges,
}

/// The byte ranges of the elements of the lists `nodes` and `edges` in valid JSON, in their order.
fn elements(json: &str) -> Vec<(List, Range<usize>)> {
    let bytes = json.as_bytes();
    let mut out = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    // The last string at the top level, which is the key of the value after it.
    let (mut key, mut open) = (0..0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = end_of_string(bytes, at);
                if depth == 1 {
                    key = at..end;
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                if depth == 2 && bytes[at] == b'{' {
                    open = list_of(&json[key.clone()]).map(|list| (list, at));
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 2
                    && let Some((list, start)) = open.take()
                {
                    out.push((list, start..at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

fn list_of(key: &str) -> Option<List> {
    match key {
        "\"nodes\"" => Some(List::Nodes),
        "\"edges\"" => Some(List::Edges),
        _ => None,
    }
}

/// One past the quote that closes the string that begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A board with the group of each node.
struct Board {
    nodes: Vec<CanvasNode>,
    edges: Vec<CanvasEdge>,
    /// The nodes directly in each group; the last list contains those outside all groups.
    inside: Vec<Vec<usize>>,
}

impl Board {
    fn of(nodes: Vec<CanvasNode>, edges: Vec<CanvasEdge>) -> Result<Self, NoText> {
        let is_group = |at: &usize| nodes[*at].kind == "group";
        let mut groups: Vec<usize> = (0..nodes.len()).filter(is_group).collect();
        if groups.len() > MOST_GROUPS {
            return Err(NoText::broken(format!(
                "it has more than {MOST_GROUPS} groups"
            )));
        }
        // The smallest group comes first; of equal ones the later, so that no two groups contain
        // each other.
        groups.sort_by(|a, b| {
            let (one, other) = (nodes[*a].area(), nodes[*b].area());
            one.total_cmp(&other).then(b.cmp(a))
        });
        let mut inside = vec![Vec::new(); nodes.len() + 1];
        for at in 0..nodes.len() {
            let own = groups.iter().position(|group| *group == at);
            let larger = own.map_or(0, |own| own + 1);
            let holds = |group: &&usize| nodes[**group].holds(&nodes[at]);
            let parent = groups[larger..].iter().find(holds);
            inside[parent.copied().unwrap_or(nodes.len())].push(at);
        }
        Ok(Self {
            nodes,
            edges,
            inside,
        })
    }

    fn write(&self, most: usize) -> Result<String, NoText> {
        let mut out = Rendition::new(most);
        // The nodes that are still to be written, each with its level; the next one is at the end.
        let mut todo = Vec::new();
        self.open(self.nodes.len(), GROUP_LEVEL, &mut todo);
        while let Some((at, level)) = todo.pop() {
            let node = &self.nodes[at];
            if node.kind == "group" {
                let name = match node.label.trim() {
                    "" => "group",
                    label => label,
                };
                out.heading(level, name)?;
                self.open(at, (level + 1).min(DEEPEST - 2), &mut todo);
            } else {
                node.write(level, &mut out)?;
            }
        }
        self.arrows(&mut out)?;
        Ok(out.finish())
    }

    /// Adds the content of a group: its cards, then its inner groups.
    fn open(&self, group: usize, level: u8, todo: &mut Vec<(usize, u8)>) {
        let is_group = |at: &&usize| self.nodes[**at].kind == "group";
        let all = || self.inside[group].iter().rev();
        todo.extend(all().filter(is_group).map(|at| (*at, level)));
        todo.extend(all().filter(|at| !is_group(at)).map(|at| (*at, level)));
    }

    /// Writes the edges that carry information.
    fn arrows(&self, out: &mut Rendition) -> Result<(), NoText> {
        let named: HashMap<&str, String> = self
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), node.name()))
            .collect();
        let name = |id: &str| named.get(id).map_or("?", String::as_str);
        let lines: Vec<String> = self
            .edges
            .iter()
            .filter(|edge| !edge.label.trim().is_empty())
            .map(|edge| {
                let (from, to) = (name(&edge.from_node), name(&edge.to_node));
                let label = one_line(&edge.label);
                disarmed_line(&format!(
                    "- {from} → {to}: {label} (line {} of the file)",
                    edge.line
                ))
            })
            .collect();
        if lines.is_empty() {
            return Ok(());
        }
        out.heading(GROUP_LEVEL, "connections")?;
        out.block(&lines.join("\n"))
    }
}

impl CanvasNode {
    fn area(&self) -> f64 {
        self.width * self.height
    }

    /// Whether the centre of another node is inside this one.
    fn holds(&self, other: &Self) -> bool {
        let (x, y) = (other.x + other.width / 2.0, other.y + other.height / 2.0);
        (self.x..=self.x + self.width).contains(&x) && (self.y..=self.y + self.height).contains(&y)
    }

    fn write(&self, level: u8, out: &mut Rendition) -> Result<(), NoText> {
        let body = match self.kind.as_str() {
            "file" => self.link(),
            "link" if is_address(&self.url) => format!("<{}>", self.url),
            "link" => disarmed(&one_line(&self.url)),
            _ => lowered(&self.text, level),
        };
        if body.trim().is_empty() {
            return Ok(());
        }
        out.heading(level, &format!("line {} of the file", self.line))?;
        out.block(&body)
    }

    /// A link to the node's file.
    fn link(&self) -> String {
        let target = one_line(&format!("{}{}", self.file, self.subpath));
        match target.contains(['[', ']', '|']) || target.contains("%%") {
            true => disarmed(&target),
            false if target.is_empty() => target,
            false => format!("[[{target}]]"),
        }
    }

    /// The name of the node at the end of an arrow.
    fn name(&self) -> String {
        let words = match self.kind.as_str() {
            "file" => &self.file,
            "link" => &self.url,
            "group" => &self.label,
            _ => &self.text,
        };
        let first = words.lines().map(one_line).find(|line| !line.is_empty());
        let name = first.unwrap_or_default();
        let name = name.trim_start_matches('#').trim_start();
        match name.char_indices().nth(NAME_CHARS) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None if name.is_empty() => "?".to_owned(),
            None => name.to_owned(),
        }
    }
}

fn is_address(url: &str) -> bool {
    url.contains("://")
        && !url.contains(|c: char| c.is_whitespace() || c == '<' || c == '>')
        && !url.contains("%%")
}

/// The markdown of a card, with its headings below the card's own heading. What is open at its end
/// is closed, so that it does not include the next card.
fn lowered(text: &str, level: u8) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut blocks = code_blocks(text).into_iter().peekable();
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        at += whole.len();
        while blocks.next_if(|block| block.end < at).is_some() {}
        if blocks.peek().is_some_and(|block| block.start < at) {
            out.push(line.to_owned());
            continue;
        }
        let bare = line.trim_start();
        let marks = bare.len() - bare.trim_start_matches('#').len();
        let under = underlined(bare).filter(|_| out.last().is_some_and(|above| is_words(above)));
        if let Some(own) = under {
            let above = out.pop().unwrap_or_default();
            out.push(format!("{} {}", heading_marks(own, level), above.trim()));
        } else if (1..=6).contains(&marks) && bare[marks..].starts_with([' ', '\t']) {
            out.push(format!("{}{}", heading_marks(marks, level), &bare[marks..]));
        } else {
            out.push(line.to_owned());
        }
    }
    closed(&out.join("\n"))
}

fn heading_marks(own: usize, level: u8) -> String {
    "#".repeat((own + usize::from(level)).min(usize::from(DEEPEST)))
}

/// The level of a heading that is underlined by this line.
fn underlined(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let all = |mark: char| !line.is_empty() && line.chars().all(|c| c == mark);
    match (all('='), all('-')) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}

/// Whether a line can become a heading by an underline.
fn is_words(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with(['#', '-', '*', '+', '>', '|', '`', '~'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_text::markdown::{ChunkOptions, Scheme, parse};

    fn read_board(json: &str) -> String {
        text(json.as_bytes(), 1 << 20).unwrap()
    }

    const BOARD: &str = r##"{
	"nodes":[
		{"id":"g","type":"group","x":0,"y":0,"width":400,"height":400,"label":"Pond"},
		{"id":"a","type":"text","text":"# Carp\n\nForty \"big\" carp.","x":10,"y":10,"width":100,"height":50},
		{"id":"b","type":"file","file":"notes/Pump.md","subpath":"#Service","x":500,"y":0,"width":10,"height":10},
		{"id":"c","type":"link","url":"https://example.org/a","x":500,"y":50,"width":10,"height":10}
	],
	"edges":[
		{"id":"e","fromNode":"b","toNode":"a","label":"feeds"},
		{"id":"f","fromNode":"c","toNode":"a"}
	]
}"##;

    #[test]
    fn groups_are_headings_and_cards_stand_below_their_lines() {
        assert_eq!(
            read_board(BOARD),
            "## line 5 of the file\n\n[[notes/Pump.md#Service]]\n\n\
             ## line 6 of the file\n\n<https://example.org/a>\n\n\
             ## Pond\n\n### line 4 of the file\n\n#### Carp\n\nForty \"big\" carp.\n\n\
             ## connections\n\n- notes/Pump.md → Carp: feeds (line 9 of the file)\n"
        );
    }

    #[test]
    fn groups_lie_in_groups_and_equal_ones_not_in_each_other() {
        let group = |id: &str, size: u32| {
            format!(
                r#"{{"type":"group","id":"{id}","label":"{id}","width":{size},"height":{size}}}"#
            )
        };
        let card = r#"{"type":"text","text":"card","width":1,"height":1}"#;
        let nodes = [
            group("large", 9),
            group("small", 4),
            group("twin", 4),
            card.to_owned(),
        ];
        let board = format!(r#"{{"nodes":[{}]}}"#, nodes.join(","));
        assert_eq!(
            read_board(&board),
            "## large\n\n### small\n\n#### twin\n\n#### line 1 of the file\n\ncard\n"
        );
    }

    #[test]
    fn a_card_keeps_to_itself() {
        assert_eq!(
            lowered("Title\n=====\nx\n```\n# no heading\n", 3),
            "#### Title\nx\n```\n# no heading\n```"
        );
        assert_eq!(
            lowered("---\n- a\n---\n###### x", 2),
            "---\n- a\n---\n###### x"
        );
    }

    #[test]
    fn no_card_swallows_the_next_one() {
        for first in [
            "```x```",
            "    ```",
            "- a\\n  ```\\n  b",
            "```\\nopen",
            "<!-- open",
            "<pre>\\nopen",
            "50 %% of",
            "a %% b %% c %%",
        ] {
            for kind in ["text", "group", "link", "file"] {
                let board = format!(
                    r#"{{"nodes":[
                        {{"type":"{kind}","text":"{first}","label":"{first}","url":"{first}","file":"{first}"}},
                        {{"type":"text","text":"Next #tagged %% x","x":9}}]}}"#
                );
                let text = read_board(&board);
                let options = ChunkOptions {
                    scheme: Scheme::ObsidianV2,
                    max_tokens: 1000,
                    max_chars: 1000,
                    overlap: 0,
                };
                let document = parse(&text, &options, &str::len);
                assert_eq!(document.tags, ["tagged"], "{kind}: {text}");
            }
        }
    }

    #[test]
    fn what_is_no_canvas_is_said() {
        let why = |json: &str| text(json.as_bytes(), 1000).unwrap_err().to_string();
        assert!(why("{\"nodes\":[").starts_with("it is not JSON"));
        let wrong = why("{\"nodes\":[\n{\"type\":3}]}");
        assert!(
            wrong.starts_with("line 2 is not part of a canvas"),
            "{wrong}"
        );
        assert!(why(&"[".repeat(100_000)).starts_with("it is not JSON"));
        let deep = format!(
            "{{\"nodes\":[{{\"x\":{}1{}}}]}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(why(&deep).contains("not part of a canvas"));
        assert_eq!(read_board(""), "");
        assert_eq!(read_board("{\"a\":{\"nodes\":[{\"x\":\"y\"}]}}"), "");
        let many = format!("{{\"nodes\":[{}{{}}]}}", "{},".repeat(MOST_ELEMENTS));
        assert!(why(&many).contains("more than"));
    }
}
