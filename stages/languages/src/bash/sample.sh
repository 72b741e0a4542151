#!/usr/bin/env bash
# Makes a release: builds, signs and uploads it.
#
# Usage: release VERSION

set -euo pipefail

source "$(dirname "$0")/log.sh"
. ./config.sh

readonly MAX_TRIES=3
declare -r HOST=example.org PORT=443
declare -A CHECKSUMS
declare -i tries=0
export BUILD_DIR=/tmp/build
TARGET="${1:-all}"
lower=none
LANG=C sort names.txt

alias ll='ls -l' la=ls
alias -g quiet='> /dev/null'

# Prints a message and ends.
# $1: the message
die() {
  echo "$1" >&2
  exit 1
}

# Builds one target.
function build {
  local TARGET_DIR=$1
  for file in "$TARGET_DIR"/*.c; do
    if [ -f "$file" ] && grep -q main "$file"; then
      /usr/bin/cc -c "$file"
    elif [[ $file == *.s ]]; then
      assemble "$file"
    fi
  done
  for ((i = 0; i < 3; i++)); do touch "$i"; done
}

function upload() {
  case "$1" in
    https://*) curl --upload-file "$2" "$1" ;;
    scp:* | ssh:*) scp "$2" "$1" ;;
    *) die "unknown: $1" ;;
  esac
}

_retry() {
  # Nested functions are global, too.
  report() { log "attempt $1"; }
  while ((tries < MAX_TRIES)); do
    "$@" && return
    report "$tries"
    LIMIT=$((tries > 2 ? 1 : 0)) pause
  done
  until ready; do sleep 1; done
}

in_subshell() (
  cd "$BUILD_DIR"
  make
)

main() {
  build src | tee build.log
  _retry upload "$URL" release.tar
}

main "$@"
