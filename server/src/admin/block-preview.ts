import { listContainersOf, type UserContainer } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { countTakeovers } from '#/store/session-ends.ts'
import type { Actor } from '#/accounts/actor.ts'
import { refuseSelfAndLast, requireUser } from '#/accounts/guards.ts'

/** Effects that blocking a user would have now. */
export interface BlockPreview {
  /** Takeovers by and of this user, which would end. Their own sessions end, too, and their tokens explain the block. */
  readonly sessions: number
  readonly containers: {
    readonly record: UserContainer
    /** Would be stopped. */
    readonly isRunning: boolean
  }[]
}

/** Dry run of `UserBlocking.blockUser`: reads the present state and changes nothing. */
export class BlockPreviews {
  readonly #db: Db
  readonly #isRunning: (record: UserContainer) => boolean

  /** @param isRunning whether a container runs or is paused, as far as is known */
  constructor(db: Db, isRunning: (record: UserContainer) => boolean) {
    this.#db = db
    this.#isRunning = isRunning
  }

  /** @throws {Refusal} 404 · 409 as the block itself */
  async preview(actor: Actor, id: number, now: Date): Promise<BlockPreview> {
    const user = await requireUser(this.#db, id)
    await refuseSelfAndLast(this.#db, actor, user, 'block')
    const records = await listContainersOf(this.#db, id)
    return {
      sessions: await countTakeovers(this.#db, id, now),
      containers: records.map((record) => ({ record, isRunning: this.#isRunning(record) })),
    }
  }
}
