/**
 * Why a runtime could not do it.
 * - `unreachable`: the engine did not answer, or not in time; nothing is known about the world.
 * - `missing`: no such container.
 * - `conflict`: the name is taken.
 * - `image`: the image is neither here nor to be had.
 * - `full`: there is no room for it, as when no network has an address left; what else there is runs on.
 * - `failed`: the engine answered that it cannot.
 */
export type RuntimeErrorKind = 'unreachable' | 'missing' | 'conflict' | 'image' | 'full' | 'failed'

export class RuntimeError extends Error {
  readonly kind: RuntimeErrorKind

  /** @param message what was being done, e.g. `create berth-ann-dev`; the engine's words are in the cause */
  constructor(kind: RuntimeErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RuntimeError'
    this.kind = kind
  }
}
