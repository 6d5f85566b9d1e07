//! Checks architecture rules that no manifest can express: which modules of a package may use each
//! other, and which operations are allowed in only one place. The manifests define which packages
//! may use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use quote::ToTokens as _;
use syn::{Attribute, ImplItem, Item, Meta};

/// Package, then its modules from the bottom up, each with the modules of its package that it may
/// use.
type Modules = &'static [(&'static str, &'static [&'static str])];

/// Packages of several modules. A package of one module needs no table.
const MAY_USE: &[(&str, Modules)] = &[
    (
        "crates/text",
        &[
            ("types", &[]),
            ("shell", &[]),
            ("error", &["types"]),
            ("language", &[]),
            ("markdown", &["types", "error", "language"]),
            ("documents", &["types", "markdown"]),
            ("evidence", &["types", "error", "language", "markdown"]),
        ],
    ),
    ("crates/files", &[("state", &[]), ("sandbox", &[])]),
    (
        "crates/embed",
        &[("models", &[]), ("embedding", &["models"])],
    ),
    (
        "crates/index",
        &[
            ("ids", &[]),
            ("store", &["ids"]),
            ("lexical", &["ids"]),
            ("search_load", &[]),
            ("vectors", &["ids", "search_load"]),
            ("profile", &["vectors"]),
            (
                "indexing",
                &["ids", "store", "lexical", "vectors", "profile"],
            ),
            (
                "retrieval",
                &[
                    "ids",
                    "store",
                    "lexical",
                    "search_load",
                    "vectors",
                    "profile",
                ],
            ),
        ],
    ),
    (
        "crates/agent",
        &[
            ("config", &[]),
            ("llm", &["config"]),
            ("tools", &["config"]),
            ("ask", &["config", "llm", "tools"]),
            ("runs", &["config", "ask"]),
            ("memory", &[]),
            (
                "operations",
                &["ask", "config", "llm", "memory", "runs", "tools"],
            ),
        ],
    ),
    (
        ".",
        &[
            ("doctor", &[]),
            ("watch", &[]),
            ("mcp", &[]),
            ("serve", &["mcp"]),
            ("cli", &["doctor", "mcp", "serve", "watch"]),
        ],
    ),
];

/// All packages whose code is read; `testing` is never part of the program.
const PACKAGES: [&str; 11] = [
    ".",
    "crates/agent",
    "crates/embed",
    "crates/eval",
    "crates/extract",
    "crates/files",
    "crates/index",
    "crates/kernels",
    "crates/net",
    "crates/text",
    "crates/verify",
];

/// A source file of the program: its tokens without white space, comments and test-only code.
struct Source {
    package: &'static str,
    /// The path below `src`, with `/`.
    path: String,
    code: String,
    /// The names of the types that it defines.
    types: Vec<String>,
}

impl Source {
    /// Package and path, in the notation of `only_in`: `cli/args.rs` of the program, `net/http.rs`
    /// of a package below `crates`.
    fn place(&self) -> String {
        match self.package.strip_prefix("crates/") {
            Some(package) => format!("{package}/{}", self.path),
            None => self.path.clone(),
        }
    }

    fn module(&self) -> &str {
        self.path.split('/').next().unwrap().trim_end_matches(".rs")
    }
}

fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else {
            return attribute.path().is_ident("test");
        };
        let condition = list.tokens.to_string();
        attribute.path().is_ident("cfg")
            && (condition == "test" || condition.starts_with("all (test ,"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The file of `#[path = "file.rs"]`.
fn named_path(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    let is_path = pair.path.is_ident("path");
    let value = pair.value.to_token_stream().to_string();
    is_path.then(|| value.trim_matches('"').to_owned())
}

/// Removes test-only code; `elsewhere` gets the names of test-only modules in separate files.
fn without_tests(items: &mut Vec<Item>, elsewhere: &mut BTreeSet<String>) {
    for item in items.iter() {
        if let (Item::Mod(module), true) = (item, is_test_only(attributes(item))) {
            let file = module.attrs.iter().find_map(named_path);
            elsewhere.insert(file.unwrap_or_else(|| module.ident.to_string()));
        }
    }
    items.retain(|item| !is_test_only(attributes(item)));
    for item in items {
        match item {
            Item::Mod(module) => {
                if let Some((_, inner)) = &mut module.content {
                    without_tests(inner, elsewhere);
                }
            }
            Item::Impl(block) => block.items.retain(|one| match one {
                ImplItem::Fn(function) => !is_test_only(&function.attrs),
                _ => true,
            }),
            _ => {}
        }
    }
}

/// The names of the structs, enums, traits and type aliases among `items`, also in modules.
fn type_names(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Enum(i) => names.push(i.ident.to_string()),
            Item::Struct(i) => names.push(i.ident.to_string()),
            Item::Trait(i) => names.push(i.ident.to_string()),
            Item::Type(i) => names.push(i.ident.to_string()),
            Item::Union(i) => names.push(i.ident.to_string()),
            Item::Mod(module) => {
                if let Some((_, inner)) = &module.content {
                    type_names(inner, names);
                }
            }
            _ => {}
        }
    }
}

pub(crate) fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The sources of all packages, read once: several rules are about the same files.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let packages = PACKAGES.iter();
    packages.flat_map(|package| read_sources(package)).collect()
});

fn sources_of(package: &str) -> impl Iterator<Item = &'static Source> {
    SOURCES
        .iter()
        .filter(move |source| source.package == package)
}

fn read_sources(package: &'static str) -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(package)
        .join("src");
    let mut files = Vec::new();
    source_files(&src, &mut files);
    let mut found = Vec::new();
    let mut test_modules: BTreeSet<PathBuf> = BTreeSet::new();
    for file in files {
        let mut parsed = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut elsewhere = BTreeSet::new();
        without_tests(&mut parsed.items, &mut elsewhere);
        let stem = file.file_stem().unwrap();
        let folder = if stem == "mod" || stem == "lib" || stem == "main" {
            file.parent().unwrap().to_owned()
        } else {
            file.with_extension("")
        };
        // A path is that of a file next to this one.
        test_modules.extend(
            elsewhere
                .into_iter()
                .map(|name| match name.strip_suffix(".rs") {
                    Some(stem) => file.with_file_name(stem),
                    None => folder.join(name),
                }),
        );
        let mut types = Vec::new();
        type_names(&parsed.items, &mut types);
        let tokens: String = parsed
            .into_token_stream()
            .to_string()
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        found.push((file, tokens, types));
    }
    found.retain(|(file, ..)| {
        let name = file.with_extension("");
        !test_modules.iter().any(|module| name.starts_with(module))
    });
    let shown = |file: &Path| {
        file.strip_prefix(&src)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/")
    };
    found
        .into_iter()
        .map(|(file, code, types)| Source {
            package,
            path: shown(&file),
            code,
            types,
        })
        .collect()
}

