#!/usr/bin/env bash
# Packs the program of `cargo build --profile dist --target TARGET` with its manual pages and completions into dist/.
# usage: scripts/archive.sh TARGET [PROFILE]
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 profile=${2:-dist}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name="comfy-triage-$version-$target"
end=""; case $target in *windows*) end=.exe ;; esac
program="target/$target/$profile/comfy-triage$end"
[ -f "$program" ] || program="target/$profile/comfy-triage$end"
rm -rf "dist/$name" && mkdir -p "dist/$name/man" "dist/$name/completions"
cp "$program" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "dist/$name/"
"$program" man --out "dist/$name/man"
for shell in bash zsh fish powershell elvish; do "$program" completions "$shell" > "dist/$name/completions/comfy-triage.$shell"; done
case $target in
  *windows*)
    cp "packaging/windows/Drop a log here.bat" "dist/$name/"
    (cd dist && if command -v 7z >/dev/null; then 7z a -bso0 "$name.zip" "./$name/*"; else (cd "$name" && zip -qr "../$name.zip" .); fi) ;;
  *) tar -C dist -czf "dist/$name.tar.gz" "$name" ;;
esac
rm -rf "dist/$name"
ls dist
