#!/usr/bin/env bash
# Makes everything that is derived from the archives in a folder, beside them: npm packages, MCP bundles, and the Homebrew
# formula if the archives of its four platforms are there.
#
#   packaging/bundles.sh dist https://example.org/releases/v0.1.0
#
# The second argument is the address below which the archives will be found.
set -euo pipefail
if [ $# -ne 2 ]; then
    echo "usage: $0 DIR URL" >&2
    exit 2
fi
here="$(cd "$(dirname "$0")" && pwd)"
dist="$(cd "$1" && pwd)"
url="$2"
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT

# The platform of a target as node names it: system and processor.
platform_of() {
    case "$1" in
        x86_64-unknown-linux-gnu) echo linux x64 ;;
        aarch64-unknown-linux-gnu) echo linux arm64 ;;
        x86_64-apple-darwin) echo darwin x64 ;;
        aarch64-apple-darwin) echo darwin arm64 ;;
        x86_64-pc-windows-msvc) echo win32 x64 ;;
        *) echo "no platform is known for $1" >&2; return 1 ;;
    esac
}

formula="$stage/local-agent.rb"
sed -e "s|@URL@|$(printf '%s' "$url" | sed 's/[&|\\]/\\&/g')|g" "$here/homebrew/local-agent.rb.in" > "$formula"
for archive in "$dist"/local-agent-*.tar.gz; do
    name="$(basename "$archive" .tar.gz)"
    version="$(echo "$name" | cut -d- -f3)"
    target="${name#local-agent-"$version"-}"
    platform="$(platform_of "$target")"
    read -r system processor <<< "$platform"
    if ! grep -q "\"version\": \"$version\"" "$here/npm/package.json"; then
        echo "packaging/npm/package.json has another version than $archive" >&2
        exit 1
    fi
    package="$("$here/npm/platforms.sh" "$archive" "$system" "$processor" "$stage/npm")"
    (cd "$package" && npm pack --silent --pack-destination "$dist" > /dev/null)
    "$here/mcpb/bundle.sh" "$archive" "$system" "$dist" > /dev/null
    sum="$(cut -d' ' -f1 "$archive.sha256")"
    placeholder="@SHA256_$(echo "$target" | tr 'a-z-' 'A-Z_')@"
    sed -i.old -e "s|$placeholder|$sum|g" -e "s|@VERSION@|$version|g" "$formula"
done
(cd "$here/npm" && npm pack --silent --pack-destination "$dist" > /dev/null)
if ! grep -q '"@' "$formula"; then
    cp "$formula" "$dist/"
fi
ls "$dist"
