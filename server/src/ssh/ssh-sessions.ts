import type { Logger } from 'pino'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import type { SshKeys } from '#/accounts/ssh-keys.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { Containers, RouteStatus } from '#/containers/open-containers.ts'
import { maxPerUser, type StreamRegistry } from '#/containers/stream-registry.ts'
import { Refusal } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
import type { BegunSession, OpenedContainer, SshClient, SshControl, SshListener } from './ssh-protocol.ts'

/** Lines about clients that left without proof, within a minute; a flood of them must not fill the log. */
const [maxFailureLines, failureWindow] = [30, 60_000]
/** Max characters of a name in a line of the log, which its client chose. */
const maxLoggedName = 60

/** What a terminal shows, in the default language: that of the client is not known. */
const say = (words: LocalizedMessage): string => localize(defaultLanguage, words)

interface SshSession {
  readonly userId: number
  readonly slug: string
  readonly type: string
  readonly keyId: number
  /** Whether its container ran already. */
  isOpened: boolean
  /** Why it was ended; undefined while it lasts. */
  over: LocalizedMessage | undefined
  /** Gives its place free. */
  readonly leave: () => void
}

export interface SshSessionsParts {
  readonly database: Database
  readonly keys: SshKeys
  readonly containers: Containers
  readonly streams: StreamRegistry
  /** The SSH process; undefined while it does not run. */
  readonly listener: () => Pick<SshListener, 'endSessions' | 'setPaused'> | undefined
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/**
 * Who may come in over SSH, and what becomes of it: sessions begin with a key of their owner, launch and wake as pages
 * do, and end with what allowed them.
 */
export class SshSessions implements SshControl {
  readonly #parts: SshSessionsParts
  readonly #sessions = new Map<number, SshSession>()
  readonly #changes = new OwnChangeLimit()
  #lastId = 0
  #failures = { since: 0, count: 0 }

