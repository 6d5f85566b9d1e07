//! Tests of the configuration from the outside: files in a folder as input, [`Loaded`] or a failure
//! as output.

use local_agent_files::sandbox::HardLinks;
use local_agent_text::types::SourceName;

use super::*;
use crate::config::keys::{KEYS, Key};

/// A scratch folder with a home, a workroot and a place for everything else.
struct TestConfiguration {
    dir: tempfile::TempDir,
}

impl TestConfiguration {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["home", "w/notes", "elsewhere"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        Self { dir }
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(rel)
    }

    fn write(&self, rel: &str, text: &str) -> PathBuf {
        let path = self.path(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The caller's current folder is `w`.
    fn inputs(&self) -> Inputs {
        Inputs {
            cwd: self.path("w"),
            home: Some(self.path("home")),
            user_config: Some(self.path("home/.config/local-agent/config.yaml")),
            trust_file: Some(self.path("home/.local/trust.json")),
            ..Inputs::default()
        }
    }

    /// Loads with `text` as the file of `--config`, and `w` as workroot.
    fn named(&self, text: &str) -> Result<Loaded> {
        load(&self.named_inputs(text))
    }

    fn named_inputs(&self, text: &str) -> Inputs {
        let file = self.write("cfg/named.yaml", text);
        Inputs {
            config_flag: Some(file),
            workroot_flag: Some(self.path("w")),
            ..self.inputs()
        }
    }
}

fn setting<'a>(loaded: &'a Loaded, key: &str) -> &'a Setting {
    loaded.origins.iter().find(|s| s.key == key).unwrap()
}

fn origin(loaded: &Loaded, key: &str) -> String {
    setting(loaded, key).origin.to_string()
}

mod shipped {
    use super::*;

    #[test]
    fn the_shipped_defaults_are_the_table() {
        let written = show::default_yaml();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(
                concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/default.yaml"),
                &written,
            )
            .unwrap();
        }
        assert_eq!(
            load::DEFAULT_YAML.replace("\r\n", "\n"),
            written,
            "configs/default.yaml is behind the table"
        );
    }

    #[test]
    fn nothing_at_all_loads_the_defaults() {
        let world = TestConfiguration::new();
        let loaded = load(&world.inputs()).unwrap();
        let config = &loaded.config;
        assert!(
            config.sources.is_empty() && config.warnings.is_empty() && loaded.layers.is_empty()
        );
        assert_eq!(config.security_root, world.path("w"));
        assert_eq!(
            config.index.db_path,
            world.path("w/.local-agent/index.sqlite")
        );
        assert_eq!(
            config.embed.db_path,
            world.path("w/.local-agent/embeddings.sqlite")
        );
        assert_eq!(
            config.memory.db_path,
            world.path("w/.local-agent/durable.sqlite")
        );
        assert_eq!(config.runs.dir, world.path("w/.local-agent/runs"));
        assert_eq!(config.lexical_dir(), world.path("w/.local-agent/lexical"));
        assert_eq!(config.vectors_dir(), world.path("w/.local-agent/vectors"));
        assert_eq!(config.protected, [world.path("w/.local-agent")]);
        assert_eq!(
            config.security.allowed_exts,
            [".md", ".markdown", ".txt", ".json"]
        );
        assert_eq!(config.security.deny_names.len(), 19);
        assert_eq!(config.security.max_file_bytes, 10 * 1024 * 1024);
        assert_eq!(
            (
                config.index.max_tokens,
                config.index.max_chars,
                config.index.overlap
            ),
            (185, 1200, 120)
        );
        assert_eq!(
            (
                config.retrieve.vector_weight,
                config.ask.top_n,
                config.embed.threads
            ),
            (None, 8, 0)
        );
        assert!(
            config.llm.model.is_none()
                && config.embed.max_length.is_none()
                && config.ask.show_as_verified
        );
        assert_eq!(
            config.llm.server().unwrap().to_string(),
            "http://127.0.0.1:11434"
        );
        assert!(loaded.origins.iter().all(|s| s.origin == Origin::Default));
        assert_eq!(
            format!("{:?}", Config::defaults(&world.path("w")).unwrap()),
            format!("{config:?}")
        );
    }

    #[test]
    fn every_key_of_the_shipped_file_can_be_typed_and_is_found_again() {
        let world = TestConfiguration::new();
        let inputs = world.named_inputs(load::DEFAULT_YAML);
        let loaded = load(&inputs).unwrap();
        for key in KEYS.iter().filter(|k| !k.is_ancestor()) {
            let unset = key.default.is_empty() || key.path == "workroot";
            let from_file = origin(&loaded, key.path)
                .starts_with(&world.path("cfg/named.yaml:").display().to_string());
            assert!(
                from_file != unset,
                "{}: {}",
                key.path,
                origin(&loaded, key.path)
            );
        }
    }

    #[test]
    fn the_reference_names_every_key() {
        let text = reference_markdown();
        for key in KEYS {
            assert!(
                text.contains(&format!("| `{}` |", key.path)),
                "{}",
                key.path
            );
        }
    }
}

mod anything {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = String> {
        let words = "true|false|yes|\"1\"|0|1|-1|7|512|99999999|0\\.5|obsidian_v1|torch|ollama|rrf|\\.md|\\[\\]|\\[a, b\\]|\\{\\}|~|~/x|\\.\\./y|/z|a/b";
        prop_oneof![
            proptest::string::string_regex(words).unwrap(),
            "[a-z~./:\\[\\]{}, 0-9\"'-]{0,12}"
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_file_of_any_values_is_a_configuration_or_a_typed_problem(
            lines in prop::collection::vec((0..KEYS.len(), value()), 1..6)
        ) {
            let text: String = lines.iter().map(|(at, value)| ancestor::nested(KEYS[*at].path, value)).collect();
            let world = TestConfiguration::new();
            let loaded = load_lenient(&world.named_inputs(&text));
            prop_assert!(loaded.is_ok(), "{:?}\n{}", loaded.err(), text);
            world.write("w/local-agent.yaml", &text);
            prop_assert!(load_lenient(&world.inputs()).is_ok());
        }

        #[test]
        fn any_name_and_root_survive_the_template(name in "\\PC{1,12}", root in "[^\\p{C}~/ ][^\\p{C}]{0,20}") {
            let Ok(name) = SourceName::new(name) else { return Ok(()) };
            prop_assume!(root.trim() == root && !root.starts_with('.') && !root.contains(".."));
            let text = template(&Template { sources: vec![(name.clone(), root.clone())], ..Template::default() });
            let world = TestConfiguration::new();
            let loaded = world.named(&text).unwrap();
            prop_assert_eq!(&loaded.config.sources[0].name, &name);
            prop_assert_eq!(&loaded.config.sources[0].root, &places::normalise(&world.path("w").join(&root)));
        }
    }
}

mod layers {
    use super::*;

    #[test]
    fn each_layer_covers_the_one_below() {
        let world = TestConfiguration::new();
        let mut inputs = world.inputs();
        let top_n = |inputs: &Inputs| {
            let loaded = load(inputs).unwrap();
            (loaded.config.ask.top_n, origin(&loaded, "ask.top_n"))
        };
        assert_eq!(top_n(&inputs), (8, "default".to_owned()));
        let user = world.write("home/.config/local-agent/config.yaml", "ask:\n  top_n: 1\n");
        assert_eq!(top_n(&inputs), (1, format!("{}:2", user.display())));
        let workroot = world.write(
            "w/local-agent.yaml",
            "# mine\nask:\n  strict: true\n  top_n: 2\n",
        );
        assert_eq!(top_n(&inputs), (2, format!("{}:4", workroot.display())));
        let named = world.write("cfg/x.yaml", "ask: {top_n: 3}\n");
        inputs.env_config = Some(named.display().to_string());
        assert_eq!(top_n(&inputs), (3, format!("{}:1", named.display())));
        inputs.flags.push(FlagValue {
            flag: "--top-n".into(),
            key: "ask.top_n",
            value: "4".into(),
        });
        assert_eq!(top_n(&inputs), (4, "flag --top-n".to_owned()));
        let loaded = load(&inputs).unwrap();
        assert!(
            loaded.config.ask.strict,
            "a layer changes only the keys it holds"
        );
        assert_eq!(
            loaded.layers.iter().map(|l| l.kind).collect::<Vec<_>>(),
            [LayerKind::User, LayerKind::Found, LayerKind::Named]
        );
        assert_eq!(loaded.config.config_path, Some(named));
    }

