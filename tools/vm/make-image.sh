#!/usr/bin/env bash
# make-image.sh SUITE FOLDER: makes the disk of a stock Debian (trixie, bookworm) in FOLDER, once: systemd, control groups of version 2,
# nftables, AppArmor and Debian's own Docker Engine, reached by SSH with the key beside it. Needs root, debootstrap, e2fsprogs and,
# the first time, a network.
set -euo pipefail
suite=$1 folder=$2
mirror=${BERTH_DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages=(systemd-sysv udev dbus systemd-timesyncd linux-image-amd64 kmod procps openssh-server ca-certificates curl
  docker.io iptables busybox-static iproute2 nftables apparmor e2fsprogs xfsprogs)
# Debian 13 has the client of the engine in a package of its own, which docker.io recommends.
[ "$suite" = bookworm ] || packages+=(docker-cli)
mkdir -p "$folder"
cd "$folder"
[ ! -f disk.img ] || exit 0
if [ ! -d root ]; then
  rm -rf root.unfinished
  debootstrap --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" "$suite" root.unfinished "$mirror" >debootstrap.log 2>&1 || {
    tail -n 5 debootstrap.log >&2
    exit 1
  }
  mv root.unfinished root
fi
rm -f key key.pub
ssh-keygen -q -t ed25519 -N '' -C berth-test-vm -f key
install -d -m 0700 root/root/.ssh
install -m 0600 key.pub root/root/.ssh/authorized_keys
printf '[Match]\nName=en* eth*\n[Network]\nDHCP=yes\n' >root/etc/systemd/network/10-vm.network
chroot root systemctl enable systemd-networkd ssh >/dev/null 2>&1
# Of QEMU's network.
echo 'nameserver 10.0.2.3' >root/etc/resolv.conf
echo berth-vm >root/etc/hostname
printf '127.0.0.1 localhost berth-vm\n::1 localhost\n' >root/etc/hosts
echo '/dev/vda / ext4 defaults 0 1' >root/etc/fstab
rm -rf root/var/cache/apt/archives
cp root/boot/vmlinuz-* vmlinuz
cp root/boot/initrd.img-* initrd
rm -f disk.unfinished
truncate -s 12G disk.unfinished
mkfs.ext4 -q -F -d root disk.unfinished
mv disk.unfinished disk.img
rm -rf root
