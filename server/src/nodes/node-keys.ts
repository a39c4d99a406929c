import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { SigningKeys, loadSigningKeys, replaceFile, signingKeyFile } from '#/accounts/sessions/signing-keys.ts'
import type { NodeDb } from '#/store/node-tables.ts'
import type { NodeCipher } from './node-cipher.ts'

const name = 'signing keys'

/**
 * The signing keys of all nodes: those of the database count, and the file in the data folder is a copy, for backups, and for
 * an installation that becomes a single node again. The first leader brings those of its file.
 * @param db by connections of the leader, so that no earlier leader writes @throws as `loadSigningKeys` and `NodeCipher.read`
 */
export async function sharedSigningKeys(db: NodeDb, cipher: NodeCipher, dataDir: string): Promise<SigningKeys> {
  const stored = await cipher.read(db, name)
  const file = path.join(dataDir, signingKeyFile)
  if (stored !== undefined) await replaceFile(file, stored)
  const keys = await loadSigningKeys(dataDir, (text) => cipher.write(db, name, text))
  if (stored === undefined) await cipher.write(db, name, await readFile(file, 'utf8'))
  return keys
}

/** Those of the database, to verify with. @throws as `NodeCipher.read`, and when no node has led yet */
export async function readSigningKeys(db: NodeDb, cipher: NodeCipher): Promise<SigningKeys> {
  const stored = await cipher.read(db, name)
  if (stored === undefined) throw new Error('no node has stored signing keys')
  // Only a text without a next key would be written anew, and no leader stores one.
  return SigningKeys.read({ file: '' }, stored)
}

/** Brings the copy in the data folder of a follower up to date. @throws as `NodeCipher.read`, and when it cannot be written */
export async function copySigningKeys(db: NodeDb, cipher: NodeCipher, dataDir: string): Promise<void> {
  const stored = await cipher.read(db, name)
  const file = path.join(dataDir, signingKeyFile)
  if (stored !== undefined && stored !== (await readFile(file, 'utf8').catch(() => undefined)))
    await replaceFile(file, stored)
}