    #[test]
    fn lists_are_replaced_and_blank_values_are_unset() {
        let world = TestConfiguration::new();
        world.write(
            "home/.config/local-agent/config.yaml",
            "security: {allowed_exts: [MD, .Org]}\nllm: {model: m}\n",
        );
        let loaded = world
            .named("llm:\n  model: \"  \"\n  model_big: ~\nask:\n  top_n:\nretrieve:\n")
            .unwrap();
        assert_eq!(loaded.config.security.allowed_exts, [".md", ".org"]);
        assert_eq!(loaded.config.llm.model.as_deref(), Some("m"));
        assert_eq!(loaded.config.llm.model_big, None);
        assert_eq!(loaded.config.ask.top_n, 8);
    }

    #[test]
    fn a_named_file_must_be_there_and_a_users_need_not() {
        let world = TestConfiguration::new();
        let inputs = Inputs {
            config_flag: Some("none.yaml".into()),
            ..world.inputs()
        };
        let failure = load(&inputs).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ConfigError);
        assert!(
            failure
                .message
                .contains(&world.path("w/none.yaml").display().to_string()),
            "{failure}"
        );
        assert_eq!(load_lenient(&inputs).unwrap().problems.len(), 1);
    }

    #[test]
    fn the_users_index_is_not_rebuilt_for_another_folders_sources() {
        let world = TestConfiguration::new();
        let user = "state_dir: ~/state\nsources: [{name: mine, root: ~/notes}]\n\
                    security: {roots_must_be_within_security_root: false}\n";
        world.write("home/.config/local-agent/config.yaml", user);
        let loaded = load(&world.inputs()).unwrap();
        assert_eq!(
            loaded.config.index.db_path,
            world.path("home/state/index.sqlite")
        );
        world.write("w/local-agent.yaml", "sources: [{name: w, root: notes}]\n");
        let loaded = load(&world.inputs()).unwrap();
        assert_eq!(
            loaded.config.index.db_path,
            world.path("w/.local-agent/index.sqlite")
        );
        assert!(
            setting(&loaded, "state_dir")
                .note
                .as_deref()
                .is_some_and(|n| n.contains("config.yaml:1"))
        );
    }

    #[test]
    fn one_file_named_twice_is_one_layer() {
        let world = TestConfiguration::new();
        let file = world.write("w/local-agent.yaml", "security: {allow_any_path: true}\n");
        let inputs = Inputs {
            config_flag: Some(file),
            ..world.inputs()
        };
        let loaded = load(&inputs).unwrap();
        assert_eq!(
            (loaded.layers.len(), loaded.layers[0].kind),
            (1, LayerKind::Named)
        );
        assert!(loaded.config.security.allow_any_path);
    }

    #[test]
    fn the_key_of_a_server_is_never_shown() {
        let world = TestConfiguration::new();
        let url = Some("http://127.0.0.1:1234".to_owned());
        let inputs = Inputs {
            env_api_key: ApiKey::new(" sk-secret\n"),
            ollama_url_flag: url,
            ..world.inputs()
        };
        let loaded = load(&inputs).unwrap();
        assert_eq!(
            loaded.config.llm.api_key.as_ref().unwrap().expose(),
            "sk-secret"
        );
        assert!(!format!("{inputs:?} {loaded:?}").contains("secret"));
        assert_eq!(ApiKey::new(" "), None);
    }

    /// An untrusted file could name a port on which any program of the machine listens.
    #[test]
    fn the_key_of_a_server_goes_only_to_an_address_that_the_user_chose() {
        let world = TestConfiguration::new();
        let key = ApiKey::new("sk-secret");
        let sent = |inputs: Inputs| load(&inputs).unwrap().config.llm.api_key.is_some();
        let inputs = || Inputs {
            env_api_key: key.clone(),
            ..world.inputs()
        };
        assert!(!sent(inputs()), "the default address");
        let found = world.write(
            "w/local-agent.yaml",
            "llm: {base_url: \"http://127.0.0.1:9999\"}\n",
        );
        assert!(!sent(inputs()), "an untrusted file");
        let loaded = load(&inputs()).unwrap();
        assert!(
            loaded
                .config
                .warnings
                .iter()
                .any(|warning| warning.contains("is not sent")),
            "{:?}",
            loaded.config.warnings
        );
        trust(&world.path("home/.local/trust.json"), &found).unwrap();
        assert!(sent(inputs()), "a trusted file");
        std::fs::remove_file(&found).unwrap();
        world.write(
            "home/.config/local-agent/config.yaml",
            "llm: {base_url: \"https://api.example\"}\n",
        );
        assert!(sent(inputs()), "the user's own configuration");
        // A found file overrides the address, so the key is not sent.
        std::fs::write(&found, "llm: {base_url: \"http://localhost:9999\"}\n").unwrap();
        assert!(!sent(inputs()), "an untrusted file over the user's own");
        assert!(
            sent(Inputs {
                ollama_url_flag: Some("http://127.0.0.1:1".to_owned()),
                ..inputs()
            }),
            "a flag"
        );
        let named = world.write(
            "cfg/named.yaml",
            "llm: {base_url: \"http://127.0.0.1:1234\"}\n",
        );
        std::fs::remove_file(&found).unwrap();
        assert!(
            sent(Inputs {
                config_flag: Some(named),
                ..inputs()
            }),
            "a file that the user named"
        );
    }
}

mod mistakes {
    use super::*;

    fn refused(text: &str) -> String {
        let failure = TestConfiguration::new().named(text).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ConfigError, "{failure}");
        assert!(failure.hint.is_some(), "{failure}");
        let at = failure.message.rfind("named.yaml:").unwrap();
        failure.message[at..].to_owned()
    }

    #[test]
    fn an_unknown_key_names_its_line_and_neighbour() {
        assert_eq!(
            refused("ask:\n  strct: true\n"),
            "named.yaml:2: there is no key `ask.strct`; did you mean `ask.strict`?"
        );
        assert_eq!(
            refused("strict: true\n"),
            "named.yaml:1: there is no key `strict`; did you mean `ask.strict`?"
        );
        assert!(refused("wholly_unheard_of: 1\n").ends_with("there is no key `wholly_unheard_of`"));
        assert!(refused("ask: true\n").ends_with("`ask` is a section, not `true`"));
        assert!(refused("ask:\n  strict: {x: 1}\n").ends_with("not a mapping"));
    }

    #[test]
    fn w51_a_mistyped_value_fails_instead_of_falling_back() {
        assert!(
            refused("ask:\n  strict: \"ture\"\n")
                .contains("named.yaml:2: `ask.strict` takes `true` or `false`, not `ture`")
        );
        for text in [
            "ask: {strict: yes}",
            "ask: {strict: \"true\"}",
            "ask: {strict: 1}",
            "ask: {strict: [true]}",
        ] {
            refused(text);
        }
        for text in [
            "ask: {top_n: \"8\"}",
            "ask: {top_n: 0}",
            "ask: {top_n: 8.5}",
            "ask: {top_n: -1}",
            "ask: {top_n: 99999999999999999999}",
            "ask: {heading_match: prefx}",
            "retrieve: {vector_weight: 1.01}",
            "retrieve: {vector_weight: .nan}",
            "retrieve: {vector_weight: NaN}",
            "retrieve: {path_prefix: ../x}",
            "security: {allowed_exts: .md}",
            "security: {allowed_exts: []}",
            "security: {allowed_exts: [a/b]}",
            "security: {deny_names: [a/b]}",
            "llm: {model: true}",
            "index: {max_chars: 100, overlap: 100}",
            "index: {db_path: a.sqlite}\nembed: {db_path: ./a.sqlite}",
            "state_dir: ~nobody/x",
        ] {
            refused(text);
        }
    }

    #[test]
    fn a_near_miss_gets_a_remedy() {
        let fix = |text: &str| {
            TestConfiguration::new()
                .named(text)
                .unwrap_err()
                .hint
                .unwrap()
        };
        assert_eq!(fix("ask: {strict: \"ture\"}"), "write `true`");
        assert_eq!(fix("ask: {strict: yes}"), "write `true`, without quotes");
        assert_eq!(fix("ask: {heading_match: prefx}"), "write `prefix`");
        assert_eq!(fix("security: {allowed_exts: .md}"), "write `[.md]`");
        assert_eq!(fix("sources: [{name: home, root: ~}]"), "write `~/`");
    }

    #[test]
    fn sources_are_complete_and_unique() {
        assert!(
            refused("sources:\n  - name: a\n").ends_with("named.yaml:2: a source has no `root`")
        );
        assert!(refused("sources:\n  - {nmae: a, root: b}\n").ends_with("did you mean `name`?"));
        assert!(
            refused("sources:\n  - {name: a/b, root: b}\n").contains("named.yaml:2: a source name")
        );
        assert!(
            refused("sources:\n  - {name: a, root: b}\n  - {name: a, root: c}\n")
                .contains("named.yaml:3: two sources")
        );
        assert!(refused("sources: {name: a, root: b}\n").contains("takes a list"));
    }

    #[test]
    fn a_flags_value_is_an_argument_error() {
        let world = TestConfiguration::new();
        let mut inputs = world.inputs();
        inputs.flags.push(FlagValue {
            flag: "--overlap".into(),
            key: "index.overlap",
            value: "lots".into(),
        });
        let failure = load(&inputs).unwrap_err();
        assert_eq!(
            (
                failure.code,
                failure.message.starts_with("flag --overlap: ")
            ),
            (ErrorCode::InvalidArgs, true)
        );
    }

    #[test]
    fn every_problem_is_reported_and_the_rest_still_holds() {
        let world = TestConfiguration::new();
        let text = "ask: {top_n: 3, strict: maybe}\nnonsense: 1\nindex: {max_tokens: 100}\n";
        let loaded = load_lenient(&world.named_inputs(text)).unwrap();
        assert_eq!(
            (
                loaded.problems.len(),
                loaded.config.ask.top_n,
                loaded.config.index.max_tokens
            ),
            (2, 3, 100)
        );
        assert!(
            world
                .named(text)
                .unwrap_err()
                .message
                .ends_with("(and 1 more: `local-agent config check` lists them)")
        );
    }
}

