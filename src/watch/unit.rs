//! What keeps `watch` at work without a terminal: a systemd unit of the user, or the jobs from
//! cron.

/// A unit for `systemctl --user`; `command` is the program with its arguments.
pub fn systemd(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| systemd_word(word)).collect();
    format!(
        "[Unit]
Description=local-agent keeps index and embeddings current

[Service]
ExecStart={}
Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target
",
        words.join(" ")
    )
}

/// A line for `crontab -e`: both jobs, every ten minutes. `before` and `after` are around the
/// name of the job.
pub fn cron(before: &[String], after: &[String]) -> String {
    let job = |name: &str| {
        let own = [name, "--quiet", "--wait", "300"].map(str::to_owned);
        let words: Vec<String> = before
            .iter()
            .chain(&own)
            .chain(after)
            .map(|word| shell_word(word))
            .collect();
        words.join(" ")
    };
    // To cron, a percent sign is a line break.
    let line = format!("{} && {}", job("index"), job("embed")).replace('%', "\\%");
    format!("*/10 * * * * {line}\n")
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"/._-+:=".contains(&b))
}

fn systemd_word(word: &str) -> String {
    if is_plain(word) {
        return word.to_owned();
    }
    let escaped = word
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
        .replace('$', "$$");
    format!("\"{escaped}\"")
}

fn shell_word(word: &str) -> String {
    if is_plain(word) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_something_elsewhere_are_quoted() {
        let command = [
            "/opt/my tools/local-agent",
            "--config",
            "/home/a/50%.yaml",
            "watch",
        ]
        .map(str::to_owned);
        assert!(systemd(&command).contains(
            "ExecStart=\"/opt/my tools/local-agent\" --config \"/home/a/50%%.yaml\" watch\n"
        ));
        let (before, after) = (
            ["/bin/local-agent".to_owned()],
            ["--config".to_owned(), "/a b/it's 50%.yaml".to_owned()],
        );
        assert_eq!(
            cron(&before, &after),
            "*/10 * * * * /bin/local-agent index --quiet --wait 300 --config '/a b/it'\\''s 50\\%.yaml' && \
             /bin/local-agent embed --quiet --wait 300 --config '/a b/it'\\''s 50\\%.yaml'\n"
        );
    }
}
