import { createHash, createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto'

/**
 * Public keys of SSH: what a person may add, and whether a signature is theirs. Sources: RFC 4253 6.6 (blobs), RFC 5656
 * (ECDSA), RFC 8332 (RSA with SHA-2), RFC 8709 (Ed25519), OpenSSH PROTOCOL.u2f (`sk-`).
 */

/** Max characters of a line: an RSA key of 8,192 bits has about 1,400. */
const maxLine = 8_192
/** Bits of an RSA key: below, it can be broken; above, each signature costs the server ms. */
const rsaBits = { min: 2_048, max: 8_192 } as const

/** What OpenSSH calls each curve, what JWK does, the bytes of a coordinate, and the hash of a signature. */
const curves = {
  'ecdsa-sha2-nistp256': { ssh: 'nistp256', jwk: 'P-256', size: 32, hash: 'sha256' },
  'ecdsa-sha2-nistp384': { ssh: 'nistp384', jwk: 'P-384', size: 48, hash: 'sha384' },
  'ecdsa-sha2-nistp521': { ssh: 'nistp521', jwk: 'P-521', size: 66, hash: 'sha512' },
  'sk-ecdsa-sha2-nistp256@openssh.com': { ssh: 'nistp256', jwk: 'P-256', size: 32, hash: 'sha256' },
} as const
type CurveType = keyof typeof curves

/** Why a text is no key that may be added. */
export type SshKeyProblem = 'unreadable' | 'type' | 'small' | 'large' | 'private'

/** A key that may be added. */
export interface SshPublicKey {
  /** First word of its line. */
  readonly type: string
  readonly blob: Buffer
  /** As OpenSSH writes it. */
  readonly fingerprint: string
  /** What stands behind it in its line, such as `ann@laptop`; empty when nothing does. */
  readonly comment: string
  readonly key: KeyObject
  /** Of a security key: what it was made for (`ssh:`), which is part of what it signs. */
  readonly application: string | null
}

/** Reads a line as in `authorized_keys`, without options before it, or in a file with the ending `.pub`. */
export function parseSshKey(text: string): SshPublicKey | { readonly problem: SshKeyProblem } {
  if (/PRIVATE KEY/.test(text)) return { problem: 'private' }
  const [, type = '', encoded = '', comment = ''] =
    /^([\w@.-]+)[ \t]+([A-Za-z0-9+/]+=*)(?:[ \t]+(.*))?$/.exec(text.trim()) ?? []
  if (text.length > maxLine || type === '') return { problem: 'unreadable' }
  const key = readSshKey(type, Buffer.from(encoded, 'base64'))
  return 'problem' in key
    ? key
    : {
        ...key,
        comment: comment
          .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
          .trim()
          .slice(0, 100),
      }
}

/** The same from its blob alone, which has its type inside. */
export function readSshKey(type: string, blob: Buffer): SshPublicKey | { readonly problem: SshKeyProblem } {
  const fields = fieldsOf(blob)
  if (fields?.[0]?.toString('latin1') !== type) return { problem: 'unreadable' }
  const read = readers.get(type)
  if (!read) return { problem: 'type' }
  try {
    const found = read(fields.slice(1), type)
    if (typeof found === 'string') return { problem: found }
    const key = createPublicKey({ key: found.jwk, format: 'jwk' })
    return { type, blob, fingerprint: fingerprintOf(blob), comment: '', key, application: found.application ?? null }
  } catch {
    // A point that is not on its curve, for one.
    return { problem: 'unreadable' }
  }
}

export const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

/** What a client sent to prove that it has a key. */
export interface SshSignature {
  /** Name of the signature, such as `rsa-sha2-512`. */
  readonly algorithm: string
  /** Without that name; of a security key with flags and counter behind it. */
  readonly bytes: Buffer
  /** What was signed. */
  readonly data: Buffer
}

/** Whether the signature is by this key. Never throws. */
export function isSignedBy(key: SshPublicKey, { algorithm, bytes, data }: SshSignature): boolean {
  try {
    if (key.type === 'ssh-rsa') {
      const hash = rsaHashes.get(algorithm)
      return hash !== undefined && verify(hash, data, key.key, bytes)
    }
    if (algorithm !== key.type) return false
    if (key.application !== null) return isSignedBySecurityKey(key, key.application, bytes, data)
    if (key.type === 'ssh-ed25519') return bytes.length === 64 && verify(null, data, key.key, bytes)
    // ssh2 gives ECDSA signatures in DER.
    return verify(curves[key.type as CurveType].hash, data, key.key, bytes)
  } catch {
    return false
  }
}

/** RSA with SHA-1 (`ssh-rsa`) is none of them. */
const rsaHashes = new Map([
  ['rsa-sha2-256', 'sha256'],
  ['rsa-sha2-512', 'sha512'],
])

/** Flag of the authenticator: its owner touched it. */
const wasTouched = 0x01

function isSignedBySecurityKey(key: SshPublicKey, application: string, bytes: Buffer, data: Buffer): boolean {
  const [signature, rest] = [bytes.subarray(0, bytes.length - 5), bytes.subarray(bytes.length - 5)]
  if (rest.length !== 5 || ((rest[0] ?? 0) & wasTouched) === 0) return false
  const hash = (what: string | Buffer) => createHash('sha256').update(what).digest()
  const signed = Buffer.concat([hash(application), rest, hash(data)])
  if (key.type.startsWith('sk-ssh-ed25519')) return signature.length === 64 && verify(null, signed, key.key, signature)
  const [r, s, ...more] = fieldsOf(signature) ?? []
  if (!r || !s || more.length > 0) return false
  const both = Buffer.concat([paddedNumber(r, 32), paddedNumber(s, 32)])
  return verify('sha256', signed, { key: key.key, dsaEncoding: 'ieee-p1363' }, both)
}

interface ReadKey {
  readonly jwk: JsonWebKey
  readonly application?: string
}
type Reader = (fields: readonly Buffer[], type: string) => ReadKey | SshKeyProblem

const encoded = (bytes: Buffer) => bytes.toString('base64url')

const readEd25519: Reader = ([point, application, ...more], type) => {
  const isSecurityKey = type.startsWith('sk-')
  if (point?.length !== 32 || (application !== undefined) !== isSecurityKey || more.length > 0) return 'unreadable'
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: encoded(point) }
  return { jwk, ...(application && { application: application.toString() }) }
}

