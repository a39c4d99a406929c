import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostRulesReport } from '#/engines/runtime.ts'
import { interfacePrefix } from './bridge-network.ts'

type Report = HostRulesReport

/**
 * Set while other programs change the same tables, or another Berth the same rules; and the pauses in between, in ms.
 */
const maxAttempts = 4
const maxRetryDelay = 300

/** Kernel settings that say whether bridged packets pass the host's rules; one of each family. */
const bridgeFilterSettings: Record<Family, string> = {
  ipv4: '/proc/sys/net/bridge/bridge-nf-call-iptables',
  ipv6: '/proc/sys/net/bridge/bridge-nf-call-ip6tables',
}

/**
 * Rules of the host that keep containers from its services, from each other and from its metadata address. All Berths
 * of a machine share them. They stay when Berth ends, as containers do.
 */
export class HostRules {
  readonly #isWanted: boolean
  readonly #isLocal: boolean
  readonly #commands = new Map<Family, Commands>()
  /** How this machine's iptables spells the rules that were asked for; by family and by what was asked. */
  readonly #spelled = new Map<string, string>()
  #report: Report | null
  #ensuring: Promise<void> | undefined

  /** @param isLocal whether the engine runs on this machine */
  constructor(mode: 'auto' | 'off', isLocal: boolean) {
    this.#isWanted = mode === 'auto'
    this.#isLocal = isLocal
    this.#report = this.#isWanted ? null : { areSet: false, reason: 'HOST_RULES is off' }
  }

  /** What the last `ensure` found; null before the first one. */
  get report(): Report | null {
    return this.#report
  }

  /**
   * Looks whether the rules are as they should be, and sets them when not. Never throws: `report` says what came of it.
   * One process is started per family when there is nothing to do.
   * @param interfaces all bridges that containers of a Berth are on
   */
  async ensure(interfaces: readonly string[]): Promise<void> {
    if (!this.#isWanted) return
    this.#ensuring ??= this.#ensureOnce(interfaces).finally(() => (this.#ensuring = undefined))
    await this.#ensuring
  }

  /**
   * Whether the rules are as they should be; sets none, whatever `HOST_RULES` says. Those of IPv4 alone: on networks of
   * ours containers have no other addresses.
   * @throws {Error} when this process cannot see them
   */
  async inspect(interfaces: readonly string[]): Promise<Report> {
    this.#assertPossible(interfaces)
    const table = new SavedTable(await runProgram((await commandsFor('ipv4')).save, ['-t', 'filter']))
    const isComplete = table.hasAsMany(chainsFor('ipv4', bridgesBeside(interfaces, table)))
    if (!isComplete) return { areSet: false, reason: 'the rules of Berth are missing' }
    if (!table.isEnteredFirst) return { areSet: false, reason: "rules of others come before Berth's" }
    if (!isBridgeFilterOn('ipv4')) return { areSet: false, reason: `${bridgeFilterSettings.ipv4} is off` }
    return { areSet: true }
  }

  async #ensureOnce(interfaces: readonly string[]): Promise<void> {
    try {
      this.#assertPossible(interfaces)
      for (const family of familiesHere()) {
        await this.#ensureFamily(family, interfaces)
        enableBridgeFilter(family)
      }
      this.#report = { areSet: true }
    } catch (error) {
      this.#report = { areSet: false, reason: (error as Error).message }
    }
  }

  #assertPossible(interfaces: readonly string[]): void {
    if (!this.#isLocal) throw new Error('the engine is not on this machine')
    if (!mayAdministerNetworks()) throw new Error('Berth is not root, and may not administer networks')
    const here = interfacesHere()
    if (interfaces.length > 0 && !interfaces.some((name) => here.has(name)))
      throw new Error("the engine's bridges are not in the network that Berth sees, as when Berth runs in a container")
  }

  async #ensureFamily(family: Family, interfaces: readonly string[]): Promise<void> {
    const commands = this.#commands.get(family) ?? (await commandsFor(family))
    this.#commands.set(family, commands)
    let refusal: unknown = new Error('other programs change the rules of this host all the time')
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      // Two who set them at the same moment may get in each other's way.
      if (attempt > 0) await sleep(Math.random() * maxRetryDelay)
      const table = new SavedTable(await runProgram(commands.save, ['-t', 'filter']))
      const chains = chainsFor(family, bridgesBeside(interfaces, table))
      const asked = JSON.stringify([family, chains])
      if (table.isEnteredOnce && (table.has(chains) || table.spelled(chains) === this.#spelled.get(asked))) return
      const changes = runProgram(commands.restore, ['--noflush', '-w', '5'], table.changesTo(chains))
      await changes.catch((error: unknown) => (refusal = error))
      const after = new SavedTable(await runProgram(commands.save, ['-t', 'filter']))
      if (after.isEnteredFirst && after.hasAsMany(chains)) return void this.#spelled.set(asked, after.spelled(chains))
    }
    throw refusal
  }
}

/**
 * Bridges that our prefix does not cover. Those that the rules name already stay in them while they exist: they are
 * another engine's.
 */