/// The modules of its own package that a piece of code names: `crate::module`, also inside `use
/// crate::{a, b::c}`.
fn used(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code
        .match_indices("crate::")
        .filter(|(at, _)| !code[..*at].ends_with('$'))
    {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(heads_of_group(group)),
            None => names.push(head(rest)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The first name of each entry of a group in a `use`, up to its closing brace.
fn heads_of_group(group: &str) -> Vec<String> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.push(head(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

fn head(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

#[test]
fn every_module_uses_only_what_stands_above_it() {
    for (package, table) in MAY_USE {
        let allowed: BTreeMap<&str, &[&str]> = table.iter().copied().collect();
        let mut seen = BTreeSet::new();
        for source in sources_of(package) {
            let module = source.module().to_owned();
            if matches!(module.as_str(), "lib" | "main") {
                continue;
            }
            let may = allowed.get(module.as_str());
            let may = may.unwrap_or_else(|| {
                panic!("the module `{module}` of {package} is not in the table")
            });
            for name in used(&source.code) {
                assert!(
                    name == module || may.contains(&name.as_str()),
                    "{package}: {} uses `{name}`",
                    source.path
                );
            }
            seen.insert(module);
        }
        let order: Vec<&str> = table.iter().map(|(module, _)| *module).collect();
        for (at, (module, may)) in table.iter().enumerate() {
            assert!(
                seen.contains(*module),
                "the table names a module that does not exist: {module}"
            );
            let up = may.iter().find(|name| !order[..at].contains(*name));
            assert!(
                up.is_none(),
                "`{module}` may not use `{up:?}`: the arrow would point up"
            );
        }
    }
}

#[test]
fn every_package_is_read() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    for entry in fs::read_dir(crates).unwrap() {
        let name = format!("crates/{}", entry.unwrap().file_name().to_str().unwrap());
        assert!(
            name == "crates/testing" || PACKAGES.contains(&name.as_str()),
            "{name} is in no rule"
        );
    }
}

/// `cargo test` runs the examples of documentation only where the manifest does not turn them off.
#[test]
fn every_example_of_the_documentation_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for package in PACKAGES {
        let manifest = fs::read_to_string(root.join(package).join("Cargo.toml")).unwrap();
        if !manifest.contains("doctest = false") {
            continue;
        }
        let mut files = Vec::new();
        source_files(&root.join(package).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                !has_example(&text),
                "{} has an example that never runs",
                file.display()
            );
        }
    }
}

/// Whether the documentation in this source has a block of code that would run.
fn has_example(source: &str) -> bool {
    let lines = source.lines().map(str::trim_start);
    let fences = lines.filter_map(|line| {
        let text = line.strip_prefix("///").or(line.strip_prefix("//!"))?;
        text.trim_start().strip_prefix("```")
    });
    // Every other fence ends a block.
    fences.step_by(2).any(|kind| kind.trim() != "text")
}

#[test]
fn an_example_is_told_from_plain_text() {
    assert!(has_example("/// Adds.\n/// ```\n/// add(1, 2);\n/// ```"));
    assert!(has_example("//! ```text\n//! a\n//! ```\n/// ```rust"));
    assert!(!has_example(
        "//! ```text\n//! a\n//! ```\nlet x = \"```\";"
    ));
}

/// The paths that the `use` declarations of `code` import from `std`, with groups resolved:
/// `std::fs` and `std::io` of `use std::{fs, io}`.
fn imports_of_std(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("usestd::") {
        let declaration = code[at + "use".len()..].split(';').next().unwrap();
        resolve("", declaration, &mut paths);
    }
    paths
}

/// Adds the paths of one part of a `use` declaration.
fn resolve(before: &str, part: &str, paths: &mut Vec<String>) {
    let Some((head, group)) = part.split_once('{') else {
        paths.push(
            format!("{before}{part}")
                .trim_end_matches("::self")
                .to_owned(),
        );
        return;
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                resolve(&format!("{before}{head}"), &group[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < group.len() {
        resolve(&format!("{before}{head}"), &group[start..], paths);
    }
}

/// Whether the code has this word, also as a path that a group imports.
fn has_word(code: &str, word: &str) -> bool {
    code.contains(word) || imports_of_std(code).iter().any(|path| path.contains(word))
}

#[test]
fn the_groups_of_an_import_are_resolved() {
    let code = "usestd::{fs,io::{self,Read},collections::BTreeMap};";
    assert_eq!(
        imports_of_std(code),
        [
            "std::fs",
            "std::io",
            "std::io::Read",
            "std::collections::BTreeMap"
        ]
    );
    assert!(has_word(code, "std::fs") && has_word(code, "io::Read"));
    assert!(!has_word(code, "std::net"));
}

/// Fails for every file outside `homes` that contains one of `words`.
fn only_in(homes: &[&str], words: &[&str], why: &str) {
    let mut found = Vec::new();
    for source in SOURCES.iter() {
        let place = source.place();
        if homes.iter().any(|home| place.starts_with(home)) {
            continue;
        }
        found.extend(
            words
                .iter()
                .filter(|word| has_word(&source.code, word))
                .map(|word| format!("{place}: {word}")),
        );
    }
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn only_cli_prints_reads_the_environment_or_exits() {
    only_in(
        &["cli/", "main.rs"],
        &[
            "println!",
            "print!(",
            "eprintln!",
            "dbg!(",
            "env::var",
            "env::args",
            "process::exit",
            "io::stdin",
            "io::stdout",
            "io::stderr",
            "env::current_dir",
            "env::set_current_dir",
            "Command::new",
        ],
        "only cli/ prints, reads the environment, starts programs or exits",
    );
}

#[test]
fn s40_only_net_opens_sockets() {
    only_in(
        &["net/"],
        &[
            "reqwest::",
            "hf_hub::",
            "TcpStream",
            "UdpSocket",
            "UnixStream",
            "ureq::",
        ],
        "only the package `net` opens sockets",
    );
}

#[test]
fn only_serve_listens() {
    only_in(
        &["serve/connections.rs"],
        &[
            "TcpListener",
            "UnixListener",
            "hyper::server",
            "axum::serve",
        ],
        "only serve/connections.rs waits for others to connect",
    );
}

#[test]
fn pure_packages_touch_neither_disk_nor_clock() {
    const IMPURE: [&str; 9] = [
        "std::fs",
        "File::",
        "SystemTime",
        "Instant",
        "std::net",
        "std::env",
        "getrandom",
        "thread::",
        "std::process",
    ];
    for package in ["crates/text", "crates/verify", "crates/kernels"] {
        for source in sources_of(package) {
            // The kernels ask the machine only which instructions the processor has.
            for word in IMPURE
                .iter()
                .filter(|word| package != "crates/kernels" || **word != "thread::")
            {
                assert!(
                    !has_word(&source.code, word),
                    "{} is pure and must not use {word}",
                    source.place()
                );
            }
        }
    }
}

/// What a failure says is for people. Its code and the kind of its fix are for programs.
#[test]
fn no_decision_reads_the_words_of_a_failure() {
    only_in(
        &[],
        &[
            "hint.contains(",
            "hint.starts_with(",
            "hint.strip_prefix(",
            "hint.as_deref()==",
            ".message.contains(",
            ".message.starts_with(",
            ".message.strip_prefix(",
            "_why.contains(",
            "_why.starts_with(",
        ],
        "words of a failure are not compared",
    );
    only_in(
        &[],
        &["with_hint(\"local-agent", "with_hint(format!(\"local-agent"],
        "a hint with a command is given with `with_command` or `with_fix`",
    );
}

/// Fails for a home in which there is no source file.
fn homes_exist(homes: &[&str]) {
    for home in homes {
        assert!(
            SOURCES
                .iter()
                .any(|source| source.place().starts_with(home)),
            "there is no `{home}`"
        );
    }
}

#[test]
fn unsafe_stands_only_in_kernels_and_read_only_maps() {
    const HOMES: [&str; 5] = [
        "kernels/",
        "index/vectors/kernels",
        "index/vectors/map",
        "index/vectors/mod",
        "embed/models/map",
    ];
    homes_exist(&HOMES);
    only_in(
        &HOMES,
        &["allow(unsafe_code)", "unsafe{", "unsafefn"],
        "unsafe is allowed in SIMD kernels and in read-only file maps",
    );
}

/// The files of a user are opened by the sandbox. Every other place opens files of the program, of
/// models, or a file that the command line names.
#[test]
fn files_are_opened_only_where_it_is_said() {
    const HOMES: [&str; 9] = [
        "files/",
        "embed/models/",
        "index/lexical/",
        "index/store/",
        "index/vectors/",
        "agent/config/raw.rs",
        "agent/runs/",
        "serve/tls.rs",
        "cli/",
    ];
    homes_exist(&HOMES);
    only_in(
        &HOMES,
        &[
            "File::open",
            "File::create",
            "OpenOptions",
            "fs::read(",
            "fs::read_dir",
            "fs::read_to_string",
        ],
        "a user's files are opened by the sandbox",
    );
}

/// A struct: its name, and its fields with the last name of their types.
struct Fields {
    name: String,
    fields: Vec<(String, String)>,
}

/// A method of a struct: its name and its code without white space.
struct Method {
    name: String,
    code: String,
}

/// Code without white space.
fn tokens(code: &impl quote::ToTokens) -> String {
    let text = code.to_token_stream().to_string();
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn parsed(file: &str) -> syn::File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The last name of a type: `Vec` of `Vec<String>`.
fn type_name(kind: &syn::Type) -> String {
    match kind {
        syn::Type::Path(path) => path.path.segments.last().unwrap().ident.to_string(),
        _ => String::new(),
    }
}

/// The struct with this name in a file.
fn fields_of(file: &syn::File, name: &str) -> Option<Fields> {
    let item = file.items.iter().find_map(|item| match item {
        Item::Struct(item) if item.ident == name => Some(item),
        _ => None,
    })?;
    let fields = item.fields.iter().filter_map(|field| {
        let name = field.ident.as_ref()?.to_string();
        Some((name, type_name(&field.ty)))
    });
    Some(Fields {
        name: name.to_owned(),
        fields: fields.collect(),
    })
}

/// The methods of all structs in a file that have this name.
fn methods_of(file: &syn::File, name: &str) -> Vec<Method> {
    let blocks = file.items.iter().filter_map(|item| match item {
        Item::Impl(block) if block.trait_.is_none() && type_name(&block.self_ty) == name => {
            Some(block)
        }
        _ => None,
    });
    let functions = blocks.flat_map(|block| &block.items);
    let functions = functions.filter_map(|item| match item {
        ImplItem::Fn(function) => Some(Method {
            name: function.sig.ident.to_string(),
            code: tokens(&function.block),
        }),
        _ => None,
    });
    functions.collect()
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `code` reads the field `path`, such as `.index.max_chars` or `index.max_chars`. A call of
/// a method, and a longer name, are no read.
fn reads_field(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, _)| {
        let before = &code[..at];
        let is_in_name = before.ends_with(|c| is_name_part(c) || c == '.');
        // A keyword and the name after it are one word without white space.
        let begins = path.starts_with('.')
            || !is_in_name
            || ["if", "in", "match", "return", "while"]
                .iter()
                .any(|keyword| before.ends_with(keyword));
        let next = code[at + path.len()..].chars().next();
        begins && next.is_none_or(|c| !is_name_part(c) && c != '(')
    })
}

/// The names under which `code` has a section of the configuration: `let llm = &config.llm;`, or a
/// parameter of its type.
fn names_of_section(code: &str, section: &str, kind: &str) -> Vec<String> {
    let patterns = [
        format!(r"\blet(\w+)=&?[\w.]*\.{section};"),
        format!(r"\b(\w+):&(?:'[a-z_]+)?{kind}\b"),
    ];
    let mut names = Vec::new();
    for pattern in patterns {
        let pattern = regex::Regex::new(&pattern).unwrap();
        names.extend(pattern.captures_iter(code).map(|found| found[1].to_owned()));
    }
    names
}

/// Whether `code` takes a section apart and names the field: `let Index { max_chars, .. } = …`.
fn takes_apart(code: &str, kind: &str, field: &str) -> bool {
    let start = format!("let{kind}{{");
    let parts = code.split(start.as_str()).skip(1);
    let lists = parts.filter_map(|part| part.split_once('}'));
    let mut names = lists.flat_map(|(list, _)| list.split(','));
    names.any(|name| name.split(':').next() == Some(field))
}

/// Whether `code` reads a field of a section.
fn reads_setting(code: &str, section: &str, kind: &str, field: &str) -> bool {
    let by_name = |name: &String| reads_field(code, &format!("{name}.{field}"));
    reads_field(code, &format!(".{section}.{field}"))
        || takes_apart(code, kind, field)
        || names_of_section(code, section, kind).iter().any(by_name)
}

/// The code outside the module `config`: what `config` itself does with a value, such as showing or
/// checking it, is no use of it.
fn code_outside_config() -> impl Iterator<Item = &'static str> {
    let sources = SOURCES.iter();
    let outside = sources.filter(|source| !source.place().starts_with("agent/config/"));
    outside.map(|source| source.code.as_str())
}

/// Whether a method with this code is called outside the module `config`, and reads the field.
fn is_read_by_method(methods: &[Method], reads: impl Fn(&str) -> bool) -> bool {
    methods.iter().any(|method| {
        let call = format!(".{}(", method.name);
        reads(&method.code) && code_outside_config().any(|code| code.contains(&call))
    })
}

#[test]
fn every_field_of_the_configuration_is_read() {
    let file = parsed("crates/agent/src/config/mod.rs");
    let security = parsed("crates/files/src/sandbox/policy.rs");
    let config = fields_of(&file, "Config").unwrap();
    let of_config = methods_of(&file, "Config");
    let (mut settings, mut dead) = (0, Vec::new());
    for (section, kind) in &config.fields {
        let from = if kind == "Security" { &security } else { &file };
        let is_read = code_outside_config().any(|code| reads_field(code, &format!(".{section}")))
            || is_read_by_method(&of_config, |code| {
                reads_field(code, &format!("self.{section}"))
            });
        if !is_read {
            dead.push(format!("{}.{section}", config.name));
        }
        let Some(fields) = fields_of(from, kind) else {
            continue;
        };
        let methods = methods_of(from, kind);
        for (field, _) in &fields.fields {
            settings += 1;
            let is_read = code_outside_config()
                .any(|code| reads_setting(code, section, kind, field))
                || is_read_by_method(&of_config, |code| reads_setting(code, section, kind, field))
                || is_read_by_method(&methods, |code| reads_field(code, &format!("self.{field}")));
            if !is_read {
                dead.push(format!("{section}.{field}"));
            }
        }
    }
    assert!(settings > 50, "only {settings} settings were found");
    assert!(dead.is_empty(), "nobody reads {dead:?}");
}

#[test]
fn a_setting_is_not_read_by_a_field_of_the_same_name() {
    let reads = |code| reads_setting(code, "retrieve", "Retrieve", "lexical_k");
    assert!(reads("config.retrieve.lexical_k"));
    assert!(reads("letone=&config.retrieve;f(one.lexical_k)"));
    assert!(reads("fnf(settings:&Retrieve)->usize{settings.lexical_k}"));
    assert!(reads(
        "fnf<'a>(settings:&'aRetrieve)->usize{settings.lexical_k}"
    ));
    assert!(reads(
        "letRetrieve{fusion,lexical_k:k,..}=&config.retrieve;"
    ));
    for code in [
        "config.retrieve.lexical_keys",
        "config.index.lexical_k",
        "other.lexical_k",
        "config.retrieve.lexical_k()",
        "letone=&config.retrieve;f(none.lexical_k)",
        "letIndex{lexical_k}=&config.index;",
    ] {
        assert!(!reads(code), "{code}");
    }
}

#[test]
fn a_package_defines_no_type_name_twice() {
    let mut problems = Vec::new();
    for package in PACKAGES {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for source in sources_of(package) {
            for name in &source.types {
                places
                    .entry(name.clone())
                    .or_default()
                    .push(source.path.clone());
            }
        }
        for (name, paths) in places.iter().filter(|(_, paths)| paths.len() > 1) {
            problems.push(format!("{package}: `{name}` is in {paths:?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
