import { fencedRuntime } from '#/nodes/fenced-runtime.ts'
import type { AppParts } from './app-parts.ts'

/** The parts of an application that serves before the host is prepared. */
export interface HeldStarts {
  /** Their runtime begins to create and start containers when `allow` was called. */
  readonly parts: AppParts
  allow(): void
}

/** Containers are started on a host with its rules alone, while a node that takes over answers requests before they are looked at. */
export function holdStarts(parts: AppParts): HeldStarts {
  const allowed = Promise.withResolvers<void>()
  const runtime = fencedRuntime(parts.runtime, { mayOrder: () => true, settled: () => allowed.promise })
  return { parts: { ...parts, runtime }, allow: () => allowed.resolve() }
}