mod roots {
    use super::*;

    #[test]
    fn w44_a_workroot_is_relative_to_the_caller_and_may_have_any_name() {
        let world = TestConfiguration::new();
        let file = world.write(
            "cfg/configs/default.yaml",
            "workroot: ../by-file\nsources: [{name: n, root: notes/}]\n",
        );
        let base = Inputs {
            config_flag: Some(file.clone()),
            ..world.inputs()
        };
        std::fs::create_dir_all(world.path("w/any name")).unwrap();
        for inputs in [
            Inputs {
                workroot_flag: Some("any name".into()),
                env_workroot: Some("nowhere".into()),
                ..base.clone()
            },
            Inputs {
                workroot_flag: Some("  ".into()),
                env_workroot: Some("./any name/".into()),
                ..base.clone()
            },
        ] {
            let config = load(&inputs).unwrap().config;
            assert_eq!(config.workroot, Some(world.path("w/any name")));
            assert_eq!(config.sources[0].root, world.path("w/any name/notes"));
        }
        let config = load(&base).unwrap().config;
        assert_eq!(
            config.security_root,
            world.path("by-file"),
            "relative to the parent of `configs/`"
        );
        assert_eq!(config.config_root, Some(world.path("cfg")));
        assert!(
            config.warnings[0].contains("default.yaml:1: the workroot"),
            "{:?}",
            config.warnings
        );
        let failure = load(&Inputs {
            workroot_flag: Some("typo".into()),
            ..base
        })
        .unwrap_err();
        assert!(failure.message.ends_with("is not a folder"));
    }

    #[test]
    fn the_nearest_folder_with_a_file_is_the_workroot() {
        let world = TestConfiguration::new();
        world.write(
            "w/local-agent.yaml",
            "sources: [{name: notes, root: notes}]\n",
        );
        std::fs::create_dir_all(world.path("w/notes/deep/local-agent.yaml")).unwrap();
        let inputs = Inputs {
            cwd: world.path("w/notes/deep"),
            ..world.inputs()
        };
        let loaded = load(&inputs).unwrap();
        assert_eq!(loaded.config.workroot, Some(world.path("w")));
        assert!(origin(&loaded, "workroot").starts_with("found "));
        assert!(loaded.config.warnings[0].ends_with("is not a file and is passed over"));
    }

    #[test]
    fn a_source_outside_the_security_root_is_refused_with_every_name() {
        let world = TestConfiguration::new();
        let failure = world
            .named("sources:\n  - name: e\n    root: ../elsewhere\n")
            .unwrap_err();
        for part in [
            "named.yaml:3",
            &world.path("elsewhere").display().to_string(),
            &world.path("w").display().to_string(),
        ] {
            assert!(failure.message.contains(part), "{failure}");
        }
        let open = "security: {roots_must_be_within_security_root: false}\nsources: [{name: e, root: ../elsewhere}]\n";
        assert_eq!(
            world.named(open).unwrap().config.sources[0].root,
            world.path("elsewhere")
        );
    }

    #[cfg(unix)]
    #[test]
    fn s07_a_link_out_of_the_security_root_is_outside() {
        let world = TestConfiguration::new();
        std::os::unix::fs::symlink(world.path("elsewhere"), world.path("w/link")).unwrap();
        let failure = world
            .named("sources: [{name: e, root: link}]\n")
            .unwrap_err();
        assert!(
            failure
                .message
                .contains(&format!("(in truth {})", world.path("elsewhere").display())),
            "{failure}"
        );
    }

    #[test]
    fn w41_run_records_and_state_are_not_readable() {
        let world = TestConfiguration::new();
        let loaded = world
            .named("runs: {dir: runs}\nsecurity: {allowed_roots: [runs/, runs/x, .local-agent, ., notes]}\n")
            .unwrap();
        assert_eq!(
            loaded.config.security.allowed_roots,
            [world.path("w/notes")]
        );
        assert_eq!(loaded.config.warnings.len(), 4);
        assert_eq!(
            loaded.config.protected,
            [world.path("w/.local-agent"), world.path("w/runs")]
        );
        for text in [
            "sources: [{name: r, root: .local-agent/runs}]",
            "state_dir: .\nsources: [{name: r, root: notes}]",
        ] {
            assert!(
                world
                    .named(text)
                    .unwrap_err()
                    .message
                    .contains("holds this program's own records")
            );
        }
        let hidden = world.named("security: {allowed_roots: [.]}\n").unwrap();
        assert_eq!(
            hidden.config.security.allowed_roots,
            [world.path("w")],
            "hidden folders are denied anyway"
        );
    }

    #[test]
    fn overlapping_sources_are_warned_of() {
        let loaded = TestConfiguration::new()
            .named("sources: [{name: a, root: .}, {name: b, root: notes}]\n")
            .unwrap();
        assert!(
            loaded.config.warnings[0].contains("overlap"),
            "{:?}",
            loaded.config.warnings
        );
    }

