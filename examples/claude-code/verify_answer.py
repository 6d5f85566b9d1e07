#!/usr/bin/env python3
"""A Stop hook for Claude Code: an answer whose citations do not hold goes back to the model.

Reads the event from stdin. Judges the last answer against the files of the project with
`local-agent verify`. When a sentence cites a place in a file and that place does not carry it, the
hook blocks the stop and says why; otherwise it says nothing. Sentences without a citation are left
alone. LOCAL_AGENT names the program, if it is not on the PATH.
"""

import json
import os
import subprocess
import sys


def last_answer(event):
    """The text of the last answer: from the event, else from the end of the transcript."""
    if event.get("last_assistant_message"):
        return event["last_assistant_message"]
    texts = []
    try:
        with open(event.get("transcript_path") or "", encoding="utf-8") as transcript:
            for line in transcript:
                entry = json.loads(line)
                if entry.get("type") == "user":
                    texts = []
                if entry.get("type") == "assistant":
                    content = entry.get("message", {}).get("content", [])
                    texts += [part["text"] for part in content if part.get("type") == "text"]
    except (OSError, ValueError):
        return ""
    return "\n\n".join(texts)


def objections(answer, project):
    """One line for each sentence that cites something and is rejected."""
    program = os.environ.get("LOCAL_AGENT", "local-agent")
    done = subprocess.run(
        [program, "verify", "-", "--vault", project, "--json"],
        input=answer.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    report = json.loads(done.stdout)
    if "claims" not in report:
        raise ValueError(report.get("error", {}).get("message", "verify gave no report"))
    return [
        f"- \"{' '.join(claim['text'].split())}\": {claim['why']}"
        for claim in report["claims"]
        if claim["verdict"] == "rejected" and claim["citations"]
    ]


def main():
    event = json.load(sys.stdin)
    # The model was already sent back once; a second time would be a loop.
    if event.get("stop_hook_active"):
        return
    answer = last_answer(event)
    if not answer.strip():
        return
    project = os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd") or "."
    try:
        lines = objections(answer, project)
    except (OSError, ValueError) as error:
        print(f"verify_answer: {error}", file=sys.stderr)
        return
    if lines:
        reason = "These sentences are not carried by the lines that they cite:\n" + "\n".join(lines)
        reason += "\nRead the cited lines again and correct the sentences or the citations."
        print(json.dumps({"decision": "block", "reason": reason}))


main()
