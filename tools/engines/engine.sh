#!/bin/bash
# engine.sh SYSTEM FOLDER: becomes the Docker Engine that is installed in SYSTEM, in network and mount namespaces that are its own
# already. Socket, log and data are in FOLDER, which has the same path inside, as all of /tmp has: tests mount folders of it.
set -e
system=$1 folder=$2
ip link set lo up
mount --make-rprivate /
mount --bind "$system" "$system"
mount -t proc proc "$system/proc"
mount -t sysfs sysfs "$system/sys"
# Every hierarchy that is in use on this machine, also those that are mounted elsewhere alone, as by a systemd in a namespace:
# containerd fails to read the numbers of a container as soon as one of them lacks a mount.
mount -t tmpfs tmpfs "$system/sys/fs/cgroup"
while IFS=: read -r _ controllers _; do
  at=$system/sys/fs/cgroup/${controllers#name=}
  [ -n "$controllers" ] && mkdir "$at" && mount -t cgroup -o "$controllers" cgroup "$at"
done < /proc/self/cgroup
mount --rbind /dev "$system/dev"
mount -t tmpfs tmpfs "$system/run"
mount --rbind /tmp "$system/tmp"
# Not chroot: the engine mounts its root anew for builds, which only a mount point allows.
cd "$system"
mkdir -p .machine
pivot_root . .machine
umount --lazy /.machine
# The parent of its control groups is its own, so that nothing is mixed with the machine's engine.
exec /usr/sbin/dockerd --host "unix://$folder/docker.sock" --data-root "$folder/data" --exec-root "$folder/run" \
  --pidfile "$folder/docker.pid" --cgroup-parent "/$(basename "$folder")" --shutdown-timeout 10 > "$folder/dockerd.log" 2>&1
