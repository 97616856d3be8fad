#!/bin/sh
# Sets up a class on a fresh Debian (12 or newer) with packages from Debian and PyPI only, and starts it:
#
#     sudo sh autograder/classroom/deploy/install.sh [FOLDER]
#
# FOLDER is the folder of everything that the class has on this machine (default: /srv/classroom). Run it again after an
# update of the course; it asks nothing and changes only what is missing. With HOROVOD=no in the environment Horovod,
# for which a compiler is installed, is left out. remove.sh takes everything away again, except the students' work.
set -eu
export LC_ALL=C.UTF-8  # one order for sort and comm
umask 022  # students' servers read the environment

fail() { echo "$*" >&2; exit 1; }

here=$(cd "$(dirname "$0")" && pwd -P)
clone=$(cd "$here/../../.." && pwd -P)
folder=$(realpath -m "${1:-/srv/classroom}")
state=/var/lib/course-classroom  # what remove.sh needs to know
unit=/etc/systemd/system/course-classroom.service
packages="make python3 python3-venv bubblewrap node-configurable-http-proxy fonts-dejavu-core ca-certificates"
[ "${HOROVOD:-yes}" = no ] || packages="$packages g++ python3-dev"

[ $# -le 1 ] || fail "Too many arguments: $0 takes one folder at most."
[ "$(id -u)" = 0 ] || fail "Packages are installed as root: run this with sudo."
grep -qsE '^ID(_LIKE)?=.*debian' /etc/os-release || fail "This is not a Debian: follow the README instead."
case "$folder/" in "$clone"/*) fail "$folder lies in the course's folder: name one outside it." ;; esac
case "$clone/" in "$folder"/*) fail "The course lies in $folder, which is the class's: name another folder." ;; esac
if [ -e "$state/folder" ] && [ "$(cat "$state/folder")" != "$folder" ]; then
  fail "This machine serves the class in $(cat "$state/folder"): name that folder, or run remove.sh first."
fi

list_packages() { dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii *//p' | sort -u; }

install_packages() {
  missing=
  for package in $packages; do
    list_packages | grep -qx "$package" || missing="$missing $package"
  done
  [ "$missing" ] || return 0
  echo "Installing Debian's packages$missing ..."
  list_packages > "$state/before"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install --yes -qq --no-install-recommends $missing > "$state/apt.log" 2>&1 || status=$?
  list_packages | comm -13 "$state/before" - >> "$state/packages"
  [ "${status:-0}" = 0 ] || fail "Debian's packages could not be installed: the reason is in $state/apt.log."
}

make_environment() {
  [ -e "$clone/.venv" ] || : > "$state/environment"
  make --no-print-directory -C "$clone" environment
  [ "${HOROVOD:-yes}" = no ] || make --no-print-directory -C "$clone" horovod ||
    echo "Lab 06 does not run without Horovod; everything else does."
  if [ ! -e /usr/local/bin/course ]; then
    ln -s "$clone/.venv/bin/course" /usr/local/bin/course
  fi
}

write_unit() {
  cat << END
[Unit]
Description=A class in distributed machine learning
After=network.target

[Service]
ExecStart="$clone/.venv/bin/course" classroom "$folder"
Environment=PYTHONUNBUFFERED=1
Restart=on-failure
RestartSec=5
# The class ends its students' servers itself; if it is killed, they run on until it is back.
KillMode=process
TimeoutStopSec=330
Delegate=yes

[Install]
WantedBy=multi-user.target
END
}

mkdir -p "$state"
chmod 700 "$state"
install_packages
make_environment
mkdir -p -m 700 "$folder"
echo "$folder" > "$state/folder"
if [ -d /run/systemd/system ]; then
  write_unit > "$state/unit"
  if ! cmp -s "$state/unit" "$unit"; then
    cp "$state/unit" "$unit"
    systemctl daemon-reload
  fi
  systemctl enable --quiet --now course-classroom
  echo "The class is served from $folder, and starts with the machine; its output: journalctl -u course-classroom"
  echo "After a change of $folder/classroom.toml or of the course: systemctl restart course-classroom"
else
  echo "systemd does not run here. To serve the class: course classroom $folder"
fi
