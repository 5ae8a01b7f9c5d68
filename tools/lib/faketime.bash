# Finds libfaketime for the scripts in tools/ that give a program a wrong wall clock; sourced by them after common.bash.

# find_faketime: sets FAKETIME to the path of libfaketime, or to nothing. That is the first of: $FAKETIME; the library of
# Debian's package libfaketime; the same, unpacked into .build-faketime and not installed.
find_faketime() {
    local place=$ROOT/.build-faketime
    [[ -z ${FAKETIME-} ]] || return 0
    FAKETIME=$(faketime_below /usr/lib)
    [[ -z $FAKETIME ]] || return 0
    FAKETIME=$(faketime_below "$place")
    [[ -z $FAKETIME ]] || return 0
    unpack_faketime "$place" || say "no libfaketime: no clock will be wrong"
    FAKETIME=$(faketime_below "$place")
}

# faketime_below FOLDER: prints the path of the library for programs with threads, if there is one.
faketime_below() {
    [[ ! -d $1 ]] || find "$1" -path '*/faketime/libfaketimeMT.so.1' -print -quit 2>/dev/null || true
}

# unpack_faketime FOLDER: fails without a message if the package can't be had.
unpack_faketime() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    local download
    download=$(mktemp -d) || return 1
    # apt-get's sandbox user reads no folder of mode 0700, and warns.
    chmod 755 "$download"
    (cd -- "$download" && apt-get download libfaketime >log 2>&1) </dev/null && dpkg-deb -x "$download"/libfaketime_*.deb "$1"
    local status=$?
    rm -rf -- "$download"
    return "$status"
}
