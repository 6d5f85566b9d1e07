#!/bin/sh
# Enters local-agent in the files of three clients and lets the clients themselves read them: Claude Code, Codex, Gemini.
#
#     tests/clients/check.sh path/to/local-agent a/folder/with/notes [folder/with/node_modules]
#
# Needs node and, without a third argument, npm and the network. Everything happens in a home folder of its own, which is
# removed at the end; the notes are copied into it. Each client has one minute.
set -eu

program=$(realpath "$1")
vault=$(realpath "$2")
home=$(mktemp -d)
server=
stop() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$home"
}
trap stop EXIT INT TERM
export HOME="$home" XDG_CONFIG_HOME="$home/.config" XDG_CACHE_HOME="$home/.cache" XDG_DATA_HOME="$home/.local/share"

packages=${3:-$home/packages}
if [ $# -lt 3 ]; then
    mkdir -p "$packages"
    npm install --prefix "$packages" --no-audit --no-fund --silent \
        @anthropic-ai/claude-code @openai/codex @google/gemini-cli
fi
bin=$(realpath "$packages")/node_modules/.bin

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# What a client says about its servers must name this one, and not as broken.
lists() {
    said=$(cd "$home" && timeout 60 "$bin/$1" mcp list 2>&1) || fail "$1 mcp list: $said"
    echo "$said" | grep local-agent || fail "$1 does not list local-agent: $said"
    if echo "$said" | grep local-agent | grep -qi 'fail\|disconnected\|error'; then fail "$1 cannot use it: $said"; fi
}

cp -R "$vault" "$home/vault"
rm -rf "$home/vault/.local-agent" "$home/vault/local-agent.yaml"
cd "$home/vault"
"$program" init --here
"$program" index
for client in claude-code codex gemini; do
    "$program" mcp install --client "$client"
done
for name in claude codex gemini; do lists "$name"; done

# The same over HTTP, with the token in the environment.
LOCAL_AGENT_SERVER_TOKEN=$("$program" serve token)
export LOCAL_AGENT_SERVER_TOKEN
"$program" serve --listen 127.0.0.1:0 >"$home/url" &
server=$!
tries=0
while [ ! -s "$home/url" ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
url=$(head -n 1 "$home/url")
[ -n "$url" ] || fail "serve says no address"
for client in claude-code codex gemini; do
    "$program" mcp install --client "$client" --http "$url"
done
for name in claude codex gemini; do lists "$name"; done

for client in claude-code codex gemini; do
    "$program" mcp uninstall --client "$client"
done
for name in claude codex gemini; do
    said=$(cd "$home" && timeout 60 "$bin/$name" mcp list 2>&1) || true
    if echo "$said" | grep -q local-agent; then fail "$name still lists it: $said"; fi
done
echo "all three clients read what was written"
