import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { RouteSync } from '#/containers/routes/route-sync.ts'
import { ContainerIndex } from '#/containers/routes/container-index.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'
import type { ListFilter, Runtime, RuntimeCapabilities, RuntimeContainer, RuntimeEvent } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { ensureContainer, storeContainer } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { FakeGateway } from '#test/support/gateway/fake-gateway.ts'
import { copyEmptyStore, quickFolder } from '#test/support/store/empty-store.ts'
import { waitLimit } from './extent.ts'

/** An answer that is outstanding at the end of the tests keeps no process alive. */
const answered = (ms: number) => sleep(ms, undefined, { ref: false })

/** Engine with delayed answers, each as of the time of the request; a test sets states and emits events. */
export class LateRuntime {
  readonly states = new Map<string, RuntimeContainer>()
  /** ms until an answer arrives */
  delay = 0
  isDeaf = false
  /** Ids that it never answers about; a call fails after 3 s. */
  readonly hanging = new Set<string>()
  /** Ids about which it answers with an error. */
  readonly refusing = new Set<string>()
  /** ms until an answer about one of these arrives */
  readonly slow = new Map<string, number>()
  /** ms until a list arrives */
  listDelay = 0
  /** ms until a list of running containers arrives; `listDelay` when undefined */
  upDelay: number | undefined
  /** Whether lists fail while all other calls are answered. */
  failsLists = false
  /** Content of lists, when it differs from the states. */
  listed: RuntimeContainer[] | undefined
  /** Content of the next list alone, when it differs from the states. */
  lagging: RuntimeContainer[] | undefined
  readonly asked = { inspects: [] as string[], lists: 0 }
  /** Lists in the order in which they were asked for. */
  readonly askedLists: ('all' | 'up')[] = []
  /** How many of them were asked for until everything was published for the first time. */
  listsOfStart = 0
  /** Calls that were not answered yet. */
  unanswered = 0
  /** What answers wait for beside their delay. */
  #inspectsHeld: Promise<void> | undefined
  #fullListsHeld: Promise<void> | undefined
  tell: (event: RuntimeEvent) => void = () => undefined

  run(id: string, userId: number, address: string, slug = `u${userId}`): void {
    const owner = { userId, slug, type: 'dev' }
    const fields = {
      name: id,
      imageId: 'i',
      exitCode: null,
      isOutOfMemory: false,
      startedAt: 1,
      endedAt: null,
      fingerprint: 'f',
    }
    this.states.set(id, { id, owner, state: 'running', address, port: 8080, ...fields })
  }

  end(id: string, exitCode: number): void {
    const running = this.states.get(id)
    if (running) this.states.set(id, { ...running, state: 'exited', address: null, exitCode })
    this.tell({ id, action: 'die' })
  }

  /** Inspects that are asked for from now on are answered when the returned function is called. */
  holdInspects(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#inspectsHeld = promise
    return () => {
      this.#inspectsHeld = undefined
      resolve()
    }
  }

  /** As `holdInspects`, for lists of all containers. */
  holdFullLists(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#fullListsHeld = promise
    return () => {
      this.#fullListsHeld = undefined
      resolve()
    }
  }

  inspectId(id: string): Promise<RuntimeContainer | undefined> {
    return this.#counted(this.#inspectId(id))
  }

  list(filter: ListFilter = {}): Promise<RuntimeContainer[]> {
    return this.#counted(this.#list(filter))
  }