const readEcdsa: Reader = ([name, point, application, ...more], type) => {
  const curve = curves[type as CurveType]
  const isSecurityKey = type.startsWith('sk-')
  if (name?.toString('latin1') !== curve.ssh || (application !== undefined) !== isSecurityKey || more.length > 0)
    return 'unreadable'
  // 4: both coordinates follow (SEC 1, 2.3.3).
  if (point?.length !== 1 + 2 * curve.size || point[0] !== 4) return 'unreadable'
  const [x, y] = [point.subarray(1, 1 + curve.size), point.subarray(1 + curve.size)]
  const jwk = { kty: 'EC', crv: curve.jwk, x: encoded(x), y: encoded(y) }
  return { jwk, ...(application && { application: application.toString() }) }
}

const readRsa: Reader = ([exponent, modulus, ...more]) => {
  if (!exponent || !modulus || more.length > 0) return 'unreadable'
  const [e, n] = [withoutZeros(exponent), withoutZeros(modulus)]
  const bits = n.length === 0 ? 0 : n.length * 8 - Math.clz32(n[0] ?? 0) + 24
  if (bits < rsaBits.min) return 'small'
  if (bits > rsaBits.max) return 'large'
  // A large exponent makes each verification slow; every program takes 65537.
  if (e.length === 0 || e.length > 4) return 'unreadable'
  return { jwk: { kty: 'RSA', n: encoded(n), e: encoded(e) } }
}

const readers = new Map<string, Reader>([
  ['ssh-ed25519', readEd25519],
  ['sk-ssh-ed25519@openssh.com', readEd25519],
  ['ssh-rsa', readRsa],
  ...Object.keys(curves).map((type) => [type, readEcdsa] as const),
])

const withoutZeros = (number: Buffer): Buffer => number.subarray(number.findIndex((byte) => byte !== 0))

function paddedNumber(number: Buffer, size: number): Buffer {
  const bytes = withoutZeros(number)
  return Buffer.concat([Buffer.alloc(Math.max(0, size - bytes.length)), bytes])
}

/** The strings that a blob consists of (RFC 4251, 5); undefined when it is cut off. */
function fieldsOf(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  for (let at = 0; at < blob.length;) {
    if (at + 4 > blob.length) return undefined
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) return undefined
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}