  constructor(parts: SshSessionsParts) {
    this.#parts = parts
    parts.keys.onRemoved(({ id }) => this.#endWhere(({ keyId }) => keyId === id, message('ssh.keyEnded')))
    parts.containers.routeSync.onChange({
      onStatus: ({ userId, type, isStopRequested }, status) => this.#onStatus(userId, type, status, isStopRequested),
      onGone: ({ userId, type }) => this.#endOpened(userId, type, message('ssh.containerGone')),
    })
  }

  async mayUse(name: string, fingerprint: string): Promise<boolean> {
    return (await this.#parts.keys.find(partsOf(name).slug, fingerprint)) !== undefined
  }

  async begin({ name, fingerprint, address }: SshClient): Promise<BegunSession> {
    const { slug, type } = partsOf(name)
    const found = await this.#parts.keys.find(slug, fingerprint)
    if (!found) return { refusal: say(message('ssh.keyEnded')) }
    try {
      return { session: await this.#begin(found.owner, { slug, type, fingerprint, address }) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const isFull = error.status === 429 || error.status === 503
      this.#parts.log.info({ address, user: found.owner.id, why: error.message }, 'SSH: a session was refused')
      return { refusal: isFull ? fullWords(error) : error.message }
    }
  }

  async open(id: number): Promise<OpenedContainer> {
    const session = this.#sessions.get(id)
    const { database, containers, log } = this.#parts
    if (!session) return { refusal: say(message('ssh.accessEnded')) }
    // The SSH process hears of an end only from when it has the session.
    if (session.over) return { refusal: say(session.over) }
    const { userId, type } = session
    try {
      const user = await findUser(database.db, userId)
      if (!user || user.isBlocked) return { refusal: say(message('ssh.blocked')) }
      const { containerId } = await containers.launch.launch(user, type, new Date())
      session.isOpened = true
      containers.activity.used({ userId, type }, Date.now())
      return { containerId, home: containers.templates.get(type)?.home ?? '' }
    } catch (error) {
      if (error instanceof Refusal) return { refusal: error.message }
      log.error({ err: error, userId, type }, 'SSH: a container could not be opened')
      return { refusal: say(message('ssh.engineFailed')) }
    }
  }

  async wake(id: number): Promise<void> {
    const session = this.#sessions.get(id)
    if (session) await this.#parts.containers.wake.wake(containerPrefix(session.slug, session.type), 'use')
  }

  reportUse(sessions: readonly number[]): void {
    const now = Date.now()
    for (const id of sessions) {
      const session = this.#sessions.get(id)
      if (session) this.#parts.containers.activity.used({ userId: session.userId, type: session.type }, now)
    }
  }

  end(id: number): void {
    this.#sessions.get(id)?.leave()
    this.#sessions.delete(id)
  }

  reportFailure(address: string, name: string): void {
    const now = performance.now()
    if (now - this.#failures.since > failureWindow) {
      const left = this.#failures.count - maxFailureLines
      if (left > 0) this.#parts.log.warn({ count: left }, 'SSH: further clients left without having proved a key')
      this.#failures = { since: now, count: 0 }
    }
    if (++this.#failures.count > maxFailureLines) return
    const logged = name.replace(/[^\x20-\x7e]/g, '?').slice(0, maxLoggedName)
    this.#parts.log.warn({ address, name: logged }, 'SSH: a client left without having proved a key')
  }

  report(problem: string): void {
    this.#parts.log.error(`the SSH process: ${problem}`)
  }

  /** The SSH process is gone, and all sessions with it. */
  forgetAll(): void {
    for (const id of this.#sessions.keys()) this.end(id)
  }

  async #begin(
    owner: User,
    { slug, type, fingerprint, address }: { slug: string; type: string; fingerprint: string; address: string },
  ): Promise<number> {
    const { database, keys, streams, log } = this.#parts
    if (owner.isBlocked) throw new Refusal(403, message('ssh.blocked'))
    this.#changes.count(owner.id)
    const id = ++this.#lastId
    const end = () => this.#end([id], message('ssh.accessEnded'))
    const leave = streams.open('ssh', { userId: owner.id, sid: '' }, end)
    try {
      // A key that is removed, and an account that is blocked, from now on end the session; before, they are seen here.
      const still = await keys.find(slug, fingerprint)
      if (!still || still.owner.isBlocked) throw new Refusal(403, message('ssh.keyEnded'))
      const { key } = still
      const session: SshSession = {
        userId: owner.id,
        slug,
        type,
        keyId: key.id,
        isOpened: false,
        over: undefined,
        leave,
      }
      this.#sessions.set(id, session)
      const now = new Date()
      const actor = { id: owner.id, email: owner.email, address }
      const detail = { type, key: key.id, title: key.title, fingerprint }
      const entry = { at: now, actor, action: 'ssh.session', target: `user:${owner.id}`, detail } as const
      await database.transaction((tx) => insertAuditEntries(tx, [entry]))
      await keys.noteUse(key, now)
      if (session.over) throw new Refusal(403, session.over)
      log.info({ address, user: owner.id, type, key: key.id }, 'SSH: a session begins')
      return id
    } catch (error) {
      this.#sessions.delete(id)
      leave()
      throw error
    }
  }

  #onStatus(userId: number, type: string, status: RouteStatus, isStopRequested: boolean): void {
    if (status === 'running' || status === 'paused') {
      const ids = this.#idsWhere((each) => each.userId === userId && each.type === type)
      if (ids.length > 0) this.#parts.listener()?.setPaused(ids, status === 'paused')
      return
    }
    const words = endOf(status, isStopRequested)
    if (words) this.#endOpened(userId, type, words)
  }

  #endOpened(userId: number, type: string, why: LocalizedMessage): void {
    this.#endWhere((each) => each.isOpened && each.userId === userId && each.type === type, why)
  }

  #endWhere(isMeant: (session: SshSession) => boolean, why: LocalizedMessage): void {
    this.#end(this.#idsWhere(isMeant), why)
  }

  #idsWhere(isMeant: (session: SshSession) => boolean): number[] {
    return [...this.#sessions].filter(([, session]) => isMeant(session)).map(([id]) => id)
  }

  #end(ids: readonly number[], why: LocalizedMessage): void {
    for (const id of ids) {
      const session = this.#sessions.get(id)
      if (session) session.over ??= why
    }
    if (ids.length > 0) this.#parts.listener()?.endSessions(ids, say(why))
  }
}

/** The first hyphen ends the slug. A name of another form has an empty slug, which no user has, so that it costs as much. */
function partsOf(name: string): { readonly slug: string; readonly type: string } {
  const [, slug = '', type = ''] = /^([a-z0-9]{1,64})-(.{1,100})$/.exec(name) ?? []
  return { slug, type }
}

const fullWords = (error: Refusal): string => {
  if (error.code === 'tooManyStreams') return say(message('ssh.tooManySessions', { max: maxPerUser.ssh }))
  return error.code === 'streamsFull' ? say(message('ssh.tooManySessionsOfAll')) : error.message
}

/** What a terminal reads when its container does not run any more; undefined where it may still run. */
function endOf(status: RouteStatus, isStopRequested: boolean): LocalizedMessage | undefined {
  switch (status) {
    case 'running':
    case 'paused':
    case 'unknown':
    case 'node-lost':
      return undefined
    case 'blocked':
      return message('ssh.containerBlocked')
    case 'missing':
      return message('ssh.containerGone')
    case 'asleep':
      return isStopRequested ? message('ssh.containerStopped') : message('ssh.containerIdle')
    case 'evicted':
      return message('ssh.containerEvicted')
    default:
      return message('ssh.containerFailed')
  }
}