    #[test]
    fn the_written_template_loads_back() {
        let world = TestConfiguration::new();
        let name = |n: &str| SourceName::new(n).unwrap();
        let tricky = "no\"tes \\ # 'x': {y} [z] *a &b !c %d @e ünï";
        let what = Template {
            sources: vec![
                (name("my notes"), tricky.into()),
                (name("no"), "~/other".into()),
            ],
            state_dir: Some("~/state".into()),
            sources_anywhere: true,
        };
        let small = Template {
            sources: vec![(name("n"), "notes".into())],
            ..Template::default()
        };
        for (what, text) in [
            (&what, template(&what)),
            (&small, template(&small)),
            (&small, uncommented(&template(&small))),
            (&what, uncommented(&template(&what))),
        ] {
            let loaded = world.named(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let expected: Vec<_> = what
                .sources
                .iter()
                .map(|(name, root)| {
                    (
                        name.clone(),
                        root.strip_prefix("~/")
                            .map_or(world.path("w").join(root), |r| world.path("home").join(r)),
                    )
                })
                .collect();
            let got: Vec<_> = loaded
                .config
                .sources
                .iter()
                .map(|s| (s.name.clone(), s.root.clone()))
                .collect();
            assert_eq!(got, expected, "{text}");
            assert!(loaded.config.warnings.is_empty());
        }
        assert_eq!(
            uncommented(&template(&small)).matches("\n  # ").count() + show::SHOWN.len(),
            template(&small).matches("\n  # ").count()
        );
        assert!(world.named(&template(&Template::default())).is_ok());
    }

    #[test]
    fn a_template_reads_like_this() {
        let small = Template {
            sources: vec![(SourceName::new("n").unwrap(), "notes".into())],
            ..Template::default()
        };
        insta::assert_snapshot!(template(&small), @r#"
        # Configuration of local-agent. `local-agent config show` says what is in force and where it comes from;
        # docs/config.md lists every key. Remove the `# ` before a key to change its default.

        # One entry a folder: `name` (unique), `root`, and `kind`, a free word shown with each hit (`notes`
        # when absent). `include` and `exclude` are lists of patterns as in a `.gitignore` (`archive/`,
        # `*.draft.md`): files that `exclude` names, or that `include` does not, do not exist for this
        # program; `exclude` ignores case. `code: true` takes source code for documents, too, and `extensions:
        # [.txt, .org]` files of other kinds (docs/documents.md lists them).
        sources:
          - name: "n"
            root: "notes"

        # What may be opened.
        security:
          # Extensions of files that may be read; `index` takes the markdown among them.
          # allowed_exts: [.md, .markdown, .txt, .json]

        # How files are cut into chunks.
        index:
          # Longest chunk in tokens of the embedded model (`obsidian_v2`).
          # max_tokens: 185

        # How evidence is found.
        retrieve:
          # How the two lists become one: by weighted scores, or by reciprocal ranks.
          # fusion: convex

        # How a question is answered and checked.
        ask:
          # Who writes the answer: `extractive`: the best sentences themselves; `ollama`; `openai`: any server
          # with `/v1/chat/completions`; `auto`: Ollama if a chat model is configured and there, else
          # `extractive`.
          # provider: auto
          # Evidence items shown to the answerer.
          # top_n: 8
          # Fail when a sentence of the answer does not pass verification or is in doubt, instead of leaving it
          # out or marking it.
          # strict: false

        # The chat models. Nothing here is contacted unless a command asks a model.
        llm:
          # The chat model; unset: answers are extractive.
          # model: ""
          # The model server: scheme, host, optional port; also of `openai`. `--ollama-base-url`,
          # LOCAL_AGENT_OLLAMA_BASE_URL and OLLAMA_BASE_URL come first.
          # base_url: http://127.0.0.1:11434

        # The audit log.
        runs:
          # Keep the evidence bytes with each run, so that it can be replayed after the files have changed.
          # keep_evidence: false
        "#);
    }

    /// The template with every commented key enabled.
    fn uncommented(text: &str) -> String {
        let line = |l: &str| {
            let bare = l
                .strip_prefix("  # ")
                .filter(|bare| bare.split_once(": ").is_some_and(|(k, _)| !k.contains(' ')));
            bare.map_or(format!("{l}\n"), |bare| format!("  {bare}\n"))
        };
        text.lines().map(line).collect()
    }
}

mod server {
    use super::*;

    #[test]
    fn the_first_address_in_order_wins() {
        let world = TestConfiguration::new();
        let file = world.write("cfg/named.yaml", "ollama_base_url: http://from-config:1\n");
        let mut inputs = Inputs {
            config_flag: Some(file),
            ..world.inputs()
        };
        let server = |inputs: &Inputs| {
            load(inputs)
                .unwrap()
                .config
                .llm
                .server()
                .unwrap()
                .to_string()
        };
        assert_eq!(server(&inputs), "http://from-config:1");
        inputs.env_ollama_urls = [Some(" ".into()), Some("http://plain-env:1/".into())];
        assert_eq!(server(&inputs), "http://plain-env:1");
        inputs.env_ollama_urls[0] = Some("http://own-env:1".into());
        assert_eq!(server(&inputs), "http://own-env:1");
        inputs.ollama_url_flag = Some("https://flag:1".into());
        assert_eq!(server(&inputs), "https://flag:1");
        assert!(
            server(&Inputs {
                config_flag: None,
                ..world.inputs()
            })
            .starts_with("http://127.0.0.1")
        );
    }

    #[test]
    fn a_bad_address_stops_only_those_who_use_it() {
        let world = TestConfiguration::new();
        let inputs = Inputs {
            env_ollama_urls: [None, Some("http://host/v1?key=1".into())],
            ..world.inputs()
        };
        let loaded = load(&inputs).unwrap();
        let failure = loaded.config.llm.server().unwrap_err();
        assert_eq!(failure.code, ErrorCode::ConfigError);
        assert!(
            failure
                .message
                .starts_with("environment OLLAMA_BASE_URL: `http://host/v1?key=1`"),
            "{failure}"
        );
    }
}

mod trusting {
    use super::*;

    /// Checks that a found file with this text is refused for the expected reason, and accepted
    /// once trusted, until it changes.
    fn needs_trust(text: &str, says: &str) {
        let world = TestConfiguration::new();
        let file = world.write("w/local-agent.yaml", text);
        let inputs = world.inputs();
        let failure = load(&inputs)
            .map(|l| panic!("{text}: {:?}", l.config))
            .unwrap_err();
        assert_eq!(
            failure.code,
            ErrorCode::ConfigUntrusted,
            "{text}: {failure}"
        );
        assert!(failure.message.contains(says), "{failure}");
        assert!(
            failure
                .hint
                .as_deref()
                .unwrap()
                .ends_with("`local-agent config trust`")
        );
        let store = inputs.trust_file.as_deref().unwrap();
        assert!(!is_trusted(store, &file).unwrap());
        trust(store, &file).unwrap();
        assert!(is_trusted(store, &file).unwrap());
        if let Err(failure) = load(&inputs) {
            assert_ne!(
                failure.code,
                ErrorCode::ConfigUntrusted,
                "{text}: {failure}"
            );
        }
        std::fs::write(&file, format!("{text}\n# one more line\n")).unwrap();
        assert_eq!(
            load(&inputs).unwrap_err().code,
            ErrorCode::ConfigUntrusted,
            "{text}: another text asks again"
        );
    }

    #[test]
    fn w43_a_found_file_may_not_reach_outside_its_folder() {
        needs_trust(
            "state_dir: ../elsewhere\n",
            "line 1 (`state_dir` is outside its folder)",
        );
        needs_trust(
            "index:\n  db_path: /tmp/x.sqlite\n",
            "line 2 (`index.db_path`",
        );
        needs_trust("embed: {db_path: ~/e.sqlite}\n", "line 1 (`embed.db_path`");
        needs_trust("embed: {model_path: /models}\n", "`embed.model_path`");
        needs_trust("memory: {db_path: a/../../m.sqlite}\n", "`memory.db_path`");
        needs_trust("runs: {dir: ../runs}\n", "`runs.dir`");
        needs_trust("phase2: {index_db_path: ../i.sqlite}\n", "`index.db_path`");
        needs_trust(
            "sources:\n  - name: a\n    root: notes\n  - name: b\n    root: ../elsewhere\n",
            "line 5 (the source `b`",
        );
        needs_trust(
            "security:\n  allowed_roots:\n    - notes\n    - ~/\n",
            "line 4 (an entry of",
        );
    }

    #[test]
    fn f93_a_found_file_may_not_loosen_the_sandbox_or_name_another_machine() {
        needs_trust(
            "security: {allow_any_path: true}\n",
            "sets `security.allow_any_path`",
        );
        needs_trust("runs: {enabled: false}\n", "`runs.enabled` is off");
        needs_trust(
            "security: {roots_must_be_within_security_root: false}\n",
            "sets `security.roots_must",
        );
        needs_trust(
            "security: {hard_links: allow}\n",
            "`security.hard_links` is `allow`",
        );
        needs_trust(
            "security: {follow_links: inside}\n",
            "`security.follow_links` is `inside`",
        );
        needs_trust(
            "security: {deny_hidden_paths: false}\n",
            "`security.deny_hidden_paths` is off",
        );
        needs_trust(
            "security: {deny_absolute_paths: false}\n",
            "`security.deny_absolute_paths` is off",
        );
        needs_trust(
            "security: {deny_names: [.env]}\n",
            "lacks `.env.*` `*.env` `.git`",
        );
        needs_trust(
            "llm: {base_url: \"http://evil.example\"}\n",
            "`llm.base_url` is another machine",
        );
        needs_trust(
            "ollama_base_url: http://evil.example\n",
            "`llm.base_url` is another machine",
        );
    }

    #[test]
    fn a_found_file_may_not_show_private_notes_or_offer_agents_more() {
        needs_trust("mcp: {private_notes: true}\n", "`mcp.private_notes` is on");
        needs_trust(
            "mcp: {tools: [grep, read_text_file]}\n",
            "`mcp.tools` adds `read_text_file`",
        );
        needs_trust(
            "mcp: {operations: [search, invented]}\n",
            "`mcp.operations` adds `invented`",
        );
        needs_trust(
            "security: {private_tags: [none]}\n",
            "`security.private_tags` lacks `private`",
        );
        needs_trust(
            "security: {max_file_bytes: 100000000000}\n",
            "`security.max_file_bytes` is raised",
        );
        needs_trust(
            "llm: {model: \"big:120b-cloud\"}\n",
            "`llm.model` sends text to another machine",
        );
        let world = TestConfiguration::new();
        world.write(
            "w/local-agent.yaml",
            "mcp: {private_notes: false, tools: [grep], operations: [search]}\n\
             security: {private_tags: [diary, PRIVATE], max_file_bytes: 1000}\n",
        );
        assert!(load(&world.inputs()).is_ok(), "less is never refused");
    }

    /// The keys that decide whether a server gets text, and which.
    #[test]
    fn a_found_file_may_not_send_text_to_the_users_server_on_another_machine() {
        let texts = [
            "ask: {provider: ollama}\n",
            "ask: {provider: auto}\n",
            "llm: {model: m}\n",
            "llm: {model_fast: m}\n",
            "llm: {model_big: m}\n",
            "model: m\n",
            "embed: {provider: openai, model: m}\n",
            "verify: {judge: {model: m}}\n",
            "verify: {judge: {provider: openai}}\n",
        ];
        let far = "http://far.example:11434";
        for text in texts {
            let world = TestConfiguration::new();
            let own = format!("llm: {{base_url: \"{far}\"}}\nask: {{provider: extractive}}\n");
            world.write("home/.config/local-agent/config.yaml", &own);
            world.write("w/local-agent.yaml", text);
            let failure = load(&world.inputs()).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ConfigUntrusted, "{text}");
            assert!(
                failure.message.contains("sends text to another machine"),
                "{text}: {failure}"
            );
        }
        let near = "llm: {base_url: \"http://127.0.0.1:9\", model: m}\n";
        let world = TestConfiguration::new();
        world.write("w/local-agent.yaml", near);
        assert!(load(&world.inputs()).is_ok());
        let by_variable = Inputs {
            env_ollama_urls: [None, Some(far.to_owned())],
            ..world.inputs()
        };
        let by_flag = Inputs {
            ollama_url_flag: Some(far.to_owned()),
            ..world.inputs()
        };
        let file = world.write("cfg/far.yaml", &format!("llm: {{base_url: \"{far}\"}}\n"));
        let by_file = Inputs {
            config_flag: Some(file),
            ..world.inputs()
        };
        for inputs in [by_variable, by_flag, by_file] {
            assert_eq!(
                load(&inputs).unwrap_err().code,
                ErrorCode::ConfigUntrusted,
                "the address in force counts, not the one of the file: {inputs:?}"
            );
        }
    }

    #[test]
    fn a_found_file_may_repeat_what_the_user_chose_and_choose_no_server() {
        let world = TestConfiguration::new();
        world.write(
            "home/.config/local-agent/config.yaml",
            "llm: {base_url: \"http://far.example\", model: m}\nask: {provider: ollama}\n",
        );
        for text in [
            "llm: {model: m}\nask: {provider: ollama}\n",
            "ask: {provider: extractive}\nembed: {provider: candle, model: multilingual-e5-small}\n",
        ] {
            world.write("w/local-agent.yaml", text);
            assert!(load(&world.inputs()).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_context_of_a_source_that_another_file_replaces_is_no_warning() {
        let world = TestConfiguration::new();
        let root = world.path("elsewhere");
        let own = format!(
            "sources: [{{name: kitchen, root: {}}}]\ncontexts: [\"kitchen: recipes\"]\n",
            root.display()
        );
        world.write("home/.config/local-agent/config.yaml", &own);
        let warnings = |text: &str| world.named(text).unwrap().config.warnings.join("\n");
        let sources = "sources: [{name: n, root: notes}]\n";
        assert!(
            !warnings(sources).contains("is not a source"),
            "{}",
            warnings(sources)
        );
        let both = format!("{sources}contexts: [\"kitchen: recipes\"]\n");
        assert!(
            warnings(&both).contains("is not a source"),
            "{}",
            warnings(&both)
        );
    }

    #[test]
    fn a_found_file_says_nothing_about_the_users_own_sources() {
        let world = TestConfiguration::new();
        let own = "security: {roots_must_be_within_security_root: false}\n\
                   sources: [{name: mine, root: /}]\nstate_dir: ~/state\n";
        for (text, says) in [
            ("contexts: [\"mine: all false\"]\n", "`contexts` adds"),
            ("security: {allowed_exts: [.csv]}\n", "adds `.csv`"),
        ] {
            std::fs::create_dir_all(world.path("home/.config/local-agent")).unwrap();
            let user = world.path("home/.config/local-agent/config.yaml");
            let _ = std::fs::remove_file(&user);
            world.write("w/local-agent.yaml", text);
            assert!(load(&world.inputs()).is_ok(), "there are no other sources");
            std::fs::write(&user, own).unwrap();
            let failure = load(&world.inputs()).unwrap_err();
            assert!(
                failure.code == ErrorCode::ConfigUntrusted && failure.message.contains(says),
                "{failure}"
            );
            let with_sources = format!("{text}sources: [{{name: notes, root: notes}}]\n");
            world.write("w/local-agent.yaml", &with_sources);
            let loaded = load_lenient(&world.inputs()).unwrap();
            assert!(!loaded.layers.last().unwrap().needs_trust, "{text}");
        }
    }

    #[test]
    fn a_found_file_may_not_take_back_what_the_user_tightened() {
        let world = TestConfiguration::new();
        let user = "security: {deny_names: [\"*.secret\"], allowed_exts: [.md]}\nask: {strict: true}\n\
                    tools: {delete: deny, grep: ask, max_writes: 3}\nmemory: {enabled: false}\n\
                    runs: {log_evidence_excerpts: false, max_excerpt_chars: 9}\n";
        world.write("home/.config/local-agent/config.yaml", user);
        for (text, says) in [
            ("security: {deny_names: [.env]}\n", "lacks `*.secret`"),
            ("security: {allowed_exts: [.MD, .txt]}\n", "adds `.txt`"),
            ("ask: {strict: false}\n", "`ask.strict` is off"),
            ("tools: {delete: ask}\n", "`tools.delete` is `ask`"),
            ("tools: {grep: allow}\n", "`tools.grep` is `allow`"),
            ("tools: {max_writes: 4}\n", "`tools.max_writes` is raised"),
            ("tools: {max_turns: 32}\n", "`tools.max_turns` is raised"),
            ("memory: {enabled: true}\n", "`memory.enabled` is on"),
            (
                "runs: {log_evidence_excerpts: true}\n",
                "`runs.log_evidence_excerpts` is on",
            ),
            (
                "runs: {max_excerpt_chars: 240}\n",
                "`runs.max_excerpt_chars` is raised",
            ),
        ] {
            world.write("w/local-agent.yaml", text);
            let failure = load(&world.inputs()).unwrap_err();
            assert!(
                failure.code == ErrorCode::ConfigUntrusted && failure.message.contains(says),
                "{failure}"
            );
        }
        world.write(
            "w/local-agent.yaml",
            "security: {allowed_exts: [.MD], deny_names: [\"*.SECRET\"]}\ntools: {grep: deny, max_writes: 2}\n",
        );
        assert!(load(&world.inputs()).is_ok());
    }

    #[test]
    fn a_source_may_hold_code_and_says_so_by_true_or_false() {
        let world = TestConfiguration::new();
        world.write(
            "w/local-agent.yaml",
            "sources: [{name: n, root: .}, {name: c, root: src, code: true}]\n",
        );
        let config = load(&world.inputs()).unwrap().config;
        assert_eq!(
            config.sources.iter().map(|s| s.code).collect::<Vec<_>>(),
            [false, true]
        );
        world.write(
            "w/local-agent.yaml",
            "sources: [{name: c, root: src, code: yes}]\n",
        );
        let failure = load(&world.inputs()).unwrap_err();
        assert!(
            failure.message.contains("`code` takes `true` or `false`"),
            "{failure}"
        );
    }

    #[test]
    fn every_line_at_fault_is_listed_and_left_out() {
        let world = TestConfiguration::new();
        world.write(
            "w/local-agent.yaml",
            "security:\n  allow_any_path: true\n  hard_links: allow\nask: {top_n: 3}\n",
        );
        let loaded = load_lenient(&world.inputs()).unwrap();
        assert_eq!(loaded.problems.len(), 1);
        assert!(
            loaded.problems[0].failure.message.contains("line 2 (")
                && loaded.problems[0].failure.message.contains("line 3 (")
        );
        assert!(
            !loaded.config.security.allow_any_path
                && loaded.config.security.hard_links == HardLinks::Deny
        );
        assert_eq!(loaded.config.ask.top_n, 3);
        assert!(loaded.layers[0].needs_trust && !loaded.layers[0].trusted);
    }

    #[test]
    fn a_found_file_that_stays_inside_needs_no_trust() {
        let world = TestConfiguration::new();
        let deny = load::default_values().unwrap().words("security.deny_names");
        let deny: Vec<_> = deny
            .iter()
            .map(|n| format!("\"{}\"", n.to_uppercase()))
            .collect();
        let text = format!(
            "sources: [{{name: notes, root: notes}}]\nstate_dir: .state\nllm: {{base_url: \"http://localhost:9\", model: m}}\n\
             security: {{deny_names: [{}, \"*.secret\"], allowed_roots: [notes/sub]}}\n",
            deny.join(", ")
        );
        world.write("w/local-agent.yaml", &text);
        let loaded = load(&world.inputs()).unwrap();
        assert!(!loaded.layers[0].needs_trust && loaded.config.warnings.is_empty());
    }

    #[test]
    fn naming_the_workroot_is_consent_to_all_but_the_outermost_locks() {
        let world = TestConfiguration::new();
        world.write(
            "w/local-agent.yaml",
            "security: {hard_links: allow}\nstate_dir: ../elsewhere\n",
        );
        let named = |world: &TestConfiguration| Inputs {
            workroot_flag: Some(".".into()),
            ..world.inputs()
        };
        let by_env = |world: &TestConfiguration| Inputs {
            env_workroot: Some(world.path("w").display().to_string()),
            ..world.inputs()
        };
        assert_eq!(
            load(&named(&world)).unwrap().config.state_dir,
            world.path("elsewhere")
        );
        assert!(load(&by_env(&world)).is_ok());
        for text in [
            "security: {allow_any_path: true}\n",
            "security: {roots_must_be_within_security_root: false}\n",
        ] {
            world.write("w/local-agent.yaml", text);
            assert_eq!(
                load(&named(&world)).unwrap_err().code,
                ErrorCode::ConfigUntrusted,
                "{text}"
            );
        }
        let file = world.path("w/local-agent.yaml");
        assert!(
            load(&Inputs {
                config_flag: Some(file),
                ..world.inputs()
            })
            .is_ok()
        );
    }

    #[test]
    fn the_users_own_file_may_open_everything() {
        let world = TestConfiguration::new();
        let text = "security: {allow_any_path: true, roots_must_be_within_security_root: false}\nllm: {base_url: \"http://far\"}\n";
        world.write("home/.config/local-agent/config.yaml", text);
        world.write("w/local-agent.yaml", "ask: {top_n: 2}\n");
        let config = load(&world.inputs()).unwrap().config;
        assert!(config.security.allow_any_path);
    }

    #[cfg(unix)]
    #[test]
    fn s10_a_found_folder_may_not_reach_outside_through_a_link() {
        let world = TestConfiguration::new();
        world.write("w/local-agent.yaml", "sources: [{name: n, root: link}]\n");
        std::os::unix::fs::symlink(world.path("elsewhere"), world.path("w/link")).unwrap();
        assert_eq!(
            load(&world.inputs()).unwrap_err().code,
            ErrorCode::ConfigUntrusted
        );
        world.write("w/local-agent.yaml", "ask: {top_n: 2}\n");
        std::os::unix::fs::symlink(world.path("elsewhere"), world.path("w/.local-agent")).unwrap();
        let failure = load(&world.inputs()).unwrap_err();
        assert_eq!(
            failure.code,
            ErrorCode::ConfigUntrusted,
            "the state folder itself is such a link: {failure}"
        );
        trust(
            &world.path("home/.local/trust.json"),
            &world.path("w/local-agent.yaml"),
        )
        .unwrap();
        assert!(load(&world.inputs()).is_ok());
    }

    #[test]
    fn a_damaged_trust_file_trusts_nothing() {
        let world = TestConfiguration::new();
        let file = world.write("w/local-agent.yaml", "security: {hard_links: allow}\n");
        let store = world.write("home/.local/trust.json", "{\"version\": 1, \"files\": [");
        let loaded = load_lenient(&world.inputs()).unwrap();
        assert_eq!(
            loaded
                .problems
                .iter()
                .map(|p| p.failure.code)
                .collect::<Vec<_>>(),
            [ErrorCode::ConfigError, ErrorCode::ConfigUntrusted]
        );
        assert!(trust(&store, &file).is_err() && is_trusted(&store, &file).is_err());
        world.write("w/local-agent.yaml", "ask: {top_n: 2}\n");
        assert!(
            load(&world.inputs()).is_ok(),
            "a file that asks for nothing does not need the store"
        );
    }

    #[test]
    fn trust_follows_the_bytes_and_the_place() {
        let world = TestConfiguration::new();
        let (a, b) = (
            world.write("w/local-agent.yaml", "# same\n"),
            world.write("x/local-agent.yaml", "# same\n"),
        );
        let store = world.path("home/new/folder/trust.json");
        assert!(!is_trusted(&store, &a).unwrap());
        assert_eq!(
            trust(&store, &a).unwrap(),
            local_agent_text::types::Sha256::of(b"# same\n")
        );
        trust(&store, &a).unwrap();
        assert!(is_trusted(&store, &a).unwrap() && !is_trusted(&store, &b).unwrap());
        trust(&store, &b).unwrap();
        assert!(is_trusted(&store, &a).unwrap() && is_trusted(&store, &b).unwrap());
    }
}

mod ancestor {
    use super::*;

    /// A file like the Python version's shipped one, with every key at its shipped value.
    const SHIPPED: &str = r#"
model: gpt-oss:120b
model_fast: qwen2.5:14b-instruct
model_big: gpt-oss:120b
prefer_fast: true
big_triggers: [deep, long, essay, synthesize, thorough, "in depth", detailed, analysis]
ollama_base_url: http://127.0.0.1:11434
max_tokens: 800
max_tokens_big_second: 4500
temperature: 0.2
timeout_s: 300
timeout_s_big_second: 600
read_full_on_thorough: true
full_evidence_triggers: [entire, whole, complete, "full text", "in full", everything, verbatim]
max_chars_full_read: 200000
workroot: ../local-agent-workroot/
security:
  allowed_roots:
    - ../local-agent-workroot/runs/
    - ../local-agent-workroot/allowed/
  allowed_exts: [.md, .txt, .json]
  deny_absolute_paths: true
  deny_hidden_paths: true
  allow_any_path: false
  auto_create_allowed_roots: true
  roots_must_be_within_security_root: true
phase2:
  index_db_path: index/index.sqlite
  sources:
    - {name: corpus, root: allowed/corpus/, kind: corpus}
    - {name: scratch, root: allowed/scratch/, kind: scratch}
  chunking:
    scheme: obsidian_v1
    max_chars: 1200
    overlap: 120
phase3:
  embeddings_db_path: embeddings/db/embeddings.sqlite
  embed:
    provider: torch
    model_id: sentence-transformers/all-MiniLM-L6-v2
    preprocess: obsidian_v1
    chunk_preprocess_sig: ""
    query_preprocess_sig: ""
    batch_size: 64
    torch:
      local_model_path: ""
      cache_dir: ""
      device: auto
      dtype: float16
      batch_size: 64
      max_length: 512
      pooling: mean
      normalize: true
      trust_remote_code: false
      offline_only: true
  retrieve:
    lexical_k: 20
    vector_k: 20
    vector_fetch_k: 0
    rel_path_prefix: ""
    fusion: simple_union
  ask:
    evidence:
      top_n: 8
    citation_validation:
      enabled: true
      strict: false
      require_in_snapshot: true
      heading_match: prefix
      normalize_heading: true
  runs:
    log_evidence_excerpts: true
    max_total_evidence_chars: 200000
    max_excerpt_chars: 1200
  memory:
    durable_db_path: memory/durable.sqlite
    enabled: true
"#;

    fn shipped(workroot: &str) -> (TestConfiguration, Result<Loaded>) {
        let world = TestConfiguration::new();
        let file = world.write("repo/configs/default.yaml", SHIPPED);
        std::fs::create_dir_all(world.path(workroot)).unwrap();
        let flag = (workroot != "local-agent-workroot").then(|| world.path(workroot));
        let inputs = Inputs {
            cwd: world.path("repo"),
            config_flag: Some(file),
            workroot_flag: flag,
            ..world.inputs()
        };
        (world, load(&inputs))
    }

    #[test]
    fn the_shipped_file_loads_with_the_ancestors_places() {
        let (world, loaded) = shipped("local-agent-workroot");
        let loaded = loaded.unwrap();
        let config = &loaded.config;
        let at = |rel: &str| world.path("local-agent-workroot").join(rel);
        assert_eq!(config.workroot, Some(at("")).map(|p| places::normalise(&p)));
        assert_eq!(config.config_root, Some(world.path("repo")));
        assert_eq!(
            config
                .sources
                .iter()
                .map(|s| (s.name.as_str(), s.root.clone(), s.kind.as_str()))
                .collect::<Vec<_>>(),
            [
                ("corpus", at("allowed/corpus"), "corpus"),
                ("scratch", at("allowed/scratch"), "scratch"),
            ]
        );
        assert_eq!(config.security.allowed_roots, [at("allowed")]);
        assert_eq!(config.index.db_path, at("index/index.sqlite"));
        assert_eq!(config.embed.db_path, at("embeddings/db/embeddings.sqlite"));
        assert_eq!(config.memory.db_path, at("memory/durable.sqlite"));
        assert_eq!(config.runs.dir, at("runs"));
        assert_eq!(config.lexical_dir(), at("index/lexical"));
        assert_eq!(config.vectors_dir(), at("embeddings/db/vectors"));
        assert!(config.protected.contains(&at("runs")));
        assert_eq!(config.index.scheme, Scheme::ObsidianV2);
        assert_eq!(
            (config.embed.provider, config.embed.model.as_str()),
            (EmbedProvider::Candle, "all-MiniLM-L6-v2")
        );
        assert_eq!(config.retrieve.fusion, Fusion::Convex);
        assert_eq!(
            config.llm.model_fast.as_deref(),
            Some("qwen2.5:14b-instruct")
        );
        let about = |text: &str| config.warnings.iter().filter(|w| w.contains(text)).count();
        for text in [
            "runs/` is left out",
            "obsidian_v1",
            "torch` is read",
            "simple_union",
            "float32",
            "own window",
        ] {
            assert!(about(text) >= 1, "{text}: {:#?}", config.warnings);
        }
    }

    #[test]
    fn w44_the_shipped_file_loads_under_a_workroot_of_any_name() {
        let (world, loaded) = shipped("my own place");
        let config = loaded.unwrap().config;
        assert_eq!(
            config.security.allowed_roots,
            [world.path("my own place/allowed")]
        );
        assert_eq!(
            config.sources[0].root,
            world.path("my own place/allowed/corpus")
        );
        assert!(
            config
                .warnings
                .iter()
                .any(|w| w.contains("is read as `allowed/` in the workroot"))
        );
    }

    enum Fate {
        /// Used: this key of ours has this value (as JSON), or nothing differs.
        Used(&'static str, &'static str),
        /// A warning contains these words.
        Warned(&'static str),
        /// An error.
        Refused,
    }
    use Fate::{Refused, Used, Warned};

    const AGREES: Fate = Used("", "");

    /// Every key of the Python version with meaningful values; none may be ignored silently.
    const FATES: &[(&str, &str, Fate)] = &[
        ("model", "m", Used("llm.model", "\"m\"")),
        ("model_fast", "m", Used("llm.model_fast", "\"m\"")),
        ("model_big", "m", Used("llm.model_big", "\"m\"")),
        ("prefer_fast", "false", Used("llm.prefer_fast", "false")),
        ("prefer_fast", "\"off\"", Warned("is read as `false`")),
        ("prefer_fast", "\"ture\"", Refused),
        ("big_triggers", "[x]", Used("llm.big_triggers", "[\"x\"]")),
        (
            "ollama_base_url",
            "http://h",
            Used("llm.base_url", "\"http://h\""),
        ),
        ("max_tokens", "9", Used("llm.max_tokens", "9")),
        ("max_tokens", "\"9\"", Warned("number in quotes")),
        ("max_tokens", "true", Refused),
        (
            "max_tokens_big_second",
            "9",
            Used("llm.max_tokens_big_second", "9"),
        ),
        ("temperature", "1", Used("llm.temperature", "1.0")),
        ("timeout_s", "9", Used("llm.timeout_s", "9")),
        (
            "timeout_s_big_second",
            "9",
            Used("llm.timeout_s_big_second", "9"),
        ),
        (
            "max_chars_full_read",
            "999",
            Used("llm.max_chars_full_read", "999"),
        ),
        ("max_chars_full_read", "1", Warned("nearest of 200")),
        ("read_full_on_thorough", "true", Warned("has no effect")),
        ("full_evidence_triggers", "[x]", Warned("has no effect")),
        (
            "security.auto_create_allowed_roots",
            "true",
            Warned("never created"),
        ),
        (
            "phase2.index_db_path",
            "/i.sqlite",
            Used("index.db_path", "\"/i.sqlite\""),
        ),
        (
            "phase2.sources",
            "[{name: a, root: /w/notes, kind: k}]",
            Refused,
        ),
        ("phase2.sources", "[]", Used("sources", "[]")),
        (
            "phase2.chunking.scheme",
            "obsidian_v1",
            Warned("is read as `obsidian_v2`"),
        ),
        (
            "phase2.chunking.scheme",
            "fixed_window_v1",
            Used("index.scheme", "\"fixed_window_v1\""),
        ),
        ("phase2.chunking.scheme", "other", Refused),
        ("phase2.chunking.max_chars", "999", Warned("counts tokens")),
        ("phase2.chunking.overlap", "9", Warned("counts tokens")),
        (
            "phase3.embeddings_db_path",
            "/e.sqlite",
            Used("embed.db_path", "\"/e.sqlite\""),
        ),
        ("phase3.embed.provider", "torch", Warned("read as `candle`")),
        (
            "phase3.embed.provider",
            "ollama",
            Used("embed.provider", "\"ollama\""),
        ),
        (
            "phase3.embed.model_id",
            "sentence-transformers/x",
            Used("embed.model", "\"x\""),
        ),
        (
            "phase3.embed.preprocess",
            "obsidian_v1",
            Warned("two innermost headings"),
        ),
        ("phase3.embed.preprocess", "other", Refused),
        (
            "phase3.embed.chunk_preprocess_sig",
            "abc",
            Warned("fingerprint"),
        ),
        (
            "phase3.embed.query_preprocess_sig",
            "abc",
            Warned("fingerprint"),
        ),
        (
            "phase3.embed.batch_size",
            "9",
            Warned("`embed.batch_tokens`"),
        ),
        (
            "phase3.embed.torch.local_model_path",
            "/m",
            Used("embed.model_path", "\"/m\""),
        ),
        ("phase3.embed.torch.cache_dir", "/c", Warned("model folder")),
        ("phase3.embed.torch.device", "cpu", AGREES),
        (
            "phase3.embed.torch.device",
            "cuda",
            Warned("on the processor"),
        ),
        ("phase3.embed.torch.dtype", "float32", AGREES),
        (
            "phase3.embed.torch.dtype",
            "float16",
            Warned("read as `float32`"),
        ),
        (
            "phase3.embed.torch.batch_size",
            "9",
            Warned("`embed.batch_tokens`"),
        ),
        (
            "phase3.embed.torch.max_length",
            "128",
            Used("embed.max_length", "128"),
        ),
        ("phase3.embed.torch.max_length", "512", Warned("own window")),
        ("phase3.embed.torch.pooling", "mean", AGREES),
        ("phase3.embed.torch.pooling", "cls", Refused),
        ("phase3.embed.torch.normalize", "true", AGREES),
        ("phase3.embed.torch.normalize", "false", Refused),
        ("phase3.embed.torch.trust_remote_code", "false", AGREES),
        (
            "phase3.embed.torch.trust_remote_code",
            "true",
            Warned("no code of a model"),
        ),
        ("phase3.embed.torch.offline_only", "true", AGREES),
        (
            "phase3.embed.torch.offline_only",
            "false",
            Warned("`models pull`"),
        ),
        ("phase3.retrieve.lexical_k", "9", Warned("best 1,000")),
        ("phase3.retrieve.vector_k", "9", Warned("best 1,000")),
        ("retrieve.lexical_k", "9", Warned("best 1,000")),
        ("retrieve.vector_k", "9", Warned("best 1,000")),
        ("embed.batch_size", "9", Warned("`embed.batch_tokens`")),
        ("phase3.retrieve.vector_fetch_k", "0", AGREES),
        (
            "phase3.retrieve.vector_fetch_k",
            "50",
            Warned("before candidates"),
        ),
        (
            "phase3.retrieve.rel_path_prefix",
            "a\\b/",
            Warned("read as a folder"),
        ),
        (
            "phase3.retrieve.fusion",
            "simple_union",
            Warned("read as `convex`"),
        ),
        ("phase3.retrieve.fusion", "other", Refused),
        ("phase3.ask.evidence.top_n", "9", Used("ask.top_n", "9")),
        ("phase3.ask.evidence.top_n", "0", Warned("raised to 1")),
        ("phase3.ask.evidence.top_n", "-3", Warned("raised to 1")),
        ("phase3.ask.citation_validation.enabled", "true", AGREES),
        (
            "phase3.ask.citation_validation.enabled",
            "false",
            Warned("UNVERIFIED"),
        ),
        (
            "phase3.ask.citation_validation.strict",
            "true",
            Used("ask.strict", "true"),
        ),
        (
            "phase3.ask.citation_validation.strict",
            "yes",
            Warned("is read as `true`"),
        ),
        ("phase3.ask.citation_validation.strict", "\"ture\"", Refused),
        (
            "phase3.ask.citation_validation.require_in_snapshot",
            "true",
            AGREES,
        ),
        (
            "phase3.ask.citation_validation.require_in_snapshot",
            "false",
            Warned("always true"),
        ),
        (
            "phase3.ask.citation_validation.heading_match",
            "exact",
            Used("ask.heading_match", "\"exact\""),
        ),
        (
            "phase3.ask.citation_validation.heading_match",
            "fuzzy",
            Refused,
        ),
        (
            "phase3.ask.citation_validation.normalize_heading",
            "false",
            Used("ask.normalize_heading", "false"),
        ),
        (
            "phase3.runs.log_evidence_excerpts",
            "false",
            Used("runs.log_evidence_excerpts", "false"),
        ),
        (
            "phase3.runs.max_total_evidence_chars",
            "9",
            Used("runs.max_total_evidence_chars", "9"),
        ),
        (
            "phase3.runs.max_excerpt_chars",
            "9",
            Used("runs.max_excerpt_chars", "9"),
        ),
        (
            "phase3.memory.durable_db_path",
            "/m.sqlite",
            Used("memory.db_path", "\"/m.sqlite\""),
        ),
        (
            "phase3.memory.enabled",
            "false",
            Used("memory.enabled", "false"),
        ),
    ];

    /// `a.b.c: value` as nested YAML.
    pub(super) fn nested(path: &str, value: &str) -> String {
        let parts: Vec<_> = path.split('.').collect();
        let line = |(i, part): (usize, &&str)| {
            let end = if i + 1 == parts.len() {
                format!(" {value}\n")
            } else {
                "\n".to_owned()
            };
            format!("{}{part}:{end}", "  ".repeat(i))
        };
        parts.iter().enumerate().map(line).collect()
    }

    #[test]
    fn every_ancestor_key_is_used_warned_or_refused() {
        for key in KEYS.iter().filter(|k| k.is_ancestor()) {
            assert!(
                FATES.iter().any(|(path, ..)| *path == key.path),
                "{} has no row",
                key.path
            );
        }
        for (path, value, fate) in FATES {
            let world = TestConfiguration::new();
            let result = world.named(&nested(path, value));
            let quiet = |l: &Loaded| {
                assert!(
                    l.config.warnings.is_empty(),
                    "{path}: {value}: {:?}",
                    l.config.warnings
                );
            };
            match fate {
                Used("", _) => quiet(&result.unwrap()),
                Used(key, expected) => {
                    let loaded = result.unwrap_or_else(|e| panic!("{path}: {value}: {e}"));
                    assert_eq!(
                        setting(&loaded, key).value.to_string(),
                        *expected,
                        "{path}: {value}"
                    );
                    quiet(&loaded);
                }
                Warned(words) => {
                    let warnings = result
                        .unwrap_or_else(|e| panic!("{path}: {value}: {e}"))
                        .config
                        .warnings;
                    let said = warnings
                        .iter()
                        .any(|w| w.contains(words) && w.contains("named.yaml:"));
                    assert!(said, "{path}: {value}: {warnings:?}");
                }
                Refused => assert!(result.is_err(), "{path}: {value}"),
            }
        }
    }

    #[test]
    fn every_shipped_key_has_a_row_in_the_table() {
        let keys = raw::parse("f", SHIPPED.as_bytes()).unwrap();
        let mut findings = findings::Findings::default();
        let typed = typed::read_map(&keys, "", &Origin::Default, true, &mut findings);
        assert!(findings.problems.is_empty(), "{:?}", findings.problems);
        let blank = 5;
        let retired = [
            "embed.batch_size",
            "retrieve.lexical_k",
            "retrieve.vector_k",
        ];
        let is_of_the_ancestor = |k: &&Key| k.is_ancestor() && !retired.contains(&k.path);
        let ancestors = KEYS.iter().filter(is_of_the_ancestor).count();
        assert_eq!(
            typed.iter().filter(|t| t.key.is_ancestor()).count() + blank,
            ancestors
        );
    }

    #[test]
    fn our_own_key_in_the_same_file_wins_with_a_warning() {
        let world = TestConfiguration::new();
        let text = "ask: {top_n: 5}\nphase3: {ask: {evidence: {top_n: 9}}}\n";
        let config = world.named(text).unwrap().config;
        assert_eq!(config.ask.top_n, 5);
        assert!(
            config.warnings[0].contains("`phase3.ask.evidence.top_n` is ignored: `ask.top_n`"),
            "{:?}",
            config.warnings
        );
    }

    #[test]
    fn lenient_booleans_hold_in_the_ancestors_files_only() {
        let world = TestConfiguration::new();
        let config = world
            .named("security: {deny_hidden_paths: \"no\"}\nphase2: {}\n")
            .unwrap()
            .config;
        assert!(!config.security.deny_hidden_paths && config.warnings.len() == 1);
        assert!(
            world
                .named("security: {deny_hidden_paths: \"no\"}\n")
                .is_err()
        );
        assert!(world.named("ask: {strict: \"no\"}\nphase2: {}\n").is_err());
    }

    #[test]
    fn switched_off_validation_changes_only_the_heading() {
        let world = TestConfiguration::new();
        let config = world
            .named(&nested("phase3.ask.citation_validation.enabled", "false"))
            .unwrap()
            .config;
        assert!(!config.ask.show_as_verified);
    }

    #[test]
    fn a_state_folder_of_our_own_replaces_the_ancestors_places() {
        let world = TestConfiguration::new();
        let config = world
            .named("state_dir: .mine\nphase2: {sources: []}\n")
            .unwrap()
            .config;
        assert_eq!(config.index.db_path, world.path("w/.mine/index.sqlite"));
    }
}
