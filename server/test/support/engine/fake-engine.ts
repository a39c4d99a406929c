import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime, RuntimeContainer, RuntimeEvent } from '#/engines/runtime.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'

/** A container of a `FakeEngine`. */
interface Made {
  readonly spec: ContainerSpec
  readonly id: string
  readonly address: string
  state: 'created' | 'running' | 'paused' | 'exited'
  exitCode: number | null
  startedAt: number | null
  endedAt: number | null
}

/** Calls that a test may slow down or let fail. */
export type FakeEngineCall = 'create' | 'start' | 'pause' | 'stop' | 'remove' | 'inspect' | 'list'

/**
 * An engine that runs nothing and remembers everything: for what happens around an engine (a store that fails at the
 * worst moment, hundreds of containers, an engine that restarts), where a real one would only take time.
 */
export class FakeEngine {
  readonly made = new Map<string, Made>()
  /** `start dev of 3`, in the order in which they were done. */
  readonly done: string[] = []
  /** Called before each call; a test makes it wait, or throw. */
  before: (call: FakeEngineCall, spec: ContainerSpec | undefined) => Promise<void> | void = () => undefined
  /** What the host has left, in bytes. */
  memory = { total: 8e9, available: 8e9 }
  readonly #listeners = new Set<(event: RuntimeEvent) => void>()
  #count = 0

  /** Everything ends, the engine is away for a moment, and then back without anything running. */
  restart(): void {
    this.#emit({ id: undefined, action: 'lost' })
    for (const each of this.made.values()) if (each.state !== 'created') this.#end(each, 137)
    this.#emit({ id: undefined, action: 'other' })
  }

  /** A program ends by itself. */
  crash(id: string, exitCode: number): void {
    const made = this.#find(id)
    this.#end(made, exitCode)
    this.#emit({ id, action: 'die' })
  }

  /** Those that run, as `dev of 3`. */
  get running(): string[] {
    return [...this.made.values()].filter(({ state }) => state === 'running').map(({ spec }) => nameOf(spec))
  }

  readonly runtime: Runtime = {
    ...emptyRuntime,
    inspect: async (name) => {
      await this.before('inspect', undefined)
      const made = [...this.made.values()].find(({ spec }) => spec.name === name)
      return made && containerOf(made)
    },
    inspectId: async (id) => {
      const made = this.made.get(id)
      await this.before('inspect', made?.spec)
      return made && containerOf(made)
    },
    imageId: async () => 'image',
    create: async (spec) => {
      await this.before('create', spec)
      const count = ++this.#count
      // Another digit in front would make two ids the same from the 161st container on.
      const id = count.toString(16).padStart(64, '0')
      const address = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`
      this.made.set(id, { spec, id, address, state: 'created', exitCode: null, startedAt: null, endedAt: null })
      return { id, port: spec.port ?? 8080 }
    },
    start: (id) =>
      this.#do('start', id, 'start', (made) =>
        Object.assign(made, { state: 'running', startedAt: Date.now(), endedAt: null }),
      ),
    pause: (id) => this.#do('pause', id, 'pause', (made) => (made.state = 'paused')),
    stop: (id) => this.#do('stop', id, 'die', (made) => this.#end(made, 143)),
    remove: (id) => this.#do('remove', id, 'destroy', () => this.made.delete(id)),
    list: async (filter) => {
      await this.before('list', undefined)
      return [...this.made.values()].filter((made) => isMeant(made, filter)).map(containerOf)
    },
    host: async () => ({ ...(await emptyRuntime.host()), memory: this.memory }),
    hostMemory: async () => this.memory,
    watch: (onEvent, signal) => {
      this.#listeners.add(onEvent)
      signal.addEventListener('abort', () => this.#listeners.delete(onEvent))
    },
  }

  async #do(
    call: FakeEngineCall,
    id: string,
    action: RuntimeEvent['action'],
    change: (made: Made) => unknown,
  ): Promise<void> {
    const made = this.#find(id)
    await this.before(call, made.spec)
    change(made)
    this.done.push(`${call} ${nameOf(made.spec)}`)
    this.#emit({ id, action })
  }

  #end(made: Made, exitCode: number): void {
    Object.assign(made, { state: 'exited', exitCode, endedAt: Date.now() })
  }

  #find(id: string): Made {
    const made = this.made.get(id)
    if (!made) throw new RuntimeError('missing', `find ${id}`)
    return made
  }

  #emit(event: RuntimeEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

const nameOf = ({ owner }: ContainerSpec) => `${owner.type} of ${owner.userId}`

const isMeant = ({ id, spec }: Made, filter: Parameters<Runtime['list']>[0] = {}) =>
  (filter.userId === undefined || spec.owner.userId === filter.userId) &&
  (filter.ids === undefined || filter.ids.includes(id))

const containerOf = ({ id, spec, state, address, exitCode, startedAt, endedAt }: Made): RuntimeContainer => ({
  id,
  name: spec.name,
  owner: spec.owner,
  state,
  address: state === 'running' || state === 'paused' ? address : null,
  port: spec.port ?? 8080,
  imageId: 'image',
  exitCode: state === 'exited' ? exitCode : null,
  isOutOfMemory: false,
  startedAt,
  endedAt,
  fingerprint: spec.fingerprint,
})

/** An engine that answers at once that it has nothing, and makes nothing: whatever happens without any is then about accounts. */
export const emptyRuntime: Runtime = {
  capabilities: dockerCapabilities,
  prepare: async () => undefined,
  ping: async () => undefined,
  inspect: async () => undefined,
  inspectId: async () => undefined,
  imageId: async () => undefined,
  imageInfo: async () => undefined,
  fetchImage: async () => undefined,
  create: async (spec) => {
    throw new RuntimeError('image', `create ${spec.name}`)
  },
  start: async () => {
    throw new RuntimeError('missing', 'start')
  },
  pause: async () => {
    throw new RuntimeError('missing', 'pause')
  },
  stop: async () => undefined,
  remove: async () => undefined,
  removeStopped: async () => undefined,
  list: async () => [],
  logs: async () => [],
  followLogs: async () => {
    throw new RuntimeError('missing', 'logs')
  },
  listening: async () => {
    throw new RuntimeError('missing', 'listening')
  },
  connectToLoopback: async () => {
    throw new RuntimeError('missing', 'connectToLoopback')
  },
  exec: async () => {
    throw new RuntimeError('missing', 'exec')
  },
  homes: async () => [],
  hasHome: async () => false,
  homeRights: async () => undefined,
  ensureFolder: async () => undefined,
  removeFolder: async () => undefined,
  removeHome: async () => undefined,
  measureHomes: async () => new Map(),
  measureLayer: async () => undefined,
  host: async () => ({
    cores: 1,
    ociRuntimes: [],
    hasGpus: false,
    isThisMachine: false,
    rulesAre: 'host rules',
    supportsHomeQuota: false,
    supportsLayerLimit: false,
    addressesLeft: null,
    memory: null,
    disk: null,
    rules: { areSet: true },
  }),
  hostMemory: async () => null,
  usage: async () => undefined,
  watch: () => undefined,
  isolationTrial: () => undefined,
  containerFiles: () => undefined,
  homeContents: () => undefined,
  imageBuilds: () => undefined,
  imageStore: () => undefined,
  counts: () => ({}),
}
