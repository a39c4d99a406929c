#!/usr/bin/env bash
# make-image.sh SUITE FOLDER: makes the disk of a stock Debian (trixie, bookworm) in FOLDER, once: systemd, control groups of version 2,
# nftables, AppArmor and Debian's own Docker Engine, reached by SSH with the key beside it. Needs root, debootstrap, e2fsprogs and,
# the first time, a network.
set -euo pipefail
suite=$1 folder=$2
mirror=${BERTH_DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages=(systemd-sysv udev dbus systemd-timesyncd linux-image-amd64 kmod procps openssh-server ca-certificates curl
  docker.io iptables busybox-static iproute2 nftables apparmor e2fsprogs xfsprogs firewalld nfs-kernel-server libpam-systemd)
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
printf '[Match]\nName=en*\n[Network]\nDHCP=yes\n' >root/etc/systemd/network/20-lan.network

# The test reaches the machine by an interface of its own, in a network namespace of its own, so that the network of the
# machine can be whatever a test is about. Commands run in the namespaces of the machine.
printf '[Match]\nMACAddress=52:54:00:be:00:01\n[Link]\nUnmanaged=yes\n' >root/etc/systemd/network/10-test.network
cat >root/usr/local/sbin/test-network <<'END'
#!/bin/bash
set -euo pipefail
until file=$(grep --files-with-matches 52:54:00:be:00:01 /sys/class/net/*/address); do sleep 0.5; done
name=$(basename "${file%/address}")
[ -e /run/netns/test ] || ip netns add test
ip link set "$name" netns test
ip -n test address add 10.0.2.15/24 dev "$name"
ip -n test link set lo up
ip -n test link set "$name" up
ip -n test route add default via 10.0.2.2
END
cat >root/usr/local/sbin/test-command <<'END'
#!/bin/bash
exec nsenter --target 1 --mount --net bash -c "$SSH_ORIGINAL_COMMAND"
END
chmod 0755 root/usr/local/sbin/test-*
cat >root/etc/systemd/system/test-ssh.service <<'END'
[Unit]
Description=SSH for the test
[Service]
ExecStartPre=/usr/local/sbin/test-network
ExecStart=/usr/sbin/ip netns exec test /usr/sbin/sshd -D -o PidFile=none -o ForceCommand=/usr/local/sbin/test-command
RuntimeDirectory=sshd
RuntimeDirectoryPreserve=yes
KillMode=process
Restart=on-failure
RestartSec=1
[Install]
WantedBy=multi-user.target
END

chroot root systemctl enable systemd-networkd ssh test-ssh >/dev/null 2>&1
chroot root systemctl disable firewalld nfs-server rpcbind rpcbind.socket nfs-blkmap >/dev/null 2>&1
# Beside other work an emulated machine takes minutes for what systemd gives a minute and a half.
mkdir -p root/etc/systemd/system.conf.d
printf '[Manager]\nDefaultTimeoutStartSec=600\nDefaultDeviceTimeoutSec=600\n' >root/etc/systemd/system.conf.d/emulated.conf
# Installed once more, it does to a running engine what an upgrade does.
mv root/var/cache/apt/archives/docker.io_*.deb root/root/engine.deb
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
