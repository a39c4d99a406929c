import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Why a runtime could not do it.
 * - `unreachable`: the engine did not answer, or not in time; nothing is known about the world.
 * - `missing`: no such container.
 * - `conflict`: the name is taken.
 * - `image`: the image is neither here nor to be had.
 * - `full`: there is no room for it, as when no network has an address left; what else there is runs on.
 * - `lost`: the machine that it runs on does not answer the engine, so it is not known whether it still runs; only this
 *   container is concerned.
 * - `failed`: the engine answered that it cannot.
 */
export type RuntimeErrorKind = 'unreachable' | 'missing' | 'conflict' | 'image' | 'full' | 'lost' | 'failed'

export class RuntimeError extends Error {
  readonly kind: RuntimeErrorKind
  /**
   * For `full`: the limit that is used up, as its owner may read it, with its name; undefined where room itself is
   * short.
   */
  readonly limit: string | undefined

  /** @param message what was being done, e.g. `create berth-ann-dev`; the engine's words are in the cause */
  constructor(kind: RuntimeErrorKind, message: string, cause?: unknown, limit?: string) {
    super(message, { cause })
    this.name = 'RuntimeError'
    this.kind = kind
    this.limit = limit
  }
}

/** `full` because the network of the container has no address or port left: one on another network may start. */
export class NetworkFull extends RuntimeError {
  constructor(message: string, cause?: unknown) {
    super('full', message, cause)
    this.name = 'NetworkFull'
  }
}

/** `failed` because of a folder of this machine that the container mounts; what to do about it is not up to its owner alone. */
export class FolderUnusable extends RuntimeError {
  /** `silent`: its file system does not answer. `missing`: it is not there, or not to be used. */
  readonly why: 'silent' | 'missing'

  constructor(why: FolderUnusable['why'], message: string, cause?: unknown) {
    super('failed', message, cause)
    this.name = 'FolderUnusable'
    this.why = why
  }
}

/** `missing` because a home has nothing at a path. */
export class NothingThere extends RuntimeError {
  constructor(message: string) {
    super('missing', message)
    this.name = 'NothingThere'
  }
}

/** How long an answer is waited for, and the pause between two attempts, in ms. */
const [retryTime, pause] = [20_000, 500]

/**
 * Reads again while the API server gives no answer, for 20 s: to one who waits for the start or the end of a pod, an
 * answer that is late or the refusal of an overloaded server says nothing about the pod.
 * @throws {RuntimeError} the last `unreachable` after that time, any other at once; the reason of the signal
 */
export async function readWithRetries<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const end = performance.now() + retryTime; ;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'unreachable' || performance.now() > end) throw error
    }
    await sleep(pause, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
  }
}
