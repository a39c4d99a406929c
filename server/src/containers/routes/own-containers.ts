import pLimit from 'p-limit'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { Coalescer } from '#/machine/single-flight.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import type { Db } from '#/store/database.ts'
import type { HomeFault } from '#/containers/home-folder-watch.ts'
import type { IdleOutlook } from '#/containers/idle/idle-outlook.ts'
import { folderText, listContainersOf, type ContainerRef, type UserContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import type { Template, Templates } from '#/templates/template.ts'

/** Record of the primary container, and its state by the engine; no record when nothing was created. */
export interface PrimaryContainer {
  readonly record: UserContainer | undefined
  /** Undefined when there is no container id to look up. */
  readonly lookup: StatusLookup | undefined
}

/** Containers of one user as that user reads them: records of the store with the state that the engine reports. */
export class OwnContainers {
  readonly #db: Db
  readonly #templates: Templates
  readonly #rules: Pick<LaunchRules, 'visible' | 'foldersFor' | 'endedFor'>
  readonly #lookups: Pick<StatusLookups, 'of' | 'ofEach'>
  readonly #notes: ContainerNotes

  constructor(
    db: Db,
    templates: Templates,
    rules: Pick<LaunchRules, 'visible' | 'foldersFor' | 'endedFor'>,
    lookups: Pick<StatusLookups, 'of' | 'ofEach'>,
    notes: ContainerNotes,
  ) {
    this.#db = db
    this.#templates = templates
    this.#rules = rules
    this.#lookups = lookups
    this.#notes = notes
  }

  /** The record that the auth response names, see `primaryOf`; the engine is not asked. */
  async primaryRecord(userId: number): Promise<UserContainer | undefined> {
    return primaryOf(await listContainersOf(this.#db, userId), this.#templates)
  }

  /** The container that `me` and `status` describe, see `primaryOf`. @throws when the store fails, never because of the engine */
  async primary(userId: number): Promise<PrimaryContainer> {
    const record = await this.primaryRecord(userId)
    const id = record?.containerId ?? null
    return { record, lookup: id === null ? undefined : await this.#lookups.of(id) }
  }

  /** One entry for each configured type that the user may see, see `listContainers`. */
  async list(user: Pick<User, 'id' | 'isAdmin'>, now: Date): Promise<ListedContainer[]> {
    const visible = await this.#rules.visible(user)
    const records = await listContainersOf(this.#db, user.id)
    const listed = await listContainers(this.#lookups, visible, records, this.#notes)
    // They are the same in all types that show them.
    const showing = listed.find((each) => isUp(each) && each.template.groupFolders !== null)
    const folders = showing ? await this.#rules.foldersFor(user.id, showing.template) : []
    const ended = await this.#rules.endedFor(user.id, visible, now)
    return listed.map((each) => {
      const wanted = folderText(each.template.groupFolders === null ? [] : folders)
      const isOutdated = each.record !== undefined && isUp(each) && wanted !== each.record.groupFolders
      return { ...each, isOutdated, endedGroup: ended.get(each.template.type) }
    })
  }
}

/** What is known of containers in memory alone. */
export interface ContainerNotes {
  /** Whether its owner is asked to restart it, by the engine's id. */
  isRestartAsked(containerId: string): boolean
  /** When it is suspended if it is not used any more; undefined: it does not run, or never is. */
  idleOf(owned: ContainerRef): IdleOutlook | undefined
  /** Why it cannot use its home on a file server; undefined while nothing is known to be wrong. */
  homeFaultOf(owned: ContainerRef): HomeFault | undefined
}

/** One configured type of a user, with the record and the status when there are any. */
export interface ListedContainer {
  readonly template: Template
  readonly record: UserContainer | undefined
  readonly status: string
  /** An administrator asks its owner to restart it, because it is of an older version. */
  readonly isRestartAsked: boolean
  /** When it is suspended if it is not used any more; undefined where it is not. */
  readonly idle: IdleOutlook | undefined
  readonly homeFault: HomeFault | undefined
  /** Whether it runs with other folders of groups than a start would give it now. */
  readonly isOutdated: boolean
  /** Name of the group of its owner whose end keeps it from being launched. */
  readonly endedGroup: string | undefined
}

type Listed = Omit<ListedContainer, 'isOutdated' | 'endedGroup'>

const isUp = ({ status }: Pick<Listed, 'status'>) => status === 'running' || status === 'paused'

/**
 * One entry per given type, in the given order. Asks the engine once, whatever the number of types, and not
 * at all when nothing was created; each container by itself when that is not answered. Source: specification, `GET /api/user/containers`.
 */
async function listContainers(
  statuses: Pick<StatusLookups, 'ofEach'>,
  templates: readonly Template[],
  records: readonly UserContainer[],
  notes: ContainerNotes,
): Promise<Listed[]> {
  const types = new Set(templates.map(({ type }) => type))
  const seen = records.filter(({ type }) => types.has(type))
  const found = await statuses.ofEach(seen.flatMap(({ containerId }) => containerId ?? []))
  const recordByType = new Map(records.map((record) => [record.type, record]))
  return templates.map((template) => {
    const record = recordByType.get(template.type)
    const id = record?.containerId ?? null
    const status = statusOf(record, found)
    // The next start of a stopped one brings the new version without being asked for it.
    const mayBeAsked = isUp({ status })
    const isRestartAsked = id !== null && mayBeAsked && notes.isRestartAsked(id)
    const idle = record && mayBeAsked ? notes.idleOf(record) : undefined
    const homeFault = record && mayBeAsked ? notes.homeFaultOf(record) : undefined
    return { template, record, status, isRestartAsked, idle, homeFault }
  })
}

function statusOf(record: UserContainer | undefined, found: ReadonlyMap<string, StatusLookup>): string {
  if (!record?.containerId) return statusWords.notCreated
  const status = found.get(record.containerId)
  return status && 'state' in status ? status.state : statusWords.error
}

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
function primaryOf(records: readonly UserContainer[], templates: Templates): UserContainer | undefined {
  const created = records.filter((record) => record.containerId !== null)
  return created.find((record) => record.type === templates.first.type) ?? created[0]
}

/** Max containers of which it is known; the oldest are forgotten. */
const maxKept = 50_000

/**
 * Containers whose owners are asked to restart them, by the engine's id, so that a new one is asked for nothing. In memory: after a
 * restart of Berth an administrator asks again.
 */
export class RestartRequests {
  readonly #ids = new Set<string>()

  has(containerId: string): boolean {
    return this.#ids.has(containerId)
  }

  /** Ids of containers, up to this number. */
  first(max: number): string[] {
    return [...this.#ids.values().take(max)]
  }

  /** Asks for these, or withdraws that. */
  set(containerIds: readonly string[], isAsked: boolean): void {
    for (const id of containerIds) {
      this.#ids.delete(id)
      if (isAsked) this.#ids.add(id)
    }
    for (const oldest of this.#ids) {
      if (this.#ids.size <= maxKept) return
      this.#ids.delete(oldest)
    }
  }
}
