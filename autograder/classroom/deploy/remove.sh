#!/bin/sh
# Stops the class and removes what install.sh installed: the service, the environment, and Debian's packages that were
# not there before. The folder of the class, and with it the students' work, stays unless it is named:
#
#     sudo sh autograder/classroom/deploy/remove.sh [--delete-work FOLDER]
set -eu
export LC_ALL=C.UTF-8  # one order for sort and comm

fail() { echo "$*" >&2; exit 1; }

here=$(cd "$(dirname "$0")" && pwd -P)
clone=$(cd "$here/../../.." && pwd -P)
state=/var/lib/course-classroom
unit=/etc/systemd/system/course-classroom.service

list_packages() { dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii *//p' | sort -u; }

[ "$(id -u)" = 0 ] || fail "Packages are removed as root: run this with sudo."
folder=$(cat "$state/folder" 2> /dev/null || true)
case "$#:${1:-}" in
  0:) delete=no ;;
  2:--delete-work)
    delete=yes
    [ "$folder" ] || fail "install.sh has not set up a class on this machine, so nothing was removed."
    [ "$(realpath -m "$2")" = "$folder" ] || fail "The class is in $folder, not in $2: nothing was removed."
    ;;
  *) fail "Usage: $0 [--delete-work FOLDER]" ;;
esac

if [ -e "$unit" ]; then
  if [ -d /run/systemd/system ]; then systemctl disable --quiet --now course-classroom; fi
  rm -f "$unit"
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
if [ -e "$folder/hub/.lock" ] && command -v flock > /dev/null && ! flock --nonblock "$folder/hub/.lock" true; then
  fail "The class in $folder is still being served: stop it, then run this again."
fi
if [ "$(readlink /usr/local/bin/course)" = "$clone/.venv/bin/course" ]; then rm /usr/local/bin/course; fi
if [ -e "$state/environment" ]; then rm -rf "$clone/.venv"; fi
if [ -s "$state/packages" ]; then
  export DEBIAN_FRONTEND=noninteractive
  installed=$(list_packages | comm -12 - "$state/packages")
  # shellcheck disable=SC2086
  apt-mark auto $installed > /dev/null
  # A package that another one needs by now stays, and so does everything that install.sh has nothing to do with.
  unneeded=$(apt-get --simulate --option APT::AutoRemove::SuggestsImportant=false autoremove |
    sed -n 's/^Remv \([^ ]*\) .*/\1/p' | sort | comm -12 - "$state/packages")
  # shellcheck disable=SC2086
  [ -z "$unneeded" ] || apt-get purge --yes -qq $unneeded > "$state/apt.log" 2>&1 ||
    fail "Debian's packages could not be removed: the reason is in $state/apt.log."
fi
found=no
if [ -d "$state" ]; then found=yes; fi
rm -rf "$state"
if [ $delete = yes ]; then
  rm -rf "$folder"
  echo "The class was removed, and $folder with the students' work."
elif [ "$folder" ]; then
  echo "The class was removed. The students' work is still in $folder."
elif [ $found = yes ]; then
  echo "What install.sh had begun was removed."
else
  echo "install.sh has not set up a class on this machine: there was nothing to remove."
fi
