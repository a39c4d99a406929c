import type { BegunSession } from '#/accounts/sessions/begin-session.ts'
import { setLatest } from '#/machine/recent-counts.ts'
import type { Db } from '#/store/database.ts'
import { findSessionBySid } from '#/store/sessions.ts'
import { findUser, type User } from '#/store/users.ts'

/** For how long a link may be used again, in ms: a browser or person tries again within it. */
const repeatTime = 20_000
/** Max uses that are remembered; of more the oldest are forgotten. */
const maxUses = 1_000

interface Use {
  readonly browserId: string
  readonly userId: number
  readonly begun: BegunSession
  /** Of `performance.now()`. */
  readonly until: number
}

/**
 * Uses of links whose answer may have been lost on its way: the page that sent it may repeat it for some seconds, and
 * gets the same session again. Only a document of ours in the same browser can, by its proof; whom the link was stolen
 * by has none. In memory: after a restart a link that was used stays used.
 */
export class RepeatedUses {
  readonly #db: Db
  readonly #uses = new Map<string, Use>()

  constructor(db: Db) {
    this.#db = db
  }

  /** @param key of the link and its purpose */
  remember(key: string, browserId: string, userId: number, begun: BegunSession): void {
    setLatest(this.#uses, key, { browserId, userId, begun, until: performance.now() + repeatTime }, maxUses)
  }

  /** The session that this browser began by this link; undefined when it is over, or was used so that its cookie changed. */
  async find(key: string, browserId: string): Promise<{ user: User; begun: BegunSession } | undefined> {
    const use = this.#uses.get(key)
    if (!use || use.browserId !== browserId || use.until <= performance.now()) return undefined
    const session = await findSessionBySid(this.#db, use.begun.sid)
    const user = await findUser(this.#db, use.userId)
    if (!user || user.isBlocked || !session || session.endedAt || (session.generation ?? 0) !== 0) return undefined
    return { user, begun: use.begun }
  }
}
