import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createOnce } from '@berth/server/accounts/sessions/signing-keys.ts'
import {
  BackupProblem,
  manifestName,
  readManifestText,
  signatureName,
  sumsName,
  sumsOf,
  type Manifest,
} from './backup-format.ts'

/**
 * Name of the private key in the data folder. It is in no backup: who can read one, with the keys in it, could sign another one.
 */
export const backupKeyName = 'backup-key.pem'

/** Signs manifests of backups, which have the sums of all their parts (Ed25519, RFC 8032). */
export interface BackupSigner {
  /** As `Manifest.signedBy` has it. */
  readonly publicKey: string
  /** @returns the 64 bytes of the signature */
  sign(manifest: string): Buffer
}

/** Whose backups are accepted. */
export interface BackupTrust {
  /** Public keys of those who may have signed it. */
  readonly keys: readonly string[]
  /** Whether a backup without a signature is accepted, as earlier versions made them. */
  readonly acceptUnsigned: boolean
}

/**
 * The signer of this installation. Its key is made at the first call, readable by its owner only. Nodes with a secret have one key
 * that follows from it (RFC 5869): their data folders may be empty at each start, and each node reads what another one has made.
 * @param dataDir an existing folder @param nodeSecret `NODE_SECRET`
 * @throws {BackupProblem} when the file is no such key · what reading and writing it throws
 */
export async function backupSigner(dataDir: string, nodeSecret: string | null = null): Promise<BackupSigner> {
  if (nodeSecret !== null) return signerOf(keyOfNodes(nodeSecret))
  const file = path.join(dataDir, backupKeyName)
  const text = await createOnce(file, async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  })
  return signerOf(privateKeyOf(text, file))
}

/**
 * The public keys of this installation, without making one: that of its file, and that of its nodes.
 * @returns none on a new machine @throws as `backupSigner`
 */
export async function ownPublicKeys(dataDir: string, nodeSecret: string | null): Promise<readonly string[]> {
  const file = path.join(dataDir, backupKeyName)
  const ofNodes = nodeSecret === null ? [] : [signerOf(keyOfNodes(nodeSecret)).publicKey]
  try {
    return [...ofNodes, signerOf(privateKeyOf(await readFile(file, 'utf8'), file)).publicKey]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ofNodes
    throw error
  }
}

/** The files of a complete backup beside its parts, by their names: the manifest with its signer, the signature, the sums. */
export function signedFiles(manifest: Manifest, signer: BackupSigner): ReadonlyMap<string, string | Buffer> {
  const text = `${JSON.stringify({ ...manifest, signedBy: signer.publicKey }, undefined, 2)}\n`
  return new Map<string, string | Buffer>([
    [manifestName, text],
    [signatureName, signer.sign(text)],
    [sumsName, sumsOf(text, manifest.parts)],
  ])
}

/**
 * The manifest of a backup whose author is known.
 * @throws {BackupProblem} as `readManifest`; when it has no signature, unless that is accepted; when it was changed after it had been
 * signed; when none of the keys of `trust` signed it
 */
export async function readSignedManifest(folder: string, trust: BackupTrust): Promise<Manifest> {
  const { text, manifest } = await readManifestText(folder)
  const signature = await readSignature(folder)
  const { signedBy } = manifest
  if (signedBy === undefined || signature === undefined) {
    if (trust.acceptUnsigned) return manifest
    throw new BackupProblem(
      `nothing proves who made the backup: ${signedBy === undefined ? 'it is not signed' : `its signature, ${signatureName}, is missing`}. ` +
        'Nothing was changed. Earlier versions signed none; restore one with --accept-unsigned if you know that no other account could change it',
    )
  }
  if (!verify(null, Buffer.from(text), parsePublicKey(signedBy), signature))
    throw new BackupProblem(
      `the signature of ${folder} is not that of its ${manifestName}: one of them was changed after the backup had been made. Nothing was changed by this restore`,
    )
  if (!trust.keys.includes(signedBy)) throw unknownSigner(signedBy, trust)
  return manifest
}

function unknownSigner(signedBy: string, { keys }: BackupTrust): BackupProblem {
  const known = keys.length === 0 ? 'this installation has no key yet' : `accepted is ${keys.join(' and ')}`
  return new BackupProblem(
    `the backup was signed by another key, ${signedBy}; ${known}. Nothing was changed. Compare it with what ` +
      '`berth backup --public-key` printed where the backup was made, and name that one with --signed-by',
  )
}

async function readSignature(folder: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path.join(folder, signatureName))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new BackupProblem(`the signature of the backup cannot be read: ${message}`)
  }
}

const prefix = 'ed25519:'
/** Bytes of a public key. */
const keyLength = 32

/** @throws {BackupProblem} when the text is no public key, as `berth backup --public-key` prints it */
export function parsePublicKey(text: string): KeyObject {
  const x = text.slice(prefix.length)
  const isKey = text.startsWith(prefix) && /^[\w-]+$/.test(x) && Buffer.from(x, 'base64url').length === keyLength
  if (!isKey) throw new BackupProblem(`${text.slice(0, 80)} is no public key of backups: ${prefix}...`)
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

function signerOf(privateKey: KeyObject): BackupSigner {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { publicKey: `${prefix}${x}`, sign: (manifest) => sign(null, Buffer.from(manifest), privateKey) }
}

/** What comes before the 32 bytes of a private key of Ed25519 in PKCS #8 (RFC 8410, 7). */
const pkcs8Start = Buffer.from('302e020100300506032b657004220420', 'hex')

function keyOfNodes(secret: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'berth backup signature', 32))
  return createPrivateKey({ key: Buffer.concat([pkcs8Start, seed]), format: 'der', type: 'pkcs8' })
}

function privateKeyOf(text: string, file: string): KeyObject {
  try {
    const key = createPrivateKey(text)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // The words are the same for every text that is no such key.
  }
  throw new BackupProblem(
    `${file} is no private key of Ed25519. Put the one back that it was, or remove it: the next backup makes another, and earlier backups need --signed-by`,
  )
}
