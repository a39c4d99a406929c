import { interfacePrefix } from './bridge-network.ts'

/**
 * The rules that keep containers away from their host, in the language of iptables. Text in, text out.
 *
 * Two chains of ours are entered first thing, one by what is for the host itself, one by what it passes on. Both send what
 * comes from a container's bridge to a chain with the rules, and everything else back:
 *
 *     INPUT                  -> BERTH-INPUT    -> from a bridge of ours -> BERTH-TO-HOST
 *     FORWARD, DOCKER-USER   -> BERTH-FORWARD  -> from a bridge of ours -> BERTH-BEYOND
 *
 * What our rules do not refuse goes back (RETURN) to those of the host and the engine, which may refuse it after all.
 */
export type Family = 'ipv4' | 'ipv6'

/** A chain of ours, and its rules in order. */
export interface Chain {
  readonly name: string
  readonly rules: readonly string[]
}

/**
 * Responses on connections that others opened: the gateway, or clients that an operator admits. `ESTABLISHED` alone would also be true of
 * connections that a container opened before there were rules.
 */
const answers = '-m conntrack --ctstate RELATED,ESTABLISHED --ctdir REPLY -j RETURN'

const refuse = '-j BERTH-REFUSE'

/**
 * With an answer, not in silence: a program that only tries must not wait for minutes. The kernel sends one peer no more than
 * one message of ICMP a second, but resets at once.
 */
const refusals: Record<Family, readonly string[]> = {
  ipv4: ['-p tcp -j REJECT --reject-with tcp-reset', '-j REJECT --reject-with icmp-admin-prohibited'],
  ipv6: ['-p tcp -j REJECT --reject-with tcp-reset', '-j REJECT --reject-with icmp6-adm-prohibited'],
}

/**
 * Where clouds tell a machine its secrets. Name servers that listen there are let through: some clouds have no other, and
 * the engine's own asks them from inside the container.
 */
const metadata: Record<Family, readonly string[]> = {
  ipv4: ['169.254.0.0/16'],
  ipv6: ['fe80::/10', 'fd00:ec2::254/128'],
}

const protocols = ['udp', 'tcp']
const names = (protocol: string) => `-p ${protocol} -m ${protocol} --dport 53 -j RETURN`

/** @param bridges those that do not begin with our prefix, sorted */
export function chainsFor(family: Family, bridges: readonly string[]): Chain[] {
  const each = [`${interfacePrefix}+`, ...bridges]
  return [
    { name: 'BERTH-INPUT', rules: each.map((bridge) => `-i ${bridge} -j BERTH-TO-HOST`) },
    { name: 'BERTH-FORWARD', rules: each.map((bridge) => `-i ${bridge} -j BERTH-BEYOND`) },
    { name: 'BERTH-TO-HOST', rules: toHost(family) },
    { name: 'BERTH-BEYOND', rules: beyond(family, each) },
    { name: 'BERTH-REFUSE', rules: refusals[family] },
  ]
}

/** Name servers on the host are open: it may be one that the engine asks, from inside the container. */
function toHost(family: Family): string[] {
  return [answers, ...neighbourDiscovery(family), ...protocols.map(names), refuse]
}

function beyond(family: Family, bridges: readonly string[]): string[] {
  return [
    answers,
    ...bridges.map((bridge) => `-o ${bridge} ${refuse}`),
    // Sent to an address of the host itself, and led on to where the service really is: a published port.
    `-m conntrack --ctstate DNAT ${refuse}`,
    ...metadata[family].flatMap((network) => [
      ...protocols.map((protocol) => `-d ${network} ${names(protocol)}`),
      `-d ${network} ${refuse}`,
    ]),
  ]
}

/** Without it a container with an IPv6 address finds no way out; what it says goes no further than the bridge. */
function neighbourDiscovery(family: Family): string[] {
  if (family === 'ipv4') return []
  return [133, 135, 136].map((type) => `-p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j RETURN`)
}