function bridgesBeside(interfaces: readonly string[], table: SavedTable): string[] {
  const here = interfacesHere()
  const bridges = new Set([...interfaces, ...table.bridges.filter((name) => here.has(name))])
  return [...bridges].filter((name) => isInterface(name) && !name.startsWith(interfacePrefix)).sort()
}

/** What the kernel accepts and iptables does not take for something else. */
const isInterface = (name: string) => /^[A-Za-z0-9][\w.-]{0,14}$/.test(name)

/** Names of the interfaces in the network of this process: `/sys` may show another's. */
function interfacesHere(): Set<string> {
  return new Set(
    readFileSync('/proc/self/net/dev', 'utf8')
      .matchAll(/^ *([^\s:]+):/gm)
      .map(([, name]) => name ?? ''),
  )
}

/** CAP_NET_ADMIN, which root has, and which an operator can give to a service without root. */
function mayAdministerNetworks(): boolean {
  try {
    const [, capabilities = '0'] = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return (BigInt(`0x${capabilities}`) >> 12n) % 2n === 1n
  } catch {
    return false
  }
}

/**
 * Also where there is no such file: then nothing was ever bridged, and the kernel loads the module with its filter on.
 */
function isBridgeFilterOn(family: Family): boolean {
  try {
    return readFileSync(bridgeFilterSettings[family], 'utf8').trim() === '1'
  } catch {
    return true
  }
}

/**
 * Without this the rules see nothing of what goes from one container to its neighbour on the same bridge. Docker
 * switches it on when it makes a network whose containers may not reach each other; what an operator's other tools do
 * afterwards it does not see.
 * @throws {Error} when it is off and stays off
 */
function enableBridgeFilter(family: Family): void {
  const file = bridgeFilterSettings[family]
  try {
    if (readFileSync(file, 'utf8').trim() !== '1') writeFileSync(file, '1')
  } catch (error) {
    throw new Error(`containers of one network are not kept apart: ${file} cannot be set to 1`, { cause: error })
  }
}

/**
 * The rules that keep containers away from their host, in the language of iptables. Text in, text out.
 *
 * Two chains of ours are entered first thing, one by what is for the host itself, one by what it passes on. Both send
 * what comes from a container's bridge to a chain with the rules, and everything else back:
 *
 *     INPUT                  -> BERTH-INPUT    -> from a bridge of ours -> BERTH-TO-HOST
 *     FORWARD, DOCKER-USER   -> BERTH-FORWARD  -> from a bridge of ours -> BERTH-BEYOND
 *
 * What our rules do not refuse goes back (RETURN) to those of the host and the engine, which may refuse it after all.
 */
type Family = 'ipv4' | 'ipv6'

/** A chain of ours, and its rules in order. */
interface Chain {
  readonly name: string
  readonly rules: readonly string[]
}

/**
 * Responses on connections that others opened: the gateway, or clients that an operator admits. `ESTABLISHED` alone
 * would also be true of connections that a container opened before there were rules.
 */
const responsesRule = '-m conntrack --ctstate RELATED,ESTABLISHED --ctdir REPLY -j RETURN'

const refuse = '-j BERTH-REFUSE'

/**
 * With an answer, not in silence: a program that only tries must not wait for minutes. The kernel sends one peer no
 * more than one message of ICMP a second, but resets at once.
 */
const refusals: Record<Family, readonly string[]> = {
  ipv4: ['-p tcp -j REJECT --reject-with tcp-reset', '-j REJECT --reject-with icmp-admin-prohibited'],
  ipv6: ['-p tcp -j REJECT --reject-with tcp-reset', '-j REJECT --reject-with icmp6-adm-prohibited'],
}

/**
 * Where clouds tell a machine its secrets. Name servers that listen there are let through: some clouds have no other,
 * and the engine's own asks them from inside the container.
 */
const metadataNetworks: Record<Family, readonly string[]> = {
  ipv4: ['169.254.0.0/16'],
  ipv6: ['fe80::/10', 'fd00:ec2::254/128'],
}

const nameServerProtocols = ['udp', 'tcp']
const nameServerRule = (protocol: string) => `-p ${protocol} -m ${protocol} --dport 53 -j RETURN`

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
  return [responsesRule, ...neighbourDiscovery(family), ...nameServerProtocols.map(nameServerRule), refuse]
}

function beyond(family: Family, bridges: readonly string[]): string[] {
  return [
    responsesRule,
    ...bridges.map((bridge) => `-o ${bridge} ${refuse}`),
    // Sent to an address of the host itself, and led on to where the service really is: a published port.
    `-m conntrack --ctstate DNAT ${refuse}`,
    ...metadataNetworks[family].flatMap((network) => [
      ...nameServerProtocols.map((protocol) => `-d ${network} ${nameServerRule(protocol)}`),
      `-d ${network} ${refuse}`,
    ]),
  ]
}

/** Without it a container with an IPv6 address finds no way out; what it says goes no further than the bridge. */
function neighbourDiscovery(family: Family): string[] {
  if (family === 'ipv4') return []
  return [133, 135, 136].map((type) => `-p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j RETURN`)
}

/** Jump from a chain of the system to one of ours. */
interface Entrance {
  readonly from: string
  readonly to: string
}

