//! Units that keep `watch` or `serve` running without a terminal: a systemd user unit, a launchd
//! agent, a task of the Task Scheduler, or cron jobs.

use local_agent_text::types::Sha256;

/// The command that a unit keeps running.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnitSubject {
    /// One word.
    pub name: &'static str,
    pub description: &'static str,
}

/// `watch`.
pub(crate) const WATCH: UnitSubject = UnitSubject {
    name: "watch",
    description: "local-agent keeps index and embeddings current",
};

/// A unit for `systemctl --user`; `command` is the program with its arguments.
pub(crate) fn systemd(service: &UnitSubject, command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| systemd_word(word)).collect();
    format!(
        "[Unit]
Description={}

[Service]
ExecStart={}
Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target
",
        service.description,
        words.join(" ")
    )
}

/// A property list for `~/Library/LaunchAgents`; `command` is the program with its arguments.
pub(crate) fn launchd(service: &UnitSubject, command: &[String]) -> String {
    let words: String = command
        .iter()
        .map(|word| format!("    <string>{}</string>\n", xml_text(word)))
        .collect();
    let (name, own) = (service.name, own_name(command));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
  <key>Label</key>
  <string>local-agent.{name}.{own}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
"
    )
}

/// A command for a Windows prompt that creates a task of the Task Scheduler, run at log-on.
pub(crate) fn task(service: &UnitSubject, command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| windows_word(word)).collect();
    // The command is one quoted argument of another command, so its own quotes are escaped.
    let inner = words.join(" ").replace('"', "\\\"");
    let (name, own) = (service.name, own_name(command));
    format!("schtasks /Create /F /SC ONLOGON /TN local-agent-{name}-{own} /TR \"{inner}\"\n")
}

/// A name for the unit of this command, so that two configurations have two units. The command is
/// the same whenever a unit of the same configuration is printed again.
fn own_name(command: &[String]) -> String {
    let words = command.get(1..).unwrap_or_default().join("\0");
    let digits = Sha256::of(words.as_bytes()).to_string();
    digits.chars().take(8).collect()
}

fn xml_text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn windows_word(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains([' ', '\t', '"']);
    if is_plain {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}

/// Two lines for `crontab -e`. One runs `index` and `embed` every ten minutes; the other runs
/// `doctor` every morning, which prints only problems. cron mails the output. `before` and `after`
/// are the words around the name of the command. Without `embeds`, vectors are neither made nor
/// missed.
pub(crate) fn cron(before: &[String], after: &[String], embeds: bool) -> String {
    let index = cron_command(before, after, &["index", "--quiet", "--wait", "300"]);
    let embed = cron_command(before, after, &["embed", "--quiet", "--wait", "300"]);
    let jobs = match embeds {
        true => format!("{index} && {embed}"),
        false => index,
    };
    let needs = embeds.then_some("--require-phase3");
    let doctor: Vec<&str> = ["doctor"]
        .into_iter()
        .chain(needs)
        .chain(["--offline", "--quiet"])
        .collect();
    let doctor = cron_command(before, after, &doctor);
    let lines = format!("*/10 * * * * {jobs}\n0 7 * * * {doctor}\n");
    // cron reads a percent sign as a line break.
    lines.replace('%', "\\%")
}

/// A command of the program as a line of a shell.
fn cron_command(before: &[String], after: &[String], own: &[&str]) -> String {
    let own = own.iter().map(|word| (*word).to_owned());
    let words = before
        .iter()
        .cloned()
        .chain(own)
        .chain(after.iter().cloned());
    let words: Vec<String> = words.map(|word| shell_word(&word)).collect();
    words.join(" ")
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
    fn the_units_of_two_configurations_have_two_names() {
        let command = |config: &str| {
            let words = ["/bin/local-agent", "--config", config, "watch"];
            words.map(str::to_owned)
        };
        let name = |config: &str| {
            let text = task(&WATCH, &command(config));
            text.split(" /TR ").next().unwrap().to_owned()
        };
        assert_ne!(name("/a.yaml"), name("/b.yaml"));
        assert_eq!(name("/a.yaml"), name("/a.yaml"));
        let label = |config: &str| launchd(&WATCH, &command(config)).replace(config, "");
        assert_ne!(label("/a.yaml"), label("/b.yaml"));
    }

    #[test]
    fn words_that_mean_something_elsewhere_are_quoted() {
        let command = [
            "/opt/my tools/local-agent",
            "--config",
            "/home/a/50%.yaml",
            "watch",
        ]
        .map(str::to_owned);
        assert!(systemd(&WATCH, &command).contains(
            "ExecStart=\"/opt/my tools/local-agent\" --config \"/home/a/50%%.yaml\" watch\n"
        ));
        let (before, after) = (
            ["/bin/local-agent".to_owned()],
            ["--config".to_owned(), "/a b/it's 50%.yaml".to_owned()],
        );
        assert_eq!(
            cron(&before, &after, true),
            "*/10 * * * * /bin/local-agent index --quiet --wait 300 --config '/a b/it'\\''s 50\\%.yaml' && \
             /bin/local-agent embed --quiet --wait 300 --config '/a b/it'\\''s 50\\%.yaml'\n\
             0 7 * * * /bin/local-agent doctor --require-phase3 --offline --quiet --config '/a b/it'\\''s 50\\%.yaml'\n"
        );
        assert_eq!(
            cron(&before, &[], false),
            "*/10 * * * * /bin/local-agent index --quiet --wait 300\n\
             0 7 * * * /bin/local-agent doctor --offline --quiet\n"
        );
    }
}
