#!/bin/bash
# network.sh NODES: network namespaces of control plane (kc, the router) and nodes (kn1, kn2), connected by veth pairs.
. "$(dirname "$0")/settings.sh"
if [ ! -e /run/netns/kc ]; then
  ip netns add kc
  ip -n kc link set lo up
  ip link add kubeh0 type veth peer name eth0 netns kc
  ip addr add 10.250.255.1/30 dev kubeh0
  ip link set kubeh0 up
  ip -n kc addr add "$API/30" dev eth0
  ip -n kc link set eth0 up
  ip route add 10.250.0.0/16 via "$API" dev kubeh0
  ip route add 10.244.0.0/16 via "$API" dev kubeh0
  nsenter --net=/run/netns/kc sysctl -qw net.ipv4.ip_forward=1
fi
for i in $(seq "$1"); do
  [ ! -e "/run/netns/kn$i" ] || continue
  ip netns add "kn$i"
  ip -n "kn$i" link set lo up
  ip -n kc link add "n$i" type veth peer name eth0 netns "kn$i"
  ip -n kc addr add "10.250.$i.1/30" dev "n$i"
  ip -n kc link set "n$i" up
  ip -n "kn$i" addr add "10.250.$i.2/30" dev eth0
  ip -n "kn$i" link set eth0 up
  ip -n "kn$i" route add default via "10.250.$i.1"
  ip -n kc route add "10.244.$i.0/24" via "10.250.$i.2"
  nsenter --net="/run/netns/kn$i" sysctl -qw net.ipv4.ip_forward=1
done
