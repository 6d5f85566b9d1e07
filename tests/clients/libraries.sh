#!/bin/sh
# Lets three libraries that speak MCP use local-agent: the official Python and TypeScript clients, over stdin and over HTTP,
# and the Inspector's command line.
#
#     tests/clients/libraries.sh path/to/local-agent [folder/with/node_modules path/to/python]
#
# Needs node and python3 and, without the last two arguments, npm, pip and the network. Everything happens in a home folder
# of its own, which is removed at the end, over the notes that come with the program.
set -eu

program=$(realpath "$1")
here=$(cd "$(dirname "$0")/../.." && pwd)
home=$(mktemp -d)
server=
stop() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$home"
}
trap stop EXIT INT TERM
export HOME="$home" XDG_CONFIG_HOME="$home/.config" XDG_CACHE_HOME="$home/.cache" XDG_DATA_HOME="$home/.local/share"

packages=${2:-$home/packages}
python=${3:-$home/python/bin/python}
if [ $# -lt 3 ]; then
    mkdir -p "$packages"
    npm install --prefix "$packages" --no-audit --no-fund --silent @modelcontextprotocol/sdk \
        @modelcontextprotocol/inspector@latest
    python3 -m venv "$home/python"
    "$python" -m pip install --quiet mcp
fi
packages=$(realpath "$packages")

fail() {
    echo "FAILED: $1" >&2
    exit 1
}

# What a client says must contain a line.
holds() {
    case "$2" in
        *"$3"*) ;;
        *) fail "$1 does not say \`$3\`: $2" ;;
    esac
}

cp -R "$here/examples/vault" "$home/vault"
cd "$home/vault"
"$program" init --here
"$program" index
"$program" embed
LOCAL_AGENT_SERVER_TOKEN=$("$program" serve token)
"$program" serve --listen 127.0.0.1:0 >"$home/url" &
server=$!
tries=0
while [ ! -s "$home/url" ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
url=$(head -n 1 "$home/url")
[ -n "$url" ] || fail "serve says no address"
mcp="$url/mcp"

# A program of node finds its packages beside itself.
cp "$here/tests/peers/peer.mjs" "$home/peer.mjs"
ln -sfn "$packages/node_modules" "$home/node_modules"
said=$("$python" "$here/tests/peers/peer.py" "$program" "$mcp" "$LOCAL_AGENT_SERVER_TOKEN" 2>&1) || fail "peer.py: $said"
holds peer.py "$said" "verify: passed"
holds peer.py "$said" "over HTTP: "
echo "the Python client: stdin, HTTP"
said=$(node "$home/peer.mjs" "$program" "$mcp" "$LOCAL_AGENT_SERVER_TOKEN" 2>&1) || fail "peer.mjs: $said"
holds peer.mjs "$said" "verify: passed"
holds peer.mjs "$said" "over HTTP: "
echo "the TypeScript client: stdin, HTTP"

inspect() {
    timeout 120 "$packages/node_modules/.bin/mcp-inspector" --cli "$@" 2>&1
}
said=$(inspect "$program" mcp --method tools/list) || fail "the Inspector, tools/list: $said"
holds "the Inspector" "$said" '"multi_get"'
said=$(inspect "$program" mcp --method tools/call --tool-name search --tool-arg query=proofbox --tool-arg limit=1) ||
    fail "the Inspector, tools/call: $said"
holds "the Inspector" "$said" "Proofbox.md"
said=$(inspect "$program" mcp --method resources/list) || fail "the Inspector, resources/list: $said"
holds "the Inspector" "$said" "note://"
if inspect --help | grep -q -e --header; then
    said=$(inspect "$mcp" --transport http --method tools/list --header "Authorization: Bearer $LOCAL_AGENT_SERVER_TOKEN") ||
        fail "the Inspector over HTTP: $said"
    holds "the Inspector over HTTP" "$said" '"multi_get"'
    echo "the Inspector: stdin, HTTP"
else
    echo "the Inspector: stdin (this version cannot send a token over HTTP)"
fi
