# An environment with the Python package; sourced by tools/demo and tools/benchmark, after common.bash.

# python_environment NAME WHEEL PACKAGE…: makes .build-python/NAME with the wheel (built by tools/wheel, if it is empty), and
# with those of the packages from PyPI that can be installed here; prints the path of its Python.
python_environment() {
    local folder=$ROOT/.build-python/$1 wheel=$2 package log=$ROOT/.build-python/$1.log
    mkdir -p -- "$ROOT/.build-python"
    [[ -n $wheel ]] || wheel=$("$ROOT/tools/wheel" --no-tests | tail -n 1)
    [[ -f $wheel ]] || die "there is no wheel $wheel"
    rm -rf -- "$folder"
    python3 -m venv -- "$folder" >"$log" 2>&1 || die "$(<"$log")"$'\n'"python3 makes no environment; Debian's python3-venv is missing"
    "$folder/bin/pip" --quiet --disable-pip-version-check install "$wheel" >"$log" 2>&1 || die "$(<"$log")"$'\n'"pip failed"
    for package in "${@:3}"; do
        "$folder/bin/pip" --quiet --disable-pip-version-check install "$package" >"$log" 2>&1 ||
            say "pip can't install $package; it is left out"
    done
    printf '%s\n' "$folder/bin/python"
}
