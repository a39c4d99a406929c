import type { RuntimeContainer } from '#/engines/runtime.ts'
import {
  plan,
  defaultGracePeriods,
  type Action,
  type Desired,
  type GracePeriods,
  type Memory,
} from '#/containers/reconcile/plan.ts'

/** Cases of the plan. User 7 has a container of type dev, called `b-ann-dev`, with the id `aaa`, unless a case differs. */

export const now = 10_000_000
export const day = 86_400_000
export const { remove, forget, down } = defaultGracePeriods

export const record = (fields: Partial<Desired> = {}): Desired => ({
  recordId: 1,
  userId: 7,
  slug: 'ann',
  type: 'dev',
  name: 'b-ann-dev',
  containerId: 'aaa',
  isBlocked: false,
  isConfigured: true,
  shouldRun: true,
  lastUse: now - day,
  ...fields,
})

/** A record of a container that its owner stopped. */
export const asleep = (fields: Partial<Desired>) => record({ shouldRun: false, ...fields })

export const container = (fields: Partial<RuntimeContainer> = {}): RuntimeContainer => ({
  id: 'aaa',
  name: 'b-ann-dev',
  owner: { userId: 7, slug: 'ann', type: 'dev' },
  state: 'running',
  address: null,
  port: 8080,
  exitCode: null,
  imageId: 'image',
  isOutOfMemory: false,
  startedAt: null,
  endedAt: null,
  fingerprint: null,
  ...fields,
})

export const renamed = container({ id: 'bbb', name: 'something-else' })
export const oldAnn = { userId: 7, slug: 'annabel', type: 'dev' }

export interface Case {
  readonly desired?: Desired[]
  readonly observed?: RuntimeContainer[]
  /** By key, how long the condition has held, in ms. */
  readonly held?: Record<string, number>
  readonly memory?: Partial<Memory>
  readonly graces?: Partial<GracePeriods>
  /** Expected actions: kind and subject. */
  readonly actions: string[]
}

export function planOf({ desired = [record()], observed = [container()], held = {}, memory = {}, graces = {} }: Case) {
  const since = new Map(Object.entries(held).map(([key, age]) => [key, now - age]))
  return plan(desired, observed, memoryWith({ since, ...memory }), now, { ...defaultGracePeriods, ...graces })
}

export const memoryWith = (fields: Partial<Memory>): Memory => ({
  since: new Map(),
  isFirstListing: false,
  isBlind: false,
  restoring: new Set(),
  ...fields,
})

export function format(action: Action): string {
  switch (action.kind) {
    case 'adopt':
      return `adopt ${action.container.id}`
    case 'stop':
    case 'remove':
      return `${action.kind} ${action.container.id}: ${action.why}`
    case 'retire':
      return `retire ${action.recordId}`
    case 'forget':
      return `forget ${action.recordId}`
    case 'note':
      return `note ${action.recordId}: ${action.shouldRun ? 'run' : 'stay stopped'}`
    case 'restore':
      return 'restore'
  }
}
