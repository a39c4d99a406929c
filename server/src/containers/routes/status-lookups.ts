import pLimit from 'p-limit'
import { withTimeout } from '#/machine/try-or-log.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import { Coalescer } from '#/machine/coalescer.ts'
import type { Templates } from '#/templates/template.ts'

/**
 * Words of the specification's status fields, computed here alone; every other word is the engine's own (running,
 * exited, paused, ...).
 */
export const statusWords = {
  /** list: no record, or none with an engine id */
  notCreated: 'not_created',
  /** the engine no longer has it */
  notFound: 'not_found',
  /** the engine keeps no stopped containers, and has none of it */
  stopped: 'exited',
  /** status endpoint: no engine id */
  noContainer: 'no_container',
  /** me endpoint: no engine id */
  unknown: 'unknown',
  /** the look-up failed */
  error: 'error',
} as const

/** Max parallel look-ups for readers; a thousand polling pages leave the engine capacity for launches. */
const maxParallel = 32
/** Timeout of a look-up, including the wait for its slot, in ms. */
const lookUpTimeout = 3_000
/** Timeout of one call for several containers before each is looked up by itself, in ms. */
const listTimeout = 1_500

/** The engine's word for the state of a container, or why it could not be asked. */
export type StatusLookup = { readonly state: string } | { readonly failure: string }

/**
 * Looks up the status of containers for readers. The engine is asked each time; requests for the same container share
 * one look-up that began after they arrived, so a container has two in progress at most. A look-up that hangs delays
 * its own requests by 3 s and no others.
 */
export class StatusLookups {
  readonly #runtime: Pick<Runtime, 'inspectId' | 'list' | 'capabilities'>
  /** Word for a container that the engine does not have. */
  readonly #absent: string
  readonly #limit = pLimit(maxParallel)
  readonly #one = new Coalescer((id) => this.#limit(() => this.#inspect(id)))
  readonly #several = new Coalescer((ids) => this.#limit(() => this.#list(ids)))

  constructor(runtime: Pick<Runtime, 'inspectId' | 'list' | 'capabilities'>) {
    this.#runtime = runtime
    this.#absent = runtime.capabilities.keepsStopped ? statusWords.notFound : statusWords.stopped
  }

  /** Never throws: reading must not fail with it. */
  async of(containerId: string): Promise<StatusLookup> {
    return (await withTimeout(lookUpTimeout, this.#one.run(containerId))) ?? { failure: unreachableReason }
  }

  /**
   * One engine call for all; when that is not answered, one for each, so that one that hangs does not hide the others.
   * Never throws. @returns by id
   */
  async ofEach(ids: readonly string[]): Promise<ReadonlyMap<string, StatusLookup>> {
    if (ids.length === 0) return new Map()
    const listed = await withTimeout(listTimeout, this.#several.run(ids.join()))
    if (listed) return listed
    return new Map(await Promise.all(ids.map(async (id) => [id, await this.of(id)] as const)))
  }

  async #inspect(id: string): Promise<StatusLookup> {
    try {
      return { state: (await this.#runtime.inspectId(id))?.state ?? this.#absent }
    } catch (error) {
      return { failure: detailOf(error) }
    }
  }

  async #list(joined: string): Promise<ReadonlyMap<string, StatusLookup> | undefined> {
    const ids = joined.split(',')
    try {
      const states = new Map((await this.#runtime.list({ ids })).map(({ id, state }) => [id, state]))
      return new Map(ids.map((id) => [id, { state: states.get(id) ?? this.#absent }]))
    } catch {
      // Each is looked up by itself then, which gives its reason.
      return undefined
    }
  }
}

const unreachableReason = 'the container engine does not answer'

/** A reason for users: no address, no path, no text of the engine. */
function detailOf(error: unknown): string {
  const isUnreachable = error instanceof RuntimeError && error.kind === 'unreachable'
  return isUnreachable ? unreachableReason : 'the container engine could not look it up'
}

/**
 * The record that `me`, `status` and the auth response describe: the first type's when it has a container, else the
 * user's oldest with one.
 */
export function primaryOf(records: readonly UserContainer[], templates: Templates): UserContainer | undefined {
  const created = records.filter((record) => record.containerId !== null)
  return created.find((record) => record.type === templates.first.type) ?? created[0]
}
