# Installs Debian packages for the scripts in tools/ that need some; sourced by them after common.bash.

# install_packages PACKAGE…: installs them with apt-get, as root or through `sudo -n`, after a message; if neither is
# possible the script stops and names the command to run.
install_packages() {
    local -a install=(apt-get install --yes --no-install-recommends "$@") as_root=()
    command -v apt-get >/dev/null ||
        die "missing: $*; there is no apt-get here, so install what your system calls these packages"
    if ((EUID != 0)); then
        if ! sudo -n true 2>/dev/null; then
            die "missing: $*; run: sudo apt-get update && sudo ${install[*]}"
        fi
        as_root=(sudo -n)
    fi
    # sudo drops the environment, so the variable is set behind it.
    as_root+=(env DEBIAN_FRONTEND=noninteractive)

    say "installing with apt-get: $*"
    local log failed=false output
    log=$(mktemp)
    if ! "${as_root[@]}" "${install[@]}" >"$log" 2>&1 </dev/null; then
        # A fresh machine has no package lists; one that was unused for long has lists of versions that are gone.
        say "apt-get's package lists are missing or old: updating them"
        if ! "${as_root[@]}" apt-get update >"$log" 2>&1 </dev/null ||
            ! "${as_root[@]}" "${install[@]}" >"$log" 2>&1 </dev/null; then
            failed=true
        fi
    fi
    output=$(<"$log")
    rm -f -- "$log"
    ! $failed || die "$output"$'\n'"apt-get failed; to try by hand: apt-get update && ${install[*]}"
}
