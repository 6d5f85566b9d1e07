#!/usr/bin/env bash
# Makes an MCP bundle, which desktop clients install by a double click, from a release archive:
#
#   packaging/mcpb/bundle.sh dist/local-agent-0.1.0-x86_64-unknown-linux-gnu.tar.gz linux dist
#
# The second argument is the platform as node names it: linux, darwin or win32.
set -euo pipefail
if [ $# -ne 3 ]; then
    echo "usage: $0 ARCHIVE PLATFORM DIR" >&2
    exit 2
fi
archive="$1" platform="$2"
mkdir -p "$3"
out="$(cd "$3" && pwd)"
here="$(cd "$(dirname "$0")" && pwd)"
top="$(basename "$archive" .tar.gz)"
version="$(echo "$top" | cut -d- -f3)"
file=local-agent
if [ "$platform" = win32 ]; then file=local-agent.exe; fi
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
tar -xzf "$archive" -C "$stage" --strip-components=1 \
    "$top/$file" "$top/LICENSE-APACHE" "$top/LICENSE-MIT" "$top/NOTICE" "$top/models"

# The manifest of one platform, and a zip in which names and times are the same whoever makes it.
python3 - "$here/manifest.json" "$stage" "$platform" "$file" "$version" "$out/$top.mcpb" <<'PYTHON'
import json, os, sys, zipfile

source, stage, platform, program, version, target = sys.argv[1:]
with open(source, encoding="utf-8") as opened:
    manifest = json.load(opened)
if manifest["version"] != version:
    sys.exit(f"the manifest has the version {manifest['version']}, the archive {version}")
manifest["compatibility"]["platforms"] = [platform]
manifest["server"]["entry_point"] = program
config = manifest["server"]["mcp_config"]
config["command"] = "${__dirname}/" + program
config.pop("platform_overrides", None)
with open(os.path.join(stage, "manifest.json"), "w", encoding="utf-8") as opened:
    json.dump(manifest, opened, indent=2)
    opened.write("\n")
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
    for folder, folders, files in os.walk(stage):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, stage).replace(os.sep, "/")
            entry = zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if inside == program else 0o100644) << 16
            with open(path, "rb") as opened:
                bundle.writestr(entry, opened.read())
PYTHON
echo "$out/$top.mcpb"
