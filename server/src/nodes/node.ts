import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from 'node:tls'
import type { Logger } from 'pino'
import { momentNow } from '@berth/gateway/basics/clock.ts'
import { protocolVersion } from '@berth/gateway/rpc/rpc-protocol.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { isUpToDate, refuseStoreOfNewerVersion, type Database, type OpenOptions } from '#/store/database.ts'
import { endEarlierLeaders, leaderConnection, readLease, takeLease, type Lease } from '#/store/leader-lease.ts'
import {
  enterNode,
  forgetLostNodes,
  hasNodeTables,
  listNodes,
  nodeTablesIn,
  noteSeen,
  openLeaseTables,
  openNodeTables,
  removeNode,
  type NodeDb,
  type NodeStatus,
} from '#/store/node-records.ts'
import { copyNotice, migrateWithCopy, type CopiedStore } from '#/store/open/copy-before-migration.ts'
import { Follower, type OwnSettings } from './follower.ts'
import { GatewayGroup } from './gateway-group.ts'
import { LeaderRelay, acceptAsLeader, type LeaderListenerParts } from './leader-relay.ts'
import { Leadership, fencedRuntime, nodeTimes } from './leadership.ts'
import { NodeCipher, copySigningKeys, readSigningKeys, sharedSigningKeys } from './node-keys.ts'
import { createLinkListener, listenForNodes, type LinkAddress } from './node-link.ts'
import { Reading, type Reader, type ReadingState } from './reading.ts'

export type { Reader, ReadingState } from './reading.ts'

/** Unix sockets of an API process. */
type NodeSocket = 'api' | 'operator'

/** What the application of the leader is built from, beside the settings. */
export interface LeadParts {
  readonly gateway: Gateway
  readonly openOptions: OpenOptions
  keysOf(database: Database): Promise<SigningKeys>
  fence(runtime: Runtime): Runtime
  /** Has to be called when the application listens on this socket: what has waited there is passed to it. */
  readonly onListening: (socket: NodeSocket) => void
  readonly report: NodeReport
  /**
   * When requests wait for it, because another node led: has to be called when the host is prepared, before which no
   * container starts.
   */
  readonly onPrepared: (() => void) | undefined
}

export interface NodeOptions {
  /** `NODE_ADDRESS`. */
  readonly address: LinkAddress & { readonly text: string }
  readonly secret: string | null
  readonly databaseUrl: string
  readonly dataDir: string
  readonly version: string
  /** The gateway of this node, which listens already. */
  readonly gateway: Gateway
  readonly own: OwnSettings
  /** Unix sockets of this process: the application's when it leads, relays to the leader otherwise. */
  readonly sockets: Readonly<Record<NodeSocket, string>>
  /** Starts the application, as after a crash. */
  lead(parts: LeadParts): Promise<{ close(): Promise<void> }>
  /**
   * Called once when this node follows: prepares what `lead` would have to do while requests wait.
   * @param isWanted until it leads, or stops
   */
  warmUp(isWanted: () => boolean): Promise<void>
  /** Answers requests at this node while it follows; left out: the leader answers all. */
  readonly reading?: {
    /** See `ReadingParts.program`. */
    readonly program: () => string
    /** Unix socket of the reader. */
    readonly socket: string
    /** Starts it. @param keys reads the signing keys of all nodes */
    open(state: ReadingState, keys: () => Promise<SigningKeys>): Promise<Reader>
  }
  /** Called when requests are answered here, by this node or by the leader that it follows; again after each change. */
  readonly onReady: () => void
  /** Called when this process must end at once: it may lead no more. */
  readonly onLost: (reason: string) => void
  /** Whether the gateway of this node has ended, and serves nothing any more. */
  readonly hasGatewayEnded: () => boolean
  readonly log: Logger
}

/** What a request of another node takes to arrive after this one has acknowledged its connection, in ms. */
const arrival = 100

/** Between two checks of the lease, in ms. */
const minPollInterval = 20

/** A follower copies the signing keys into its data folder about every minute, for backups. */
const checksPerKeyCopy = 120

