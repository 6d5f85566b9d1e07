//! Addresses of files in links: what a terminal or a page opens.

use std::path::Path;
use std::sync::OnceLock;

use local_agent_text::types::percent_encode;

/// An address that opens a line of a file in an editor: the template in LOCAL_AGENT_LINK, otherwise
/// the address that the person's editor opens, or Visual Studio Code, because a browser does not
/// follow a link from a page to a file.
pub(super) fn editor_link(path: &Path, line: usize) -> String {
    match LINK_TEMPLATE.get() {
        Some(_) => link_target(path, line),
        None => filled(EDITOR_TEMPLATE.get().unwrap_or(&VSCODE), path, line),
    }
}

/// The target of a link to a line of a file: the template in LOCAL_AGENT_LINK with `{path}` and
/// `{line}` replaced; without a template, what opens the file here.
pub(super) fn link_target(path: &Path, line: usize) -> String {
    match LINK_TEMPLATE.get() {
        Some(template) => {
            let path = path.to_string_lossy();
            let path = percent_encode(&path, URI_SPECIAL);
            let target = template.replace("{path}", &path);
            let target = target.replace("{line}", &line.to_string());
            ascii(&target.replace("{col}", "1"))
        }
        None => usual_target(path, line, EDITOR_TEMPLATE.get().copied()),
    }
}

/// What may not be in a value of a query of an address.
const IN_QUERY: &str = " #?&=+[]<>\"^`{|}\\";

/// The target of a link without a template: Obsidian for a file below a vault, the person's editor
/// if it opens addresses, otherwise the file itself. It is ASCII: the escape sequence of a link may
/// contain nothing else.
fn usual_target(path: &Path, line: usize, editor: Option<&str>) -> String {
    let shown = path.to_string_lossy();
    if is_in_vault(path) {
        let path = percent_encode(&shown, &format!("/{IN_QUERY}"));
        return ascii(&format!("obsidian://open?path={path}"));
    }
    ascii(&filled(editor.unwrap_or("file:///{path}"), path, line))
}

/// A template with a path, which begins after its slash, and a line.
fn filled(template: &str, path: &Path, line: usize) -> String {
    let shown = path.to_string_lossy();
    // Behind `?` a path is one value of several.
    let special = match template.contains('?') {
        true => IN_QUERY,
        false => URI_SPECIAL,
    };
    let encoded = percent_encode(&shown, special);
    let target = template.replace("{path}", encoded.trim_start_matches('/'));
    target.replace("{line}", &line.to_string())
}

/// Whether Obsidian opens this file: of a kind that it shows, below a folder with `.obsidian`.
fn is_in_vault(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_shown = extension.is_some_and(|extension| {
        let shown = ["md", "canvas", "pdf"];
        shown.iter().any(|one| extension.eq_ignore_ascii_case(one))
    });
    is_shown
        && path
            .ancestors()
            .skip(1)
            .any(|dir| dir.join(".obsidian").is_dir())
}

/// Characters that a path in a URI may not contain.
const URI_SPECIAL: &str = " %#?[]<>\"^`{|}\\";

/// The text with every other character than ASCII as percent escapes.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii() {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

static LINK_TEMPLATE: OnceLock<String> = OnceLock::new();

/// Sets the target of [`link_target`], once; a template that could end the escape sequence is
/// ignored.
pub(super) fn set_link_template(template: String) {
    if !template.chars().any(char::is_control) {
        let _ = LINK_TEMPLATE.set(template);
    }
}

static EDITOR_TEMPLATE: OnceLock<&'static str> = OnceLock::new();

/// The address with which Visual Studio Code opens a line of a file.
const VSCODE: &str = "vscode://file/{path}:{line}";

/// Programs of editors, and the addresses that they open.
const EDITORS: &[(&str, &str)] = &[
    ("code", VSCODE),
    ("code-insiders", "vscode-insiders://file/{path}:{line}"),
    ("codium", "vscodium://file/{path}:{line}"),
    ("cursor", "cursor://file/{path}:{line}"),
    ("idea", "idea://open?file=/{path}&line={line}"),
    ("mate", "txmt://open?url=file:///{path}&line={line}"),
    ("mvim", "mvim://open?url=file:///{path}&line={line}"),
    ("subl", "subl://open?url=file:///{path}&line={line}"),
    ("vscode", VSCODE),
    ("windsurf", "windsurf://file/{path}:{line}"),
    ("zed", "zed://file/{path}:{line}"),
];

/// Makes [`link_target`] open files in this editor, named by a command such as `code --wait`, if it
/// opens addresses.
pub(super) fn link_to_editor(command: &str) {
    let program = command.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    if let Some((_, template)) = EDITORS.iter().find(|(editor, _)| *editor == name) {
        let _ = EDITOR_TEMPLATE.set(template);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_file_is_a_percent_encoded_address() {
        assert_eq!(
            link_target(Path::new("/a b/c#1.md"), 3),
            "file:///a%20b/c%231.md"
        );
    }

    #[test]
    fn a_link_holds_only_what_its_escape_sequence_may_hold() {
        let target = link_target(Path::new("/ja/食パン ü.md"), 3);
        assert_eq!(target, "file:///ja/%E9%A3%9F%E3%83%91%E3%83%B3%20%C3%BC.md");
        assert!(target.bytes().all(|b| (32..=126).contains(&b)));
    }

    #[test]
    fn a_link_opens_the_program_that_the_file_and_the_terminal_belong_to() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("sub dir/食 & パン.md");
        let plain = usual_target(&note, 3, None);
        assert!(plain.starts_with("file:///"), "{plain}");
        let code = usual_target(&note, 3, Some(VSCODE));
        assert!(code.starts_with("vscode://file/"), "{code}");
        assert!(
            code.ends_with("/sub%20dir/%E9%A3%9F%20&%20%E3%83%91%E3%83%B3.md:3"),
            "{code}"
        );
        std::fs::create_dir(folder.path().join(".obsidian")).unwrap();
        let vault = usual_target(&note, 3, Some(VSCODE));
        assert!(vault.starts_with("obsidian://open?path=%2F"), "{vault}");
        assert!(
            vault.ends_with("%2Fsub%20dir%2F%E9%A3%9F%20%26%20%E3%83%91%E3%83%B3.md"),
            "{vault}"
        );
        let zed = EDITORS.iter().find(|(name, _)| *name == "zed").unwrap().1;
        let source = usual_target(&note.with_extension("rs"), 3, Some(zed));
        assert!(
            source.starts_with("zed://file/") && source.ends_with(".rs:3"),
            "{source}"
        );
        let source = usual_target(&note.with_extension("rs"), 3, None);
        assert!(source.starts_with("file:///"), "{source}");
    }
}
