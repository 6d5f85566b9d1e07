//! Turns a document's stream of words, breaks and cells into a [`Rendition`]. Nothing here nests,
//! so documents of any depth can be read.

use super::NoText;
use super::rendition::{Rendition, disarmed_line, one_line};

/// The kind of the open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Role {
    #[default]
    Paragraph,
    Heading(u8),
    Item,
    /// Lines whose line breaks are kept.
    #[cfg(feature = "html")]
    Lines,
}

/// The row of a table that is being read.
#[derive(Debug, Default)]
struct TableRow {
    cells: Vec<String>,
    /// Whether it follows another row of the same table.
    is_later: bool,
}

#[derive(Debug)]
pub(crate) struct Flow {
    out: Rendition,
    words: String,
    role: Role,
    /// The items of the open list, one line each.
    items: Vec<String>,
    /// The rows of the open table.
    rows: Vec<String>,
    /// The row that is open.
    row: Option<TableRow>,
    /// The length of `items` and `rows` together, in bytes.
    waiting: usize,
    most: usize,
}

impl Flow {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            out: Rendition::new(most),
            words: String::new(),
            role: Role::Paragraph,
            items: Vec::new(),
            rows: Vec::new(),
            row: None,
            waiting: 0,
            most,
        }
    }

    /// Adds words to the open block.
    pub(crate) fn say(&mut self, words: &str) -> Result<(), NoText> {
        if self.words.len().saturating_add(words.len()) > self.most || self.waiting > self.most {
            return Err(NoText::TooLarge);
        }
        self.words.push_str(words);
        Ok(())
    }

    /// Sets the kind of the open block, when it begins.
    pub(crate) fn is(&mut self, role: Role) {
        self.role = role;
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Whether the open block has no words yet.
    #[cfg(feature = "html")]
    pub(crate) fn is_blank(&self) -> bool {
        self.words.trim().is_empty()
    }

    /// Ends the open block. In a table cell it adds a space instead, because a row is one line.
    pub(crate) fn end_block(&mut self) -> Result<(), NoText> {
        if self.row.is_some() {
            self.words.push(' ');
            self.role = Role::Paragraph;
            return Ok(());
        }
        let words = std::mem::take(&mut self.words);
        let role = std::mem::take(&mut self.role);
        if words.trim().is_empty() {
            return Ok(());
        }
        if role != Role::Item {
            self.end_list()?;
        }
        self.end_table()?;
        match role {
            Role::Heading(level) => self.out.heading(level, &words),
            Role::Item => {
                let item = format!("- {}", disarmed_line(&one_line(&words)));
                self.waiting += item.len();
                self.items.push(item);
                Ok(())
            }
            #[cfg(feature = "html")]
            Role::Lines => self.out.block(&fenced(&words)),
            Role::Paragraph => self.out.words(&lines(&words)),
        }
    }

    fn end_list(&mut self) -> Result<(), NoText> {
        let items = std::mem::take(&mut self.items);
        self.waiting -= length(&items);
        self.out.block(&items.join("\n"))
    }

    /// Ends the table whose rows were read last.
    pub(crate) fn end_table(&mut self) -> Result<(), NoText> {
        self.end_row();
        let rows = std::mem::take(&mut self.rows);
        self.waiting -= length(&rows);
        self.out.block(&rows.join("\n"))
    }

    pub(crate) fn begin_row(&mut self) -> Result<(), NoText> {
        self.end_row();
        if self.rows.is_empty() {
            self.end_block()?;
            self.end_list()?;
        }
        self.row = Some(TableRow {
            cells: Vec::new(),
            is_later: !self.rows.is_empty(),
        });
        Ok(())
    }

    pub(crate) fn end_cell(&mut self) {
        let Some(row) = &mut self.row else {
            return;
        };
        let words = std::mem::take(&mut self.words);
        let words = disarmed_line(&one_line(&words));
        row.cells.push(words.replace('|', "\\|"));
    }

    pub(crate) fn end_row(&mut self) {
        if !self.words.trim().is_empty() {
            self.end_cell();
        }
        let Some(row) = self.row.take() else {
            return;
        };
        if row.cells.iter().all(String::is_empty) {
            return;
        }
        let line = format!("| {} |", row.cells.join(" | "));
        self.waiting += line.len();
        self.rows.push(line);
        if !row.is_later {
            let rule = format!("|{}", " --- |".repeat(row.cells.len()));
            self.waiting += rule.len();
            self.rows.push(rule);
        }
    }

    /// Turns the cells so far, and the rest of the table, into paragraphs: the table is used for
    /// layout.
    pub(crate) fn leave_row(&mut self) -> Result<(), NoText> {
        let Some(row) = self.row.take() else {
            return Ok(());
        };
        self.end_table()?;
        for cell in row.cells {
            self.out.words(&cell)?;
        }
        self.end_block()
    }

    /// Adds a heading that is not a block of the document.
    #[cfg(feature = "docx")]
    pub(crate) fn place(&mut self, level: u8, title: &str) -> Result<(), NoText> {
        self.end_all()?;
        self.out.heading(level, title)
    }

    fn end_all(&mut self) -> Result<(), NoText> {
        self.end_row();
        self.end_block()?;
        self.end_list()?;
        self.end_table()
    }

    pub(crate) fn finish(mut self) -> Result<String, NoText> {
        self.end_all()?;
        Ok(self.out.finish())
    }
}

/// The length of all lines together, in bytes.
fn length(lines: &[String]) -> usize {
    lines.iter().map(String::len).sum()
}

/// Collapses white space to single spaces, but keeps explicit line breaks.
fn lines(words: &str) -> String {
    let lines: Vec<String> = words.lines().map(one_line).collect();
    lines.join("\n")
}

/// Puts lines between fences that are longer than any fence in them.
#[cfg(feature = "html")]
fn fenced(words: &str) -> String {
    let longest = words
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let body = words.trim_matches('\n').trim_end();
    format!("{fence}\n{body}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_after_many_items_take_linear_time() {
        let mut flow = Flow::new(1 << 30);
        for _ in 0..64 * 1024 {
            flow.is(Role::Item);
            flow.say("item").unwrap();
            flow.end_block().unwrap();
        }
        // With a sum over all items for each word, this would take many minutes.
        for _ in 0..4_000_000 {
            flow.say("a").unwrap();
        }
        assert!(flow.finish().unwrap().ends_with('\n'));
    }

    #[test]
    fn items_that_are_too_long_together_are_refused() {
        let mut flow = Flow::new(100);
        let all = (0..100).try_for_each(|_| {
            flow.is(Role::Item);
            flow.say("an item")?;
            flow.end_block()
        });
        assert_eq!(all, Err(NoText::TooLarge));
    }

    #[test]
    fn two_percent_signs_are_words_in_every_block() {
        let mut flow = Flow::new(1000);
        let roles = [Role::Paragraph, Role::Heading(2), Role::Item];
        for role in roles {
            flow.is(role);
            flow.say("50 %").unwrap();
            flow.say("% of").unwrap();
            flow.end_block().unwrap();
        }
        flow.begin_row().unwrap();
        flow.say("%%%").unwrap();
        flow.end_cell();
        assert_eq!(
            flow.finish().unwrap(),
            "50 %\\% of\n\n## 50 %\\% of\n\n- 50 %\\% of\n\n| %\\%\\% |\n| --- |\n"
        );
    }
}
