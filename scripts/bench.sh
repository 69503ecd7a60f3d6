#!/usr/bin/env bash
# Compares whole processes: comfy-triage, `wc -l`, `grep -aFc` with 17 and 200 needles, and rg where it is installed.
#
#   scripts/bench.sh [SIZE] [ROUNDS]        # 1G and 7 unless said
#
# All commands run interleaved, so that a busy moment hits all of them; what counts are the ratios of the medians, never
# the milliseconds. Output goes to a file: GNU grep stops at the first hit when it sees /dev/null. The logs are made by
# `examples/generate_log.rs` and kept in $BENCH_DIR (a new folder under /tmp unless set).
set -euo pipefail
cd "$(dirname "$0")/.."

size=${1:-1G}
rounds=${2:-7}
dir=${BENCH_DIR:-$(mktemp -d)}
dense_size=${BENCH_DENSE:-95M}
target=${CARGO_TARGET_DIR:-target}
tool=${BENCH_TOOL:-$target/release/comfy-triage}

if [ -z "${BENCH_TOOL:-}" ]; then
    cargo build --release --bin comfy-triage --example generate_log
fi
generate=$target/release/examples/generate_log
mkdir -p "$dir"
log() { # KIND SIZE
    [ -s "$dir/$1-$2.log" ] || "$generate" "$1" "$2" 1 > "$dir/$1-$2.log"
    echo "$dir/$1-$2.log"
}
head -17 benches/needles.txt > "$dir/17"
head -200 benches/needles.txt > "$dir/200"

# Median wall time in ms and largest RSS in KiB of each command, run in turns.
measure() { # LOG
    local file=$1 round name
    : > "$dir/times"
    cat "$file" > /dev/null
    for round in $(seq "$rounds"); do
        for name in wc grep17 grep200 rg17 rg200 triage; do
            case $name in
                wc) set -- wc -l "$file" ;;
                grep17) set -- env LC_ALL=C grep -aFc -f "$dir/17" "$file" ;;
                grep200) set -- env LC_ALL=C grep -aFc -f "$dir/200" "$file" ;;
                rg17) set -- rg -aFc -f "$dir/17" "$file" ;;
                rg200) set -- rg -aFc -f "$dir/200" "$file" ;;
                triage) set -- "$tool" --format json "$file" ;;
            esac
            command -v "$1" > /dev/null || continue
            local from to
            from=$(date +%s%N)
            /usr/bin/time -o "$dir/time" -f %M "$@" > "$dir/out" || true
            to=$(date +%s%N)
            echo "$name $(((to - from) / 1000)) $(tail -1 "$dir/time")" >> "$dir/times"
        done
    done
    awk -v file="$(basename "$file")" '
        { times[$1] = times[$1] " " $2; if ($3 > rss[$1]) rss[$1] = $3 }
        function median(list,   n, v, i, j, t) {
            n = split(list, v, " ")
            for (i = 2; i <= n; i++) { t = v[i] + 0; for (j = i - 1; j > 0 && v[j] + 0 > t; j--) v[j + 1] = v[j]; v[j + 1] = t }
            return n % 2 ? v[(n + 1) / 2] / 1000 : (v[n / 2] + v[n / 2 + 1]) / 2000
        }
        END {
            own = median(times["triage"])
            line = sprintf("| %s | %.0f ms | %.1f MiB |", file, own, rss["triage"] / 1024)
            split("wc grep17 grep200 rg17 rg200", names, " ")
            for (i = 1; i <= 5; i++)
                line = line (names[i] in times ? sprintf(" %.2f (%.0f ms) |", own / median(times[names[i]]), median(times[names[i]])) : " - |")
            print line
        }' "$dir/times"
}

echo "$(date +%F), $(nproc) cores, $rounds rounds, $("$tool" --version)"
echo
echo "| log | comfy-triage | peak RSS | x wc -l | x grep -aFc 17 | x grep -aFc 200 | x rg 17 | x rg 200 |"
echo "|---|---|---|---|---|---|---|---|"
measure "$(log bars "$size")"
measure "$(log few "$size")"
measure "$(log dense "$dense_size")"

echo
echo "Dressed logs with the same lines, time against the plain log (best of $rounds):"
echo
echo "| log | plain | stamped | ansi | utf16 |"
echo "|---|---|---|---|---|"
for kind in bars few dense; do
    plain=""
    row="| $kind |"
    for dress in "" -stamped -ansi -utf16; do
        file=$(log "$kind$dress" 64M)
        best=""
        for _ in $(seq "$rounds"); do
            from=$(date +%s%N)
            "$tool" --format json "$file" > "$dir/out" || true
            took=$((($(date +%s%N) - from) / 1000))
            if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
        done
        plain=${plain:-$best}
        row="$row $(awk -v a="$best" -v b="$plain" 'BEGIN { printf "%.2f (%.0f ms)", a / b, a / 1000 }') |"
    done
    echo "$row"
done

if [ -n "${BENCH_NAMES:-}" ]; then
    echo
    echo "$BENCH_NAMES from a pipe, every warning of another class:"
    "$generate" names "$BENCH_NAMES" 1 | /usr/bin/time -f "%e s, %U s user, peak RSS %M KiB" "$tool" --format json - > "$dir/out"
fi
