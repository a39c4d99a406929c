import { createPrivateKey, createPublicKey } from 'node:crypto'

/** The host key of the SSH server: Ed25519 (RFC 8709). */
export interface HostKey {
  /** In OpenSSH's format (PROTOCOL.key). */
  readonly privateText: string
  /** `ssh-ed25519` and the key in base64. */
  readonly publicText: string
}

/** What stands before the 32 bytes of a private key in PKCS #8 (RFC 8410, 7). */
const pkcs8Start = Buffer.from('302e020100300506032b657004220420', 'hex')
const type = 'ssh-ed25519'

/**
 * The key that follows from 32 bytes. They come from the secret of the installation, so that the host key is kept,
 * backed up and restored with the other keys, is the same on each node, and stays when signing keys are replaced.
 */
export function hostKeyFrom(secret: Buffer): HostKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Start, secret]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const point = Buffer.from(x, 'base64url')
  const blob = Buffer.concat([field(type), field(point)])
  return { privateText: openSshKey(secret, point, blob), publicText: `${type} ${blob.toString('base64')}` }
}

function openSshKey(secret: Buffer, point: Buffer, blob: Buffer): string {
  // The two numbers tell a wrong passphrase; there is none.
  const check = Buffer.from('0000002a0000002a', 'hex')
  const content = Buffer.concat([check, field(type), field(point), field(Buffer.concat([secret, point])), field('')])
  const padding = Buffer.from(Array.from({ length: (8 - (content.length % 8)) % 8 }, (_, index) => index + 1))
  const one = Buffer.from('00000001', 'hex')
  const head = [Buffer.from('openssh-key-v1\0'), field('none'), field('none'), field(''), one]
  const whole = Buffer.concat([...head, field(blob), field(Buffer.concat([content, padding]))]).toString('base64')
  const lines = whole.match(/.{1,70}/g) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

/** A string as SSH writes it (RFC 4251, 5). */
function field(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
