import type { Logger } from 'pino'
import type { Actor } from '#/accounts/actor.ts'
import type { OpenStreams, StreamOwner } from '#/containers/open-streams.ts'
import type { UserEvent, UserEvents } from '#/containers/user-events.ts'
import { Refusal } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { listMemberRoles } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { requireManaged } from './group-rights.ts'
import { GroupView, type GroupViewer, type Roles } from './group-view.ts'
import type { MemberStates } from './member-states.ts'

/** Max members whose state a page shows, the first by id; the list of members has all. */
const maxMembers = 2_000
const pageSize = 500
/** Between two checks of rights, members and presence, in ms. */
const reviewInterval = 30_000
/** Delay of a check after a change that this process made, in ms: many may join within a second. */
const reviewDelay = 1_000

export interface GroupWatchParts {
  readonly db: Db
  readonly events: Pick<UserEvents, 'observe'>
  readonly streams: Pick<OpenStreams, 'open'>
  readonly states: MemberStates
  readonly log: Pick<Logger, 'warn'>
}

/** A group that its manager may watch, as the store has it. */
export interface WatchedGroup {
  readonly group: Group
  readonly roles: Roles
}

/**
 * Open pages of groups: passes on what happens to members. Rights and members are checked again every 30 s, and a second after
 * this process has changed them. Without an open page there is no timer, and events of users are not looked at.
 */
export class GroupWatch {
  readonly #parts: GroupWatchParts
  /** With who watches. */
  readonly #views = new Map<GroupView, Pick<Actor, 'id'>>()
  #stopObserving: (() => void) | undefined
  #interval: NodeJS.Timeout | undefined
  #soon: NodeJS.Timeout | undefined

  constructor(parts: GroupWatchParts) {
    this.#parts = parts
  }

  /** @throws {Refusal} 404 no such group · 403 */
  async find(actor: Pick<Actor, 'id'>, groupId: number): Promise<WatchedGroup> {
    const { db } = this.#parts
    const group = await requireManaged(db, actor, groupId)
    const roles = new Map<number, 'member' | 'manager'>()
    for (let after = 0; roles.size < maxMembers;) {
      const page = await listMemberRoles(db, groupId, { limit: pageSize, after })
      for (const { userId, role } of page) roles.set(userId, role)
      after = page.at(-1)?.userId ?? after
      if (page.length < pageSize) break
    }
    return { group, roles }
  }

  /** Sends the viewer all states, and then what changes. @returns ends it @throws {Refusal} 429, 503 as `OpenStreams.open` */
  begin({ group, roles }: WatchedGroup, owner: StreamOwner, viewer: GroupViewer): () => void {
    const view = new GroupView(group, roles, this.#parts.states, viewer, owner.userId)
    const close = this.#parts.streams.open('groups', owner, () => this.#end(view))
    this.#views.set(view, { id: owner.userId })
    this.#follow()
    view.start()
    return () => {
      close()
      this.#end(view)
    }
  }

  /** Groups or memberships have changed. */
  reviewSoon(): void {
    if (this.#views.size > 0) this.#soon ??= setTimeout(() => void this.#review(), reviewDelay).unref()
  }

  #follow(): void {
    this.#stopObserving ??= this.#parts.events.observe({
      onEvent: (userId, event) => this.#note(userId, isPosition(event)),
      onPresence: (userId) => this.#note(userId, false),
    })
    this.#interval ??= setInterval(() => void this.#review(), reviewInterval).unref()
  }

  #note(userId: number, isPositionOnly: boolean): void {
    for (const view of this.#views.keys()) view.note(userId, isPositionOnly)
  }

  #end(view: GroupView): void {
    this.#views.delete(view)
    view.end()
    if (this.#views.size > 0) return
    this.#stopObserving?.()
    clearInterval(this.#interval)
    clearTimeout(this.#soon)
    this.#stopObserving = this.#interval = this.#soon = undefined
  }

  /** Ends pages of users who have lost their rights: their next request says so. A store that fails decides nothing. */
  async #review(): Promise<void> {
    clearTimeout(this.#soon)
    this.#soon = undefined
    for (const [view, actor] of this.#views)
      try {
        const { group, roles } = await this.find(actor, view.groupId)
        view.update(group, roles)
      } catch (error) {
        if (error instanceof Refusal) this.#end(view)
        else this.#parts.log.warn({ err: error, group: view.groupId }, 'reading the members of a watched group failed')
      }
  }
}

/** Positions of all queued launches are published every second. */
const isPosition = ({ name, data }: UserEvent) => name === 'launch' && data.stage === 'queued'
