# Linking liblmdb as an archive; sourced by tools/build and tools/library, after common.bash.

# Makes a folder with liblmdb.a and nothing else, and a lmdb.pc that names it. A linker that finds both libraries in one
# folder takes the shared one, and SwiftPM passes the folders of .pc files ahead of all others, so this folder is
# searched first.
prefer_static_lmdb() {
    local folder=$1 archive
    archive=$(pkg-config --variable=libdir lmdb)/liblmdb.a
    [[ -f $archive ]] || die "there is no $archive; liblmdb-dev brings it"
    mkdir -p -- "$folder"
    ln -sfn -- "$archive" "$folder/liblmdb.a"
    # The Swift runtime's C++ library too, where the toolchain's compiler brings the archive: half a millisecond a start.
    archive=$(find /usr/lib/gcc -name 'libstdc++.a' -print -quit 2>/dev/null || true)
    [[ -z $archive ]] || ln -sfn -- "$archive" "$folder/libstdc++.a"
    cat >"$folder/lmdb.pc" <<END
Name: liblmdb
Description: liblmdb, as an archive
Version: $(pkg-config --modversion lmdb)
Libs: -L"$folder" -llmdb
Cflags: $(pkg-config --cflags lmdb)
END
}

# check_libraries FILE: fails if a program needs a library that a machine without Swift lacks.
check_libraries() {
    local libraries
    libraries=$(ldd -- "$1") || die "ldd can't read $1"
    if grep -iE 'swift|foundation|dispatch|lmdb|not found' <<<"$libraries" >&2; then
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
