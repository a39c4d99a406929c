import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { SingleFlight } from '#/machine/single-flight.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { ContainerReconciler, type ContainerReconcilerParts } from '#/containers/reconcile/container-reconciler.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { ensureContainer, storeContainer, touchContainer } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { container } from './plan-cases.ts'
import { openTemporaryStore } from './store/temporary-store.ts'

/** When the users of a rig signed up, and their containers ended. */
export const now = new Date('2026-11-01T12:00:00Z')
const log = pino({ level: 'silent' })

/** Stands still until it is opened. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: () => resolve() }
}

/** Container reconciler over a real store, and an engine that reports and does what a test wants. */
export async function rigOf(t: TestContext, graces: ContainerReconcilerParts['graces'] = {}, runTimeout = 15_000) {
  const { database } = await openTemporaryStore(t)
  const engine = new Map<string, RuntimeContainer>()
  const stopped: string[] = []
  const world = {
    beforeList: async () => {},
    beforeInspect: async () => {},
    beforeStop: async (_id: string) => {},
    restored: [] as number[],
    beforeRestore: async () => {},
    isMemoryShort: false,
    isDateSettled: true,
    /** Whether lists have all containers, or only what is up. */
    isFull: true,
    inspected: [] as string[],
    beforeInspectId: async (_id: string) => {},
    /** Before what sleeps is removed, and after. */
    beforeRetire: async (_id: string) => {},
    afterRetire: async (_id: string) => {},
    activations: 0,
  }
  type Used = 'list' | 'inspect' | 'inspectId' | 'logs' | 'stop' | 'remove' | 'removeStopped'
  const runtime: Pick<Runtime, Used> = {
    list: async (filter) => {
      const listed = [...engine.values()].filter(({ owner }) => !filter?.userId || owner?.userId === filter.userId)
      await world.beforeList()
      return listed.map((each) => ({ ...each, endedAt: null }))
    },
    inspect: async (name) => {
      await world.beforeInspect()
      return [...engine.values()].find((each) => each.name === name)
    },
    inspectId: async (id) => {
      world.inspected.push(id)
      await world.beforeInspectId(id)
      return engine.get(id)
    },
    logs: async () => [],
    stop: async (id) => {
      await world.beforeStop(id)
      stopped.push(id)
      const container = engine.get(id)
      if (container) engine.set(id, { ...container, state: 'exited' })
    },
    remove: async (id) => void engine.delete(id),
    removeStopped: async (id) => {
      await world.beforeRetire(id)
      engine.delete(id)
      await world.afterRetire(id)
    },
  }
  const parts: ContainerReconcilerParts = {
    db: database.db,
    runtime: runtime as Runtime,
    templates: new Templates([{ type: 'dev' } as Template]),
    installation: 'b',
    singleFlight: new SingleFlight(),
    routeSync: { publishContainer: async () => {}, isEngineAnswering: true },
    admission: { recheck: () => {} },
    hostResources: { isMemoryShort: async () => world.isMemoryShort },
    spawner: {
      restore: async ({ id }) => {
        await world.beforeRestore()
        world.restored.push(id)
        for (const [key, each] of engine)
          if (each.owner?.userId === id)
            engine.set(key, { ...each, state: 'running', exitCode: null, isOutOfMemory: false })
        return { containerId: '' }
      },
    },
    findContainer: () => undefined,
    engineList: {
      get: async () => {
        const all = await runtime.list()
        const { isFull } = world
        const containers = isFull ? all : all.filter(({ state }) => state === 'running')
        return { containers, askedAt: performance.now(), isFull }
      },
      invalidate: () => undefined,
    },
    activate: () => void world.activations++,
    isDateSettled: () => world.isDateSettled,
    graces,
    pauses: { container: [20, 50], poll: 5 },
    runTimeout,
    log,
  }
  const reconciler = new ContainerReconciler(parts)
  t.after(() => reconciler.stop())
  const person = async (slug: string, state: string) => {
    const user = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    const record = await ensureContainer(database.db, user.id, 'dev', 'image', now)
    await storeContainer(database.db, record.id, { containerId: slug, port: 8080, image: 'image' })
    await touchContainer(database.db, record.id, now)
    engine.set(slug, containerOf(slug, { userId: user.id, slug, type: 'dev' }, state))
    return { user, record }
  }
  return { database, engine, stopped, world, reconciler, person }
}

const containerOf = (id: string, owner: RuntimeContainer['owner'], state: string) =>
  container({ id, name: `b-${owner?.slug}-dev`, owner, state })

/** A container of ours whose owner is not in the store. */
export const ghost = (at: number) =>
  containerOf(`ghost${at}`, { userId: 1_000 + at, slug: `ghost${at}`, type: 'dev' }, 'running')
