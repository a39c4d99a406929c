import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostRulesReport } from '#/engines/host-capacity.ts'
import { chainsFor, type Family } from './firewall-chains.ts'
import { SavedTable } from './saved-table.ts'
import { commandsFor, familiesHere, run, type Commands } from './iptables.ts'
import { interfacePrefix } from './bridge-network.ts'

type Report = HostRulesReport

/** Set while other programs change the same tables, or another Berth the same rules; and the pauses in between, in ms. */
const maxAttempts = 4
const maxRetryDelay = 300

/** Kernel settings that say whether bridged packets pass the host's rules; one of each family. */
const bridgeFilterSettings: Record<Family, string> = {
  ipv4: '/proc/sys/net/bridge/bridge-nf-call-iptables',
  ipv6: '/proc/sys/net/bridge/bridge-nf-call-ip6tables',
}

/**
 * Rules of the host that keep containers from its services, from each other and from its metadata address. All Berths of a
 * machine share them. They stay when Berth ends, as containers do.
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

  /** As it was after the last `ensure`; null before the first one. */
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
    const table = new SavedTable(await run((await commandsFor('ipv4')).save, ['-t', 'filter']))
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
      const table = new SavedTable(await run(commands.save, ['-t', 'filter']))
      const chains = chainsFor(family, bridgesBeside(interfaces, table))
      const asked = JSON.stringify([family, chains])
      if (table.isEnteredOnce && (table.has(chains) || table.spelled(chains) === this.#spelled.get(asked))) return
      const changes = run(commands.restore, ['--noflush', '-w', '5'], table.changesTo(chains))
      await changes.catch((error: unknown) => (refusal = error))
      const after = new SavedTable(await run(commands.save, ['-t', 'filter']))
      if (after.isEnteredFirst && after.hasAsMany(chains)) return void this.#spelled.set(asked, after.spelled(chains))
    }
    throw refusal
  }
}

/** Bridges that our prefix does not cover. Those that the rules name already stay in them while they exist: they are another engine's. */
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

/** Also where there is no such file: then nothing was ever bridged, and the kernel loads the module with its filter on. */
function isBridgeFilterOn(family: Family): boolean {
  try {
    return readFileSync(bridgeFilterSettings[family], 'utf8').trim() === '1'
  } catch {
    return true
  }
}

/**
 * Without this the rules see nothing of what goes from one container to its neighbour on the same bridge. Docker switches it
 * on when it makes a network whose containers may not reach each other; what an operator's other tools do afterwards it
 * does not see.
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
