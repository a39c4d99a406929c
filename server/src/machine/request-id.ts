import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

const context = new AsyncLocalStorage<string | undefined>()

/** Header that only the gateway sends; it drops a client's. */
const header = 'x-berth-request-id'

/** Header of every answer with the id of its request. */
export const requestIdHeader = 'x-request-id'

/** Id that the gateway gave a request; a new one for a request of another listener. */
export const requestIdFrom = (headers: Readonly<Record<string, string | string[] | undefined>>): string => {
  const sent = headers[header]
  return typeof sent === 'string' && sent !== '' ? sent : randomUUID()
}

/** Runs work, with all that it awaits, for a request: log lines carry its id. Undefined: for none. */
export function runForRequest<T>(id: string | null | undefined, work: () => T): T {
  // In JSON between the processes an argument that is left out is null.
  return context.run(id ?? undefined, work)
}

/** Runs work that outlives the request that caused it, such as a loop: its log lines carry no id. */
export function runForNoRequest<T>(work: () => T): T {
  return context.run(undefined, work)
}

/** Fields that pino adds to every line (`mixin`). */
export function requestFields(): { request_id?: string } {
  const id = context.getStore()
  return id ? { request_id: id } : {}
}
