import type { Selectable } from 'kysely'
import type { AuditEntry } from './audit-log.ts'
import type { Db } from './database.ts'
import type { SshKeysTable } from './schema.ts'
import { fromRow as userFromRow, type User } from './users.ts'

/** A public key of a user. */
export interface StoredSshKey {
  readonly id: number
  readonly userId: number
  readonly title: string
  /** As in the first word of its line, such as `ssh-ed25519`. */
  readonly type: string
  /** SHA-256 of the blob, as OpenSSH writes it: `SHA256:` and base64. */
  readonly fingerprint: string
  readonly createdAt: Date
  /** A minute behind at most; null when it was never used. */
  readonly lastUsed: Date | null
}

export type NewSshKey = Omit<StoredSshKey, 'id' | 'lastUsed'> & {
  /** The key itself in base64 (RFC 4253, 6.6). */
  readonly blob: string
}

export async function insertSshKey(tx: Db, key: NewSshKey): Promise<StoredSshKey> {
  const row = await tx
    .insertInto('ssh_keys')
    .values({
      user_id: key.userId,
      title: key.title,
      key_type: key.type,
      blob: key.blob,
      fingerprint: key.fingerprint,
      created_at: key.createdAt.getTime(),
      last_used: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Those of a user, newest first; there are as many as `SshKeys` lets a user have. */
export async function listSshKeysOf(db: Db, userId: number): Promise<StoredSshKey[]> {
  const rows = await db.selectFrom('ssh_keys').selectAll().where('user_id', '=', userId).orderBy('id', 'desc').execute()
  return rows.map(fromRow)
}

/**
 * The key with this fingerprint of the user with this slug, with its owner, in one query, which takes as long for an
 * unknown slug.
 */
export async function findSshKey(
  db: Db,
  slug: string,
  fingerprint: string,
): Promise<{ readonly key: StoredSshKey; readonly owner: User } | undefined> {
  const row = await db
    .selectFrom('ssh_keys')
    .innerJoin('users', 'users.id', 'ssh_keys.user_id')
    .selectAll('users')
    .select([
      'ssh_keys.id as key_id',
      'ssh_keys.title',
      'ssh_keys.key_type',
      'ssh_keys.fingerprint',
      'ssh_keys.created_at as key_created_at',
      'ssh_keys.last_used as key_last_used',
    ])
    .where('ssh_keys.fingerprint', '=', fingerprint)
    .where('users.slug', '=', slug)
    .executeTakeFirst()
  if (!row) return undefined
  const key = fromRow({
    id: row.key_id,
    user_id: row.id,
    title: row.title,
    key_type: row.key_type,
    fingerprint: row.fingerprint,
    created_at: row.key_created_at,
    last_used: row.key_last_used,
  })
  return { key, owner: userFromRow(row) }
}

/** @returns the key of this user that was there */
export async function deleteSshKey(tx: Db, id: number, userId: number): Promise<StoredSshKey | undefined> {
  const row = await tx
    .deleteFrom('ssh_keys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Moves `last_used` forward. */
export async function noteSshKeyUsed(db: Db, id: number, at: Date): Promise<void> {
  await db.updateTable('ssh_keys').set({ last_used: at.getTime() }).where('id', '=', id).execute()
}

function fromRow(row: Omit<Selectable<SshKeysTable>, 'blob'>): StoredSshKey {
  return {
    id: row.id,
    userId: row.user_id,
    title: row.title,
    type: row.key_type,
    fingerprint: row.fingerprint,
    createdAt: new Date(row.created_at),
    lastUsed: row.last_used === null ? null : new Date(row.last_used),
  }
}

/** Audit entry about a key of SSH; its target is the owner. */
export const sshKeyEntry = (
  action: 'ssh.add-key' | 'ssh.remove-key',
  actor: AuditEntry['actor'],
  { id, userId, title, fingerprint }: StoredSshKey,
  at: Date,
): AuditEntry => ({ at, actor, action, target: `user:${userId}`, detail: { key: id, title, fingerprint } })
