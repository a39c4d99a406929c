import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dockerCapabilities } from '#/runtime/docker-engine/docker-runtime.ts'
import { RouteSync } from '#/containers/routing/route-sync.ts'
import { ContainerIndex } from '#/containers/state/container-index.ts'
import { readTemplate } from '#/containers/templates/read-templates.ts'
import { Templates } from '#/containers/templates/template.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { RuntimeCapabilities } from '#/runtime/runtime-capabilities.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { RuntimeEvent } from '#/runtime/runtime-event.ts'
import type { ListFilter, Runtime } from '#/runtime/runtime.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { ensureContainer, storeContainer } from '#/store/containers/user-containers.ts'
import { insertUser } from '#/store/users/users.ts'
import { FakeGateway } from '#test/support/gateway/fake-gateway.ts'

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
  readonly asked = { inspects: [] as string[], lists: 0 }
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

  async inspectId(id: string): Promise<RuntimeContainer | undefined> {
    this.asked.inspects.push(id)
    const answer = this.states.get(id)
    await answered(this.hanging.has(id) ? 3_000 : (this.slow.get(id) ?? this.delay))
    if (this.hanging.has(id)) throw new RuntimeError('unreachable', 'inspect')
    if (this.refusing.has(id)) throw new RuntimeError('failed', 'inspect')
    if (this.isDeaf) throw new RuntimeError('unreachable', 'inspect')
    return answer
  }

  async list({ isUp = false }: ListFilter = {}): Promise<RuntimeContainer[]> {
    this.asked.lists++
    await answered(isUp ? (this.upDelay ?? this.listDelay) : this.listDelay)
    if (this.isDeaf || this.failsLists) throw new RuntimeError('unreachable', 'list')
    const all = this.listed ?? [...this.states.values()]
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
    folder = await mkdtemp(path.join(tmpdir(), 'berth-routes-'))
    count = 0
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
    onStatus: ({ prefix }, status) => void statuses.push(`${prefix} ${status}`),
    onAccessRevoked: () => undefined,
    onGone: () => undefined,
    report: () => undefined,
  })
  for (const [at, { id, userId, prefix }] of owners.entries())
    runtime.run(id, userId, `172.18.0.${at + 2}`, prefix.replace('-dev', ''))
  const ending = new AbortController()
  t.after(() => ending.abort())
  await routeSync.publishAll(ending.signal)
  await sleep(20)
  return { runtime, gateway, routeSync, statuses }
}

/** Polls for up to 20 s, because the machine may be busy. */
export async function until(isMet: () => boolean): Promise<void> {
  const end = performance.now() + 20_000
  while (!isMet()) {
    assert.ok(performance.now() < end, 'the condition was not met within 20 s')
    await sleep(20)
  }
}
