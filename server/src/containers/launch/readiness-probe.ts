import { connect } from 'node:net'
import { answersReady, readinessTarget } from '@berth/gateway/basics/readiness-request.ts'
import type { Template } from '#/templates/template.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** Min and max pause between two attempts, and timeout of one attempt, in ms. */
const [minPause, maxPause, connectTimeout] = [5, 1_000, 1_000]
/** A pause as a share of the time since the first attempt: by so much more is noticed late that an app is ready. */
const pauseShare = 0.1

/** What an app is asked before it counts as ready. */
export interface ReadinessTarget {
  readonly path: string
  readonly usesTls: boolean
}

/** How long the app may take to answer, where it is asked, in ms. */
const answerTimeout = 5_000

/**
 * Readiness probe: tries with backoff until the app accepts TCP connections; it sends no bytes, so that it does not
 * disturb the app. With a target, until a GET of it is answered below 500.
 * @param timeout ms @param first the first attempt, when it was made already @returns false when the timeout or the signal comes first
 */
export async function waitForReadiness(
  app: { readonly host: string; readonly port: number },
  timeout: number,
  signal: AbortSignal,
  target?: ReadinessTarget,
  first?: Promise<boolean>,
): Promise<boolean> {
  const begun = performance.now()
  if (await first) return !signal.aborted
  while (!signal.aborted) {
    if (await isReadyNow(app, target)) return !signal.aborted
    const elapsed = performance.now() - begun
    const pause = Math.min(Math.max(elapsed * pauseShare, minPause), maxPause)
    if (elapsed + pause > timeout) return false
    await sleep(pause, undefined, { ref: false, signal }).catch(() => undefined)
  }
  return false
}

/** One attempt. Never rejects. */
export function isReadyNow(
  { host, port }: { readonly host: string; readonly port: number },
  target: ReadinessTarget | undefined,
): Promise<boolean> {
  if (target === undefined) return accepts(host, port)
  return answersReady({ host, port }, target.path, answerTimeout, target.usesTls)
}

async function accepts(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  const limit = setTimeout(() => resolve(false), connectTimeout).unref()
  socket.unref()
  socket.once('connect', () => resolve(true)).on('error', () => resolve(false))
  try {
    return await promise
  } finally {
    clearTimeout(limit)
    socket.destroy()
  }
}

/** What the app of a container has to answer before it is ready; undefined: its port is enough. @param hasOwnHost subdomain routing */
export function readinessTargetOf(
  template: Pick<Template, 'readyPath' | 'stripPrefix' | 'scheme'> | undefined,
  prefix: string | undefined,
  hasOwnHost: boolean,
): ReadinessTarget | undefined {
  if (!template || template.readyPath === null || prefix === undefined) return undefined
  const path = readinessTarget(template.readyPath, prefix, hasOwnHost || template.stripPrefix)
  return { path, usesTls: template.scheme === 'https' }
}
