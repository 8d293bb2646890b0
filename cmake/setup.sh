# Shared by ./vsim and tests/run: packages, configuration, build. Sourced with `root` set to the checkout.
# Everything is told on stderr; stdout belongs to the program that runs afterwards.

say() { printf 'vsim: %s\n' "$*" >&2; }
on_terminal() { [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; }
# One line that is written over and over on a terminal; nothing in a pipe.
status_line() { if on_terminal; then printf '\r\033[K%s' "$1" >&2; fi; }
end_status() { status_line ''; }

# missing_packages PART...: names of the Debian packages that are not installed, one a line.
missing_packages() {
  local part package name found installed
  installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
    while read -r state package; do [ "$state" = installed ] && printf '%s ' "$package"; done) "
  while read -r part package; do
    case " $* " in *" $part "*) ;; *) continue ;; esac
    found=
    local IFS='|'
    for name in $package; do case $installed in *" $name "*) found=1 ;; esac; done
    unset IFS
    [ -n "$found" ] || printf '%s\n' "${package%%|*}"
  done < <(grep -v '^#' "$root/cmake/packages.txt")
}

# as_root COMMAND...: runs it as root or fails. A password is only asked for on a terminal.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo "$@"
  elif command -v sudo >/dev/null && [ -t 0 ] && [ -t 2 ]; then
    sudo "$@"
  else
    return 126
  fi
}

can_be_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null && return 0
  [ -t 0 ] && [ -t 2 ] && sudo -v
}

# What apt-get prints, as one line on a terminal; all of it goes to the log.
show_apt() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      Get:* | Unpacking* | "Setting up"*) status_line "vsim: installing packages: ${line:0:70}" ;;
    esac
  done >>"$1"
  end_status
}

# install_packages PART...: exits with 2 where it may not.
install_packages() {
  command -v dpkg-query >/dev/null || return 0 # not Debian: CMake says what it misses
  local missing log="$root/build/packages.log"
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if ! can_be_root; then
    say "packages are missing, and only root may install them:"
    printf '  %s\n' "${install[*]}" >&2
    exit 2
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  : >"$log"
  as_root "${apt[@]}" update </dev/null 2>&1 | show_apt "$log" || true
  if ! as_root "${apt[@]}" "${install[@]:1}" </dev/null 2>&1 | show_apt "$log"; then
    tail -n 15 "$log" >&2
    say "apt-get failed (whole log: $log)"
    exit 1
  fi
}

# ccache fails where its folder cannot be written, so it gets one in the build folder.
use_writable_ccache() {
  [ -n "${CCACHE_DIR:-}" ] && return 0
  local folder="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}"
  [ -w "$folder/ccache" ] || [ -w "$folder" ] || [ -w "${HOME:-/nonexistent}" ] || export CCACHE_DIR="$root/build/ccache"
}

# One compiler for each core, but no more than memory holds (about 1 GB each).
build_jobs() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1000000)}' /proc/meminfo 2>/dev/null || echo "$cores")
  [ "${memory:-0}" -lt 1 ] && memory=1
  echo $((cores < memory ? cores : memory))
}

# configured PRESET: here, not before the checkout was moved.
configured() {
  [ -e "$root/build/$1/build.ninja" ] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$root/build/$1/CMakeCache.txt" 2>/dev/null
}

# configure PRESET [CMAKE ARGUMENT...]
configure() {
  local preset=$1 log="$root/build/$1/configure.log"
  shift
  mkdir -p "$root/build/$preset"
  configured "$preset" || set -- --fresh "$@"
  status_line "vsim: configuring"
  on_terminal || say "configuring"
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    end_status
    grep -A 12 'CMake Error' "$log" >&2 || tail -n 30 "$log" >&2
    say "configuring failed (whole log: $log)"
    exit 1
  fi
  end_status
  sed -n 's/^-- Optional: /vsim: optional: /p' "$log" >&2
}

# Ninja's output as a progress display: one line on a terminal, every quarter in a pipe.
show_ninja() {
  local line done total quarter=0 began=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]] || continue
    done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    status_line "vsim: building $done/$total, $((SECONDS - began)) s"
    if ! on_terminal && [ "$total" -ge 8 ] && [ $((4 * done / total)) -gt "$quarter" ]; then
      quarter=$((4 * done / total))
      say "built $done of $total ($((SECONDS - began)) s)"
    fi
  done >"$1"
  end_status
}

# build PRESET [TARGET...]
build() {
  local preset=$1 log="$root/build/$1/build.log"
  shift
  local targets=()
  [ $# -gt 0 ] && targets=(--target "$@")
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "$root/build/$preset" -j "$(build_jobs)" "${targets[@]}" 2>&1 |
    show_ninja "$log"; then
    grep -A 40 '^FAILED' "$log" | head -n 60 >&2 || tail -n 30 "$log" >&2
    say "the build failed (whole log: $log)"
    exit 1
  fi
}

# lock: one set-up at a time in this checkout; the others wait for it.
lock() {
  mkdir -p "$root/build" || { say "cannot write to $root/build"; exit 1; }
  exec 9>"$root/build/lock"
  if command -v flock >/dev/null && ! flock -n 9; then
    say "another set-up of this checkout is running; waiting for it"
    flock 9
  fi
}
unlock() { exec 9>&-; }
