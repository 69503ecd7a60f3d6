#!/usr/bin/env bash
# Counts the instructions of whole runs over 4 MiB of each kind of log, and fails when a count is 3 % above its baseline.
#
#   scripts/instructions.sh          # compare with benches/instructions.toml
#   scripts/instructions.sh --save   # make the counts of now the baseline, after a change that was meant
#
# Needs valgrind. Counts repeat within 0.1 % whatever else the machine does; they depend on compiler and packs, so a new
# compiler or a larger pack asks for a new baseline.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind > /dev/null || { echo "valgrind is not installed; nothing was counted" >&2; exit 0; }
target=${CARGO_TARGET_DIR:-target}
[ -n "${BENCH_TOOL:-}" ] || cargo build --release --bin comfy-triage --example generate_log
tool=${BENCH_TOOL:-$target/release/comfy-triage}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# One core, one thread: how two threads share the work is different in each run.
core=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')

count() { # LOG
    taskset -c "$core" valgrind --tool=callgrind --callgrind-out-file="$dir/callgrind" "$tool" --format json "$1" 2> "$dir/said" > "$dir/out" || true
    awk '/Collected/ { print $NF }' "$dir/said"
}

printf 'got prompt\n' > "$dir/start.log"
for kind in bars few dense; do "$target/release/examples/generate_log" "$kind" 4M 1 > "$dir/$kind.log"; done

failed=0
baseline=benches/instructions.toml
if [ "${1:-}" = --save ]; then
    {
        echo "# Instructions of one run over 4 MiB (start: over one line), by callgrind. Written by scripts/instructions.sh --save."
        echo "date = \"$(date +%F)\""
        echo "compiler = \"$(rustc --version)\""
        for kind in start bars few dense; do echo "$kind = $(count "$dir/$kind.log")"; done
    } > "$dir/new"
    mv "$dir/new" "$baseline"
    cat "$baseline"
    exit 0
fi
for kind in start bars few dense; do
    now=$(count "$dir/$kind.log")
    before=$(awk -v kind="$kind" '$1 == kind { print $3 }' "$baseline")
    change=$(awk -v now="$now" -v before="$before" 'BEGIN { printf "%+.2f", (now / before - 1) * 100 }')
    echo "$kind: $now instructions, $change % against the baseline"
    if awk -v change="$change" 'BEGIN { exit !(change > 3) }'; then failed=1; fi
done
[ "$failed" = 0 ] || echo "slower than benches/instructions.toml allows (3 %)" >&2
exit "$failed"
