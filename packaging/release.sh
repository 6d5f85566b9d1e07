#!/usr/bin/env bash
# Makes the archive of one target: program, manual pages, completions, units, licences, and its SHA-256.
#
#   packaging/release.sh --binary target/dist/local-agent --target x86_64-unknown-linux-gnu --out dist
#
# The program must run on this machine: manual pages and completions are what it prints. LEVEL (1 to 9, usually 9)
# is how hard gzip tries.
set -euo pipefail

binary='' target='' out=''
while [ $# -gt 1 ]; do
    case "$1" in
        --binary) binary="$2" ;;
        --target) target="$2" ;;
        --out) out="$2" ;;
        *) echo "unknown option: $1" >&2; exit 2 ;;
    esac
    shift 2
done
if [ -z "$binary" ] || [ -z "$target" ] || [ -z "$out" ] || [ $# -ne 0 ]; then
    echo "usage: $0 --binary FILE --target TRIPLE --out DIR" >&2
    exit 2
fi

root="$(cd "$(dirname "$0")/.." && pwd)"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
binary="$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")"
version="$("$binary" --version | cut -d' ' -f2)"
name="local-agent-$version-$target"
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
package="$stage/$name"
mkdir -p "$package/man" "$package/completions" "$package/units"

cp "$binary" "$package/"
cp "$root/LICENSE-APACHE" "$root/LICENSE-MIT" "$root/NOTICE" "$root/README.md" "$root/OPERATOR_QUICKREF.md" "$package/"
for model in all-MiniLM-L6-v2 multilingual-e5-small; do
    mkdir -p "$package/models/$model"
    cp "$root/models/$model/NOTICE" "$package/models/$model/"
done
"$binary" man --dir "$package/man" > /dev/null
"$binary" completions bash > "$package/completions/local-agent.bash"
"$binary" completions zsh > "$package/completions/_local-agent"
"$binary" completions fish > "$package/completions/local-agent.fish"
"$binary" completions powershell > "$package/completions/_local-agent.ps1"
cp "$root"/packaging/units/* "$package/units/"

# Names, owners and times are the same whoever makes it, so the same program gives the same archive.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" \
    -C "$stage" -cf - "$name" | gzip -n "-${LEVEL:-9}" > "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
