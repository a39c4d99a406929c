import type { Runtime } from '#/runtime/runtime.ts'
import { RuntimeError } from '#/runtime/runtime.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import type { Templates } from './template.ts'

/**
 * The words of the specification's status fields. They are computed here and nowhere else; every other word is the
 * engine's own (running, exited, paused, ...).
 */
export const statusWords = {
  /** list: no record, or none with an engine id */
  notCreated: 'not_created',
  /** the engine no longer has it */
  notFound: 'not_found',
  /** status endpoint: no engine id */
  noContainer: 'no_container',
  /** me endpoint: no engine id */
  unknown: 'unknown',
  /** the look-up failed */
  error: 'error',
} as const

/** What the engine says of one container, or that it could not be asked. Never throws: reading must not fail with it. */
export async function lookUpStatus(
  runtime: Runtime,
  containerId: string,
): Promise<{ state: string } | { failure: string }> {
  try {
    const instance = await runtime.inspectId(containerId)
    return { state: instance?.state ?? statusWords.notFound }
  } catch (error) {
    return { failure: detailOf(error) }
  }
}

/** A reason that may be shown to users: no address, no path, nothing of the engine's own words. */
function detailOf(error: unknown): string {
  const isUnreachable = error instanceof RuntimeError && error.kind === 'unreachable'
  return isUnreachable ? 'the container engine does not answer' : 'the container engine could not look it up'
}

/**
 * The record that `me`, `status` and the auth response speak of: the first type's when it has a container, else the
 * user's oldest one that has.
 */
export function primaryOf(records: readonly UserContainer[], templates: Templates): UserContainer | undefined {
  const created = records.filter((record) => record.containerId !== null)
  return created.find((record) => record.type === templates.first.type) ?? created[0]
}
