import { ReadableStream as NodeStream } from 'node:stream/web'
import { BackupProblem } from './backup-format.ts'

type Bytes = AsyncIterable<Uint8Array>

/** End of the names of files that are encrypted. */
export const encryptedEnd = '.age'

/**
 * Encrypts to public keys of age (age-encryption.org/v1): the machine that makes backups cannot read them.
 * @throws {BackupProblem} for a recipient that is no public key of age
 */
export async function encryptor(recipients: readonly string[]): Promise<(content: Bytes) => Bytes> {
  if (recipients.length === 0) return (content) => content
  // Loaded on demand: other commands do without its memory.
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (error) {
      throw new BackupProblem(`${recipient.slice(0, 80)} is no public key of age: age1...`, error)
    }
  }
  return async function* (content) {
    yield* await encrypter.encrypt(streamOf(content))
  }
}

/**
 * Decrypts what was encrypted to a public key of the identity.
 * @param identity text of the identity file: lines that begin with `#` are comments
 * @throws {BackupProblem} for a text without an identity; reading throws it for one that does not fit
 */
export async function decryptor(identity: string): Promise<(content: Bytes) => Bytes> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  const keys = identity
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
  if (keys.length === 0) throw new BackupProblem('the identity file has no line AGE-SECRET-KEY-...')
  for (const key of keys) decrypter.addIdentity(key)
  return async function* (content) {
    try {
      yield* await decrypter.decrypt(streamOf(content))
    } catch (error) {
      throw new BackupProblem('the backup cannot be decrypted with this identity', error)
    }
  }
}

/** Node's type of web streams and the standard library's are the same at run time. */
const streamOf = (content: Bytes) => NodeStream.from(content) as unknown as ReadableStream<Uint8Array>