/** Parsed output of `iptables-save`: the chains of ours, and the jumps to them. */
class SavedTable {
  /** Every rule in order, as `-A CHAIN ...`. */
  readonly #lines: readonly string[]

  /** @param text of the table `filter` */
  constructor(text: string) {
    this.#lines = text.split('\n').filter((line) => line.startsWith('-A '))
  }

  /**
   * Jumps that must exist. In Docker's chain for other programs, if there is one: it stays before Docker's own rules.
   */
  get entrances(): Entrance[] {
    const isDockers = this.#rulesOf('FORWARD').includes('-j DOCKER-USER')
    return [
      { from: 'INPUT', to: 'BERTH-INPUT' },
      { from: isDockers ? 'DOCKER-USER' : 'FORWARD', to: 'BERTH-FORWARD' },
    ]
  }

  /** Bridges in our chains, perhaps of another engine. */
  get bridges(): string[] {
    return this.#rulesOf('BERTH-INPUT').flatMap((rule) => /^-i (\S+) -j BERTH-TO-HOST$/.exec(rule)?.[1] ?? [])
  }

  /** Whether the jumps to our chains are the first rules. */
  get isEnteredFirst(): boolean {
    return this.entrances.every(({ from, to }) => this.#rulesOf(from)[0] === `-j ${to}`)
  }

  /** And the only ones: two processes may have set them at the same time. */
  get isEnteredOnce(): boolean {
    return this.isEnteredFirst && this.entrances.every(({ from, to }) => this.#timesEntered(from, to) === 1)
  }

  /** Rules of our chains as this version of iptables prints them. */
  spelled(chains: readonly Chain[]): string {
    return chains.flatMap(({ name }) => this.#rulesOf(name).map((rule) => `${name} ${rule}`)).join('\n')
  }

  has(chains: readonly Chain[]): boolean {
    return (
      this.spelled(chains) === chains.flatMap(({ name, rules }) => rules.map((rule) => `${name} ${rule}`)).join('\n')
    )
  }

  /** Whether the number of rules is right; another version of iptables may print them differently. */
  hasAsMany(chains: readonly Chain[]): boolean {
    return chains.every(({ name, rules }) => this.#rulesOf(name).length === rules.length)
  }

  /**
   * What `iptables-restore --noflush` has to be given so that chains and entrances are as they should be, all at once:
   * a chain that is named is emptied first, and other chains stay as they are.
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

/** Paths of the two programs that read and change the rules of one family. */
interface Commands {
  readonly save: string
  readonly restore: string
}

/** How long one call may take, in ms; it waits for the lock of the tables. */
const callTimeout = 10_000

/** They need not be in the operator's PATH; those of cron and systemd usually lack them. */
const programFolders = ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/bin', '/bin', '/usr/local/bin']

const programs: Record<Family, string> = { ipv4: 'iptables', ipv6: 'ip6tables' }
/** The machine's choice first, then its two implementations by name. */
const programVariants = ['', '-nft', '-legacy']

/** Families of addresses that this kernel speaks. */
function familiesHere(): Family[] {
  return existsSync('/proc/net/if_inet6') ? ['ipv4', 'ipv6'] : ['ipv4']
}

/**
 * The implementation that Docker uses: both may be installed, and neither sees the other's rules. The machine's choice,
 * unless Docker's chains are in another's tables. Those of IPv6 follow, for Docker need have none there.
 * @throws {Error} in words for an operator when there is none
 */
async function commandsFor(family: Family): Promise<Commands> {
  const variant = await variantOfDocker()
  const found = findCommands(programs[family], variant) ?? findCommands(programs[family], '')
  if (!found) throw new Error(`there is no ${programs[family]} on this machine`)
  return found
}

async function variantOfDocker(): Promise<string> {
  for (const variant of programVariants) {
    const commands = findCommands(programs.ipv4, variant)
    // All tables that there are: to name one would make it where there is none.
    const tables = commands ? await runProgram(commands.save, []).catch(() => '') : ''
    if (/^:DOCKER/m.test(tables)) return variant
  }
  return ''
}

function findCommands(program: string, variant: string): Commands | undefined {
  const [save, restore] = ['save', 'restore'].map((verb) =>
    programFolders.map((folder) => `${folder}/${program}${variant}-${verb}`).find((file) => existsSync(file)),
  )
  return save && restore ? { save, restore } : undefined
}

/** @returns what it printed. @throws {Error} with its own words, or that it took too long */
function runProgram(file: string, words: readonly string[], input = ''): Promise<string> {
  const options = {
    timeout: callTimeout,
    maxBuffer: 64 * 1024 ** 2,
    env: { PATH: programFolders.join(':'), LC_ALL: 'C' },
  }
  return new Promise((resolve, reject) => {
    const child = execFile(file, words, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const said = stderr.trim().split('\n')[0]?.slice(0, 300)
      reject(new Error(`${file}: ${said || (error.killed ? `no end within ${callTimeout} ms` : error.message)}`))
    })
    // A program that ends without reading breaks its input; why it ended is in its words.
    child.stdin?.on('error', () => undefined).end(input)
  })
}
