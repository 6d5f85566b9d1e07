#!/usr/bin/env bash
# Makes the npm package of one platform from a release archive:
#
#   packaging/npm/platforms.sh dist/local-agent-0.1.0-x86_64-unknown-linux-gnu.tar.gz linux x64 dist/npm
set -euo pipefail
if [ $# -ne 4 ]; then
    echo "usage: $0 ARCHIVE OS CPU DIR (as node names them: linux, darwin, win32; x64, arm64)" >&2
    exit 2
fi
archive="$1" os="$2" cpu="$3"
package="$4/local-agent-$os-$cpu"
mkdir -p "$package"
file=local-agent
if [ "$os" = win32 ]; then file=local-agent.exe; fi
top="$(basename "$archive" .tar.gz)"
version="$(echo "$top" | cut -d- -f3)"
tar -xzf "$archive" -C "$package" --strip-components=1 \
    "$top/$file" "$top/LICENSE-APACHE" "$top/LICENSE-MIT" "$top/NOTICE" "$top/models"
cat > "$package/package.json" <<JSON
{
  "name": "local-agent-$os-$cpu",
  "version": "$version",
  "description": "The program local-agent for $os on $cpu.",
  "license": "MIT OR Apache-2.0",
  "os": ["$os"],
  "cpu": ["$cpu"],
  "files": ["$file", "LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "models"]
}
JSON
echo "$package"