/** One of several nodes: follows the leader, or leads. One that has led once does so until it ends. */
export class BerthNode {
  readonly #options: NodeOptions
  readonly #db: NodeDb
  /** While it leads. */
  #leaseDb: NodeDb | undefined
  readonly #cipher: NodeCipher
  readonly #listener: Server
  readonly #reading: Reading | undefined
  readonly #follower: Follower
  readonly #relays: Readonly<Record<NodeSocket, LeaderRelay>>
  readonly #closing = new AbortController()
  #leading: { readonly leadership: Leadership; readonly accept: LeaderListenerParts } | undefined
  #app: { close(): Promise<void> } | undefined
  /** Where the application of this node listens. */
  readonly #served = new Set<NodeSocket>()
  #polling: Promise<void> = Promise.resolve()
  /** Since it has found no lead at its start. */
  #isPolling = false

  private constructor(options: NodeOptions, db: NodeDb, cipher: NodeCipher, key: Buffer) {
    const { address, gateway, own, log, onReady } = options
    this.#options = options
    this.#db = db
    this.#cipher = cipher
    this.#listener = createLinkListener(key, (hello, socket) => {
      if (this.#leading) acceptAsLeader(this.#leading.accept, hello, socket)
      else socket.destroy()
    })
    const { reading } = options
    this.#reading =
      reading &&
      new Reading({
        ...reading,
        open: (state) => reading.open(state, () => readSigningKeys(db, cipher)),
        report: (err, what) => log.warn({ err }, `${what} failed; the leader answers all requests`),
      })
    this.#follower = new Follower({
      node: address.text,
      key,
      gateway,
      own,
      ...(this.#reading && { reading: this.#reading }),
      onJoined: (leader) => {
        log.info({ leader }, 'this node follows the leader')
        for (const relay of Object.values(this.#relays)) relay.retry()
        onReady()
      },
      onLost: (leader) => log.warn({ leader }, 'the connection to the leader is lost'),
      onUnreached: (leader, err) => log.warn({ leader, err }, 'the leader cannot be reached now; it is tried again'),
      report: (problem) => log.error(`between the nodes: ${problem}`),
    })
    this.#relays = {
      api: new LeaderRelay(() => this.#connectToLeader('api')),
      operator: new LeaderRelay(() => this.#connectToLeader('operator')),
    }
  }

  /**
   * Enters the nodes of the database, and follows or leads from then on.
   * @throws {Error} for the operator when it may not, or the first application that it leads does not start
   */
  static async start(options: NodeOptions): Promise<BerthNode> {
    const { address, secret, databaseUrl, sockets } = options
    const program = { version: options.version, protocol: protocolVersion }
    const db = await openNodeTables(databaseUrl)
    const copied = await prepareStore(db, databaseUrl, address.text, program)
    if (copied) options.log.warn(copyNotice(copied))
    const cipher = new NodeCipher(secret)
    const node = new BerthNode(options, db, cipher, await cipher.linkKey(db))
    await enterNode(db, address.text, program)
    const report = (problem: string) => options.log.error(problem)
    await listenForNodes(node.#listener, address, report)
    await node.#relays.api.listen(sockets.api, report)
    await node.#relays.operator.listen(sockets.operator, report)
    try {
      await node.#checkLease()
    } catch (error) {
      if (node.#leading) throw error
      options.log.warn({ err: error }, 'looking for the leader failed; it is tried again')
    }
    if (!node.#leading) {
      node.#polling = node.#pollLease()
      const isWanted = () => !node.#leading && !node.#closing.signal.aborted
      await options
        .warmUp(isWanted)
        .catch((error: unknown) => options.log.warn({ err: error }, 'a takeover was not prepared'))
    }
    return node
  }

  /** Another node takes the lead at once, if this one has it. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#polling
    if (this.#leading) await sleep(arrival)
    await this.#app?.close()
    await this.#leading?.leadership.release()
    this.#follower.stop()
    await this.#reading?.close()
    const { address, hasGatewayEnded } = this.#options
    // A gateway that goes on without this process serves for a while: the leader has to wait for it.
    if (hasGatewayEnded()) await removeNode(this.#db, address.text).catch(() => undefined)
    this.#listener.close()
    await Promise.all([this.#db.destroy(), this.#leaseDb?.destroy()])
  }

  async #pollLease(): Promise<void> {
    const { signal } = this.#closing
    const { dataDir } = this.#options
    this.#isPolling = true
    let hasFailed = false
    let pause: number = nodeTimes.pollEvery
    for (let checks = 0; !this.#leading; checks++) {
      await sleep(pause, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      pause = nodeTimes.pollEvery
      try {
        // A lease that is not renewed is taken when it ends, and not a pause later.
        pause = Math.min(pause, Math.max(minPollInterval, await this.#checkLease()))
        if (checks % checksPerKeyCopy === 0 && !this.#leading) await copySigningKeys(this.#db, this.#cipher, dataDir)
        hasFailed = false
      } catch (error) {
        if (this.#leading) return this.#options.onLost(`it could not begin to lead: ${String(error)}`)
        if (!hasFailed) this.#options.log.warn({ err: error }, 'looking for the leader failed; it is tried again')
        hasFailed = true
      }
    }
  }

  /**
   * @returns ms until the lease of the leader ends, if it is not renewed
   * @throws {StoreFailure} · {NewerStore} when no node leads and this one cannot · as `#lead`
   */
  async #checkLease(): Promise<number> {
    const { address } = this.#options
    const asked = momentNow()
    const [{ node, epoch, isFree, endsIn }] = await Promise.all([this.#readLease(), noteSeen(this.#db, address.text)])
    if (!isFree && node !== null && node !== address.text) {
      this.#follower.follow({ node, epoch })
      return endsIn
    }
    // In an upgrade: nodes of the new version lead from now on, and this one follows them.
    await refuseStoreOfNewerVersion(this.#db)
    const taken = await takeLease(this.#db, address.text, nodeTimes.lease)
    if (taken !== undefined) await this.#lead(taken, asked)
    return nodeTimes.pollEvery
  }

  /** The reader learns of it at once: a primary that has lost its standby answers what reads, and no write. */
  async #readLease(): Promise<Lease> {
    const readAt = momentNow()
    const lease = await readLease(this.#db, nodeTimes.lease)
    this.#reading?.noteLease(!lease.isFree && lease.node !== this.#options.address.text, lease.endsIn, readAt)
    return lease
  }

  /** What has waited for a leader may find one here. @throws {Error} when there is none */
  async #connectToLeader(purpose: NodeSocket): Promise<Duplex> {
    if (!this.#served.has(purpose)) return this.#follower.connect(purpose)
    const socket = connect(this.#options.sockets[purpose])
    await once(socket, 'connect')
    return socket.on('error', () => {})
  }

  /**
   * Leads with a lease that was taken: ends the store connections of earlier leaders, and starts the application.
   * @param takenAt before the lease was taken
   * @throws {StoreFailure} when the database does not answer, or those connections do not end · whatever the
   * application of this node fails with at its start. When `#leading` is set the lease is renewed, so callers have to
   * end the process; before that it expires, and the next check may take it again
   */
  async #lead(epoch: number, takenAt: ReturnType<typeof momentNow>): Promise<void> {
    const { address, dataDir, gateway, sockets, log, onLost, onReady, lead } = this.#options
    const report = (problem: string) => log.warn(problem)
    const db = this.#db
    this.#leaseDb = await openLeaseTables(this.#options.databaseUrl)
    const parts = {
      db: this.#leaseDb,
      address: address.text,
      epoch,
      onLost,
      report: (error: unknown, what: string) => log.warn({ err: error }, `${what} failed`),
    }
    // Read before the lease is renewed by a timer: after a failure of the reading, the next check takes the lease
    // again.
    const others = await this.#othersAlive()
    const leadership = new Leadership(parts, takenAt)
    const group = new GatewayGroup({
      node: address.text,
      local: gateway,
      others,
      mayOrder: () => leadership.isValid,
      report,
      hasLeft: async (node) => (await listNodes(db, nodeTimes.alive)).every((each) => each.address !== node),
    })
    const isServing = (socket: NodeSocket) => this.#served.has(socket) && !this.#closing.signal.aborted
    this.#leading = { leadership, accept: { leadership, group, sockets, isServing, report } }
    log.warn({ epoch, others }, 'this node leads from now on')
    this.#follower.stop()
    this.#reading?.stop()
    await endEarlierLeaders(db, epoch)
    const isMigrated = await isUpToDate(db)
    const prepared = Promise.withResolvers<void>()
    if (!this.#isPolling) prepared.resolve()
    const settled = async () => void (await Promise.all([prepared.promise, group.settled()]))
    this.#app = await lead({
      gateway: group,
      openOptions: { onConnect: leaderConnection({ node: address.text, epoch }), isMigrated },
      keysOf: (database) => sharedSigningKeys(nodeTablesIn(database.db), this.#cipher, dataDir),
      fence: (runtime) => fencedRuntime(runtime, { mayOrder: () => leadership.isValid, settled }),
      onListening: (socket) => {
        this.#served.add(socket)
        this.#relays[socket].retry()
      },
      report: nodeReport(db, group, this.#options.version),
      onPrepared: this.#isPolling ? prepared.resolve : undefined,
    })
    for (const relay of Object.values(this.#relays)) relay.close()
    onReady()
  }

  /** Nodes whose gateways may serve. */
  async #othersAlive(): Promise<string[]> {
    await forgetLostNodes(this.#db)
    const all = await listNodes(this.#db, nodeTimes.alive)
    const { text } = this.#options.address
    return all.filter(({ address, isAlive }) => isAlive && address !== text).map(({ address }) => address)
  }
}

/** Nodes run that speak another protocol. The message is for the operator. */
export class OtherProtocolRuns extends Error {
  constructor(address: string, theirs: string, ours: string) {
    super(
      `node ${address} runs version ${theirs}, this is ${ours}, and their nodes do not understand each other: ` +
        'stop all nodes, start this version on one of them, then on the others',
    )
    this.name = 'OtherProtocolRuns'
  }
}

/** The program of a node. */
export interface NodeProgram {
  readonly version: string
  /** `protocolVersion`: nodes of two versions run side by side if it is the same. */
  readonly protocol: number
}

/**
 * Whether this program may run as a node of the store. Without other nodes it brings the tables up to date, and copies
 * a store that was used before that; beside others it changes nothing: the first node of a newer version that leads
 * does.
 * @param address of this node, of which an earlier process may seem alive
 * @returns what was copied; undefined when nothing was
 * @throws {OtherProtocolRuns} @throws {NewerStore} · as `migrateWithCopy`
 */
export async function prepareStore(
  db: NodeDb,
  url: string,
  address: string,
  program: NodeProgram,
): Promise<CopiedStore | undefined> {
  if (await hasNodeTables(db)) {
    await refuseStoreOfNewerVersion(db)
    const others = (await listNodes(db, nodeTimes.alive)).filter((each) => each.isAlive && each.address !== address)
    const other = others.find(({ protocol }) => protocol !== program.protocol)
    if (other) throw new OtherProtocolRuns(other.address, other.version, program.version)
    if (others.length > 0) return undefined
  }
  return migrateWithCopy(url, new Date())
}

/** Nodes of this installation, for administrators. */
export interface NodeReport {
  /** Version of this node's program. */
  readonly version: string
  /** @throws {StoreFailure} */
  list(): Promise<NodeStatus[]>
  /** For `/metrics`. @throws {StoreFailure} */
  counts(): Promise<Readonly<Record<string, number>>>
}

/** @param group gateways of the nodes, at the leader @param version of this node's program */
function nodeReport(db: NodeDb, group: GatewayGroup, version: string): NodeReport {
  const list = async () => {
    const [nodes, lease] = await Promise.all([listNodes(db, nodeTimes.alive), readLease(db, nodeTimes.lease)])
    const current = new Set(group.current)
    return nodes.map((each) => ({
      ...each,
      isCurrent: current.has(each.address),
      leadsSince: each.address === lease.node ? lease.since : null,
    }))
  }
  const counts = async () => {
    const [nodes, lease] = await Promise.all([list(), readLease(db, nodeTimes.lease)])
    const series = nodes.flatMap(({ address, isAlive, isCurrent, leadsSince }) => [
      [`berth_node_alive{node="${address}"}`, Number(isAlive)] as const,
      [`berth_node_current{node="${address}"}`, Number(isCurrent)] as const,
      [`berth_node_leads{node="${address}"}`, Number(leadsSince !== null)] as const,
    ])
    return Object.fromEntries([...series, ['berth_leader_epoch', lease.epoch] as const])
  }
  return { version, list, counts }
}