  async #counted<T>(call: Promise<T>): Promise<T> {
    this.unanswered++
    try {
      return await call
    } finally {
      this.unanswered--
    }
  }

  async #inspectId(id: string): Promise<RuntimeContainer | undefined> {
    this.asked.inspects.push(id)
    const answer = this.states.get(id)
    await this.#inspectsHeld
    await answered(this.hanging.has(id) ? 3_000 : (this.slow.get(id) ?? this.delay))
    if (this.hanging.has(id)) throw new RuntimeError('unreachable', 'inspect')
    if (this.refusing.has(id)) throw new RuntimeError('failed', 'inspect')
    if (this.isDeaf) throw new RuntimeError('unreachable', 'inspect')
    return answer
  }

  async #list({ isUp = false }: ListFilter): Promise<RuntimeContainer[]> {
    this.asked.lists++
    this.askedLists.push(isUp ? 'up' : 'all')
    const { lagging } = this
    this.lagging = undefined
    if (!isUp) await this.#fullListsHeld
    await answered(isUp ? (this.upDelay ?? this.listDelay) : this.listDelay)
    if (this.isDeaf || this.failsLists) throw new RuntimeError('unreachable', 'list')
    const all = lagging ?? this.listed ?? [...this.states.values()]
    return isUp ? all.filter(({ state }) => state === 'running' || state === 'paused') : all
  }

  async ping(): Promise<void> {
    if (this.isDeaf) throw new RuntimeError('unreachable', 'ping')
  }

  watch(onEvent: (event: RuntimeEvent) => void): void {
    this.tell = onEvent
  }
}

export let database: Database
/** Users in it, so that `u{id}` is the slug. */
let count = 0

/** A database for the tests of the calling file, closed after them; each file has its own, for files share a process. */
export function useDatabase(): void {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(quickFolder(), 'berth-routes-'))
    count = 0
    await copyEmptyStore(folder)
    database = await openDatabase(null, folder)
  })
  after(async () => {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
}

export type Owner = Awaited<ReturnType<typeof newOwner>>

/** A user with a record of a container that the engine does not have yet. */
export async function newOwner(): Promise<{ userId: number; type: string; id: string; prefix: string }> {
  const slug = `u${++count}`
  const user = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now: new Date() })
  const record = await ensureContainer(database.db, user.id, 'dev', 'image', new Date())
  const id = `c${user.id}`
  await storeContainer(database.db, record.id, { containerId: id, port: 8080, image: 'image' })
  return { userId: user.id, type: 'dev', id, prefix: `${slug}-dev` }
}

/** A route sync after its start, with a fake gateway and these containers running. */
export async function arrange(
  t: TestContext,
  owners: readonly Owner[],
  runtime = new LateRuntime(),
  capabilities: RuntimeCapabilities = dockerCapabilities,
) {
  const gateway = new FakeGateway()
  const { template } = readTemplate('dev', { image: 'image' })
  const statuses: string[] = []
  const routeSync = new RouteSync({
    db: database.db,
    runtime: runtime as unknown as Runtime,
    listAll: () => runtime.list(),
    templates: new Templates(template ? [template] : []),
    gateway,
    index: new ContainerIndex(capabilities),
    revoked: () => [],
    onAccessRevoked: () => undefined,
    report: () => undefined,
  })
  routeSync.onChange({ onStatus: ({ prefix }, status) => void statuses.push(`${prefix} ${status}`) })
  for (const [at, { id, userId, prefix }] of owners.entries())
    runtime.run(id, userId, `172.18.0.${at + 2}`, prefix.replace('-dev', ''))
  const ending = new AbortController()
  t.after(() => ending.abort())
  await routeSync.publishAll(ending.signal)
  runtime.listsOfStart = runtime.askedLists.length
  await sleep(20)
  return { runtime, gateway, routeSync, statuses }
}

/**
 * Resolves when the first sweep of `arrange` has ended with its inspects: one that is in progress when the engine goes
 * down would make its container unknown by itself, before the outage is noticed. With more than 20 running containers a
 * second list follows.
 */
export function sweptFirst(runtime: LateRuntime): Promise<void> {
  return until(() => runtime.askedLists.includes('all') && runtime.unanswered === 0)
}

/**
 * Resolves when the second list after the start, which more than 20 running containers lead to, is answered and
 * applied. A slow start asks for a list of running containers by itself, before everything is published.
 */
export function listedTwice(runtime: LateRuntime): Promise<void> {
  return until(() => runtime.askedLists.slice(runtime.listsOfStart).includes('up') && runtime.unanswered === 0)
}

/** Polls for up to 30 s on two quick cores. */
export async function until(isMet: () => boolean): Promise<void> {
  const end = performance.now() + waitLimit(30_000)
  while (!isMet()) {
    assert.ok(performance.now() < end, 'the condition was not met in time')
    await sleep(20)
  }
}
