# Functions that the scripts in tools/ share; sourced by them, never run. They work from any folder: ROOT is the
# package's. Messages go to standard error, so that a script's result on standard output stays usable in a pipe.

set -euo pipefail

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
TOOL=$(basename -- "$0")

say() { printf '%s: %s\n' "$TOOL" "$*" >&2; }

die() {
    say "$*"
    exit 1
}

# Exits 64 (EX_USAGE of sysexits.h), as the commands do.
usage_error() {
    say "$*"
    say "try: tools/$TOOL --help"
    exit 64
}

# Prints the comment at the head of the calling script: it is the script's manual.
show_help() {
    sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$0"
    exit 0
}

# Passes a build's output on, thinned: of SwiftPM's "[n/m] …" lines one in two seconds, of all other lines every one.
progress() {
    local shown=-2 line
    while IFS= read -r line || [[ -n $line ]]; do
        if [[ $line =~ ^\[[0-9]+/[0-9]+\] ]]; then
            ((SECONDS - shown >= 2)) || continue
            shown=$SECONDS
        fi
        printf '%s\n' "$line"
    done
}

# Runs a build command with its progress and keeps the whole output in LOG: log_build LOG COMMAND…
# On a terminal too the output goes through the pipe: a log without gaps is worth more than a moving line.
log_build() {
    local log=$1
    shift
    mkdir -p -- "$(dirname -- "$log")"
    "$@" 2>&1 | tee -- "$log" | progress
}

# What a debug build is told where a warning is an error. SwiftPM compiles other packages with -suppress-warnings and
# leaves the first flag away there: it applies only to this package's sources. The C compiler's warnings are requested
# too, and tools/test counts them; -Xcc -Werror makes SwiftPM 6.3 fail with an internal error. No debugger reads such a
# build's types; a crash still names its lines. (Without an index the package manager finds no tests.)
readonly STRICT_FLAGS=(-Xswiftc -warnings-as-errors -Xcc -Wall -Xcc -Wextra -Xswiftc -gline-tables-only)

in_ci() { [[ -n ${CI-} && $CI != false ]]; }
