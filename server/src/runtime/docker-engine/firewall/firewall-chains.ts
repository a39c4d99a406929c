import { interfacePrefix } from '../networks/bridge-network.ts'

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
interface Chain {
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

/** Where each of the two is entered: a chain that others have, too. */
interface Entrance {
  readonly from: string
  readonly to: string
}

/** What `iptables-save` printed, as far as it concerns us. */
export class SavedTable {
  /** Every rule in order, as `-A CHAIN ...`. */
  readonly #lines: readonly string[]

  /** @param text of the table `filter` */
  constructor(text: string) {
    this.#lines = text.split('\n').filter((line) => line.startsWith('-A '))
  }

  /** Docker's chain for rules of others, where its rules are: it stays before Docker's own when those are made anew. */
  get entrances(): Entrance[] {
    const isDockers = this.#rulesOf('FORWARD').includes('-j DOCKER-USER')
    return [
      { from: 'INPUT', to: 'BERTH-INPUT' },
      { from: isDockers ? 'DOCKER-USER' : 'FORWARD', to: 'BERTH-FORWARD' },
    ]
  }

  /** Bridges that our chains name: another engine's, perhaps. */
  get bridges(): string[] {
    return this.#rulesOf('BERTH-INPUT').flatMap((rule) => /^-i (\S+) -j BERTH-TO-HOST$/.exec(rule)?.[1] ?? [])
  }

  /** Whether our chains are entered before any other rule. */
  get isEnteredFirst(): boolean {
    return this.entrances.every(({ from, to }) => this.#rulesOf(from)[0] === `-j ${to}`)
  }

  /** And nowhere else, as after two set them at the same moment. */
  get isEnteredOnce(): boolean {
    return this.isEnteredFirst && this.entrances.every(({ from, to }) => this.#timesEntered(from, to) === 1)
  }

  /** The rules of our chains, as this version of iptables spells them. */
  spelled(chains: readonly Chain[]): string {
    return chains.flatMap(({ name }) => this.#rulesOf(name).map((rule) => `${name} ${rule}`)).join('\n')
  }

  has(chains: readonly Chain[]): boolean {
    return (
      this.spelled(chains) === chains.flatMap(({ name, rules }) => rules.map((rule) => `${name} ${rule}`)).join('\n')
    )
  }

  /** Whether they are there in number; another version of iptables spells them otherwise than we do. */
  hasAsMany(chains: readonly Chain[]): boolean {
    return chains.every(({ name, rules }) => this.#rulesOf(name).length === rules.length)
  }

  /**
   * What `iptables-restore --noflush` has to be given so that chains and entrances are as they should be, all at once: a
   * chain that is named is emptied first, and other chains stay as they are.
   */
  changesTo(chains: readonly Chain[]): string {
    const lines = [
      ...chains.map(({ name }) => `:${name} - [0:0]`),
      ...chains.flatMap(({ name, rules }) => rules.map((rule) => `-A ${name} ${rule}`)),
      ...(this.isEnteredOnce ? [] : this.entrances.flatMap((entrance) => this.#enterAnew(entrance))),
    ]
    return ['*filter', ...lines, 'COMMIT', ''].join('\n')
  }

  #enterAnew({ from, to }: Entrance): string[] {
    const deletions = Array<string>(this.#timesEntered(from, to)).fill(`-D ${from} -j ${to}`)
    return [...deletions, `-I ${from} 1 -j ${to}`]
  }

  #timesEntered(from: string, to: string): number {
    return this.#rulesOf(from).filter((rule) => rule === `-j ${to}`).length
  }

  #rulesOf(chain: string): string[] {
    return this.#lines.flatMap((line) => (line.startsWith(`-A ${chain} `) ? line.slice(chain.length + 4) : []))
  }
}
