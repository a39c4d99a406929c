import type { Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'

/** Verbs that change something. */
const orders: ReadonlySet<string> = new Set<keyof Runtime>([
  'prepare',
  'fetchImage',
  'create',
  'start',
  'pause',
  'stop',
  'remove',
  'removeStopped',
  'removeHome',
])

/** Those after which the engine may give an address of before to another container. */
const addressOrders: ReadonlySet<string> = new Set<keyof Runtime>(['create', 'start'])

export interface OrderFence {
  readonly mayOrder: () => boolean
  /** Resolves when no gateway may serve by a state of before any more, and the host has its rules. */
  readonly settled: () => Promise<void>
}

/**
 * A runtime that takes orders of the leader alone: an engine cannot compare epochs, so the lease is checked in the moment in
 * which an order is sent. Reads pass, and so do files: they are put between a creation and a start.
 */
export function fencedRuntime(runtime: Runtime, { mayOrder, settled }: OrderFence): Runtime {
  const fenced =
    (verb: string, order: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      if (addressOrders.has(verb)) await settled()
      if (!mayOrder()) throw new RuntimeError('unreachable', `${verb}: this node does not lead any more`)
      return order(...args)
    }
  return new Proxy(runtime, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || typeof name !== 'string' || !orders.has(name)) return value
      return fenced(name, value.bind(target) as (...args: unknown[]) => Promise<unknown>)
    },
  })
}
