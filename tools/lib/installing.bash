# Checking and installing what was built; sourced by tools/build and tools/library, after common.bash.

# check_libraries FILE NAMES: fails if a file needs a library that a machine without Swift lacks; NAMES is a pattern.
check_libraries() {
    local libraries
    libraries=$(ldd -- "$1") || die "ldd can't read $1"
    if grep -iE "$2|not found" <<<"$libraries" >&2; then
        die "${1##*/} needs the libraries above at run time; it should carry them"
    fi
}

# install_file SOURCE DESTINATION MODE: replaces the file as a whole, because a running program's file can't be written
# to (ETXTBSY).
install_file() {
    mkdir -p -- "$(dirname -- "$2")"
    install --mode="$3" -- "$1" "$2.new"
    mv -f -- "$2.new" "$2"
    printf '%s\n' "$2"
}

# install_link TARGET DESTINATION: makes a link, in place of what is there.
install_link() {
    mkdir -p -- "$(dirname -- "$2")"
    ln -sfn -- "$1" "$2.new"
    mv -fT -- "$2.new" "$2"
    printf '%s\n' "$2"
}
