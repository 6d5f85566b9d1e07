//! Code, paths and addresses: each must be in the cited text as a whole.

use super::outcomes::{all_objected, all_rejected, all_undoubted};
use super::*;

#[test]
fn code_within_another_word_is_not_in_the_text() {
    all_rejected(
        &[Code::Code],
        &[
            (
                "The alarm rings when the disk is full.",
                "`rm` rings when the disk is full",
            ),
            (
                "Clients call `api/v10` to list users.",
                "Clients call `api/v1` to list users",
            ),
            (
                "Clients call api/v10/users.md to list users.",
                "Clients call api/v1/users.md to list users",
            ),
            (
                "Send the report to aa@b.org.uk today.",
                "Send the report to a@b.org today",
            ),
            (
                "Send the report to anna@lab.org.uk today.",
                "Send the report to anna@lab.org today",
            ),
            (
                "The gateway listens on `110.0.0.12` here.",
                "The gateway listens on `10.0.0.1` here",
            ),
            (
                "The plan is kept in old-plan.md here.",
                "The plan is kept in plan.md here",
            ),
            (
                "The plan is kept in plan.md.bak here.",
                "The plan is kept in plan.md here",
            ),
            (
                "Push with --no-verify-ssl to skip it.",
                "Push with --no-verify to skip it",
            ),
            (
                "Push with `--no-verify-ssl` to skip it.",
                "Push with `--no-verify` to skip it",
            ),
            (
                "The limit is max_retries_total per call.",
                "The limit is max_retries per call",
            ),
            (
                "See [the guide](https://x.org/a1) for this step.",
                "See [the guide](https://x.org/a) for this step",
            ),
            (
                "The page is https://x.org.evil.com for all.",
                "The page is https://x.org for all",
            ),
            (
                "Der Alarm läutet bei voller Platte.",
                "`rm` läutet bei voller Platte",
            ),
            (
                "Les clients appellent `api/v10` chaque jour.",
                "Les clients appellent `api/v1` chaque jour",
            ),
            (
                "Клиенты вызывают `api/v10` каждый день.",
                "Клиенты вызывают `api/v1` каждый день",
            ),
        ],
    );
    all_rejected(
        &[Code::Number],
        &[(
            "The mask is 0xFE0 in this build.",
            "The mask is 0xFE in this build",
        )],
    );
    let text = "Remove it:\n\n```sh\nrm -rf build\n```\n";
    all_rejected(
        &[Code::Code],
        &[(text, "Remove it:\n\n```sh\nrm -r\n```\n\n[E1]")],
    );
}

#[test]
fn code_within_a_longer_name_or_path_is_doubtful() {
    all_objected(
        &[Code::Code],
        &[
            (
                "Licences are checked by `cargo-deny` each night.",
                "Licences are checked by `cargo` each night",
            ),
            (
                "Clients call `api/v1/users` each night.",
                "Clients call `api/v1` each night",
            ),
            (
                "Read https://x.org/guide/start before the exam.",
                "Read https://x.org/guide before the exam",
            ),
        ],
    );
}

#[test]
fn code_with_a_boundary_at_both_ends_is_in_the_text() {
    all_undoubted(&[
        (
            "Delete it with `rm -rf build` at once.",
            "Delete it with `rm` at once",
        ),
        (
            "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed the leak.",
            "Commit 9fceb02 fixed the leak",
        ),
        (
            "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed the leak.",
            "Commit `9fceb02` fixed the leak",
        ),
        (
            "The entry point is crates/app/src/main.rs here.",
            "The entry point is main.rs here",
        ),
        (
            "The entry point is `crates/app/src/main.rs` here.",
            "The entry point is `src/main.rs` here",
        ),
        (
            "The program calls `foo(bar)` at the start.",
            "The program calls `foo` at the start",
        ),
        (
            "The program sets `--level=3` at the start.",
            "The program sets `--level` at the start",
        ),
        (
            "Push with `git push --force origin` to overwrite.",
            "Push with `--force` to overwrite",
        ),
        (
            "The page is https://x.org/ for all members.",
            "The page is https://x.org for all members",
        ),
        (
            "The page is https://x.org for all members.",
            "The page is https://x.org/ for all members",
        ),
        (
            "Write to anna@lab.org, please, for a key.",
            "Write to anna@lab.org for a key",
        ),
        (
            "Mit `rm` wird die Datei gelöscht.",
            "Die Datei wird mit `rm` gelöscht",
        ),
        ("使用rm命令删除文件。", "使用`rm`命令删除文件"),
        ("파일은 rm을 써서 지운다.", "파일은 `rm`을 써서 지운다"),
        (
            "Le fichier (config.toml) contient la clé.",
            "Le fichier `config.toml` contient la clé",
        ),
        (
            "Файл config.toml содержит ключ.",
            "Файл `config.toml` содержит ключ",
        ),
        (
            "El archivo «config.toml» contiene la clave.",
            "El archivo `config.toml` contiene la clave",
        ),
        (
            "يحتوي الملف config.toml على المفتاح.",
            "يحتوي الملف `config.toml` على المفتاح",
        ),
        (
            "設定は`config.toml`にあります。",
            "設定は`config.toml`にあります",
        ),
        (
            "All files end in `.md` or `.txt` here.",
            "All files end in `.md` here",
        ),
        (
            "Notes such as plan.md are synced hourly.",
            "`.md` notes are synced hourly",
        ),
    ]);
}
