# Short names for what is done often. `just` alone lists them.

_default:
    @just --list

# Answer on a log with the program as it stands
try LOG *OPTIONS:
    cargo run -q -- {{LOG}} {{OPTIONS}}

# Rules only: their examples, near misses and places (seconds, no logs are read)
rules:
    cargo run -q -- rules check rules
    cargo test -q --test it -- rules:: lint::

# One subject of the tests, such as `just test near`
test SUBJECT:
    cargo test -q --test it -- {{SUBJECT}}::

# Whole bisections through the command line, so many times as in the tests
worlds TIMES:
    COMFY_TRIAGE_WORLDS={{TIMES}} cargo test -q --test it -- bisect_by_hand:: --nocapture

# Every log with a known answer
cases:
    cargo test -q --test it -- cases::

# Bring the generated pages up to date
docs:
    cargo run -q -- rules docs docs

# Accept changed snapshots of reports after having read them (needs cargo-insta)
snapshots:
    cargo insta review

# What CI runs
ci:
    .ci/run
