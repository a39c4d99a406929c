import type { Logger } from 'pino'
import type { Language } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Owner } from '#/accounts/sessions/session-list.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteSshKey,
  findSshKey,
  insertSshKey,
  listSshKeysOf,
  noteSshKeyUsed,
  sshKeyEntry,
  type StoredSshKey,
} from '#/store/ssh-keys.ts'
import { lockUser, type User } from '#/store/users.ts'
import { newKeyEmail, type MailLook } from './mail/link-email.ts'
import type { Mailer } from './mail/mailer.ts'
import { OwnChangeLimit } from './own-change-limit.ts'
import { parseSshKey } from './ssh-public-key.ts'

/** Keys of one account. */
const maxPerUser = 20
/** How far `last_used` may be behind, in ms. */
const maxLag = 60_000

export interface SshKeysParts {
  readonly database: Database
  readonly mailer: Mailer
  /** Address of the front end. */
  readonly frontendUrl: string
  readonly mailLook: MailLook | undefined
  readonly log: Pick<Logger, 'warn'>
}

/** Who adds a key, and from where. */
export interface KeyOwner extends Owner {
  readonly language: Language
}

/** Public keys by which people reach their own containers over SSH. */
export class SshKeys {
  readonly #parts: SshKeysParts
  readonly #changes = new OwnChangeLimit()
  readonly #listeners: ((key: StoredSshKey) => void)[] = []

  constructor(parts: SshKeysParts) {
    this.#parts = parts
  }

  /** @param listener called when a key is gone; must not throw */
  onRemoved(listener: (key: StoredSshKey) => void): void {
    this.#listeners.push(listener)
  }

  /** All keys of a user, newest first. */
  list(userId: number): Promise<StoredSshKey[]> {
    return listSshKeysOf(this.#parts.database.db, userId)
  }

  /**
   * Adds a key of this user, who asks, and tells them by mail: a key that another person added is noticed. A mail that
   * is not accepted is a warning in the log.
   * @param text a line of a `.pub` file @param title of the key; its comment when it is empty
   * @throws {Refusal} 400 no such key · 404 user gone · 409 it is there already, or 20 are · 429 too many changes
   */
  async add(owner: KeyOwner, title: string, text: string, now: Date): Promise<StoredSshKey> {
    const { database } = this.#parts
    const parsed = parseSshKey(text)
    if ('problem' in parsed) throw refusals.badRequest(message(`ssh.${parsed.problem}Key`))
    this.#changes.count(owner.id)
    const named = title.trim() || parsed.comment || parsed.type
    const added = await database.transaction(async (tx) => {
      // Two requests at once would both find room for the last key.
      if (!(await lockUser(tx, owner.id))) throw refusals.userGone()
      const known = await listSshKeysOf(tx, owner.id)
      if (known.some(({ fingerprint }) => fingerprint === parsed.fingerprint))
        throw refusals.conflict(message('ssh.knownKey'))
      if (known.length >= maxPerUser) throw refusals.conflict(message('ssh.tooManyKeys', { max: maxPerUser }))
      const { type, fingerprint } = parsed
      const blob = parsed.blob.toString('base64')
      const key = await insertSshKey(tx, { userId: owner.id, title: named, type, blob, fingerprint, createdAt: now })
      await insertAuditEntries(tx, [sshKeyEntry('ssh.add-key', owner, key, now)])
      return key
    })
    void this.#tell(owner, added)
    return added
  }

  /**
   * Removes a key of this user, who asks. Sessions that began with it are ended.
   * @throws {Refusal} 404 none of theirs
   */
  async remove(owner: Owner, id: number, now: Date): Promise<void> {
    const removed = await this.#parts.database.transaction(async (tx) => {
      const key = await deleteSshKey(tx, id, owner.id)
      if (!key) throw refusals.notFound('sshKey')
      await insertAuditEntries(tx, [sshKeyEntry('ssh.remove-key', owner, key, now)])
      return key
    })
    for (const listener of this.#listeners) listener(removed)
  }

  /** The key with this fingerprint of the user with this slug, at the same cost whether there is one or not. */
  find(slug: string, fingerprint: string): Promise<{ readonly key: StoredSshKey; readonly owner: User } | undefined> {
    return findSshKey(this.#parts.database.db, slug, fingerprint)
  }

  /** Notes a use, once a minute at most. */
  async noteUse({ id, lastUsed }: StoredSshKey, now: Date): Promise<void> {
    if (lastUsed && now.getTime() - lastUsed.getTime() < maxLag) return
    await tryOrLog(this.#parts.log, 'noting the use of an SSH key', () =>
      noteSshKeyUsed(this.#parts.database.db, id, now),
    )
  }

  async #tell({ email, address, language }: KeyOwner, { title, fingerprint }: StoredSshKey): Promise<void> {
    const { mailer, frontendUrl, mailLook, log } = this.#parts
    const mail = newKeyEmail({ to: email, title, fingerprint, address, frontendUrl, language, look: mailLook })
    await tryOrLog(log, 'telling of a new SSH key by mail', () => mailer.send(mail))
  }
}
