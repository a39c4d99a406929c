import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'

/** Messages of an agent (draft-ietf-sshm-ssh-agent). */
const [failure, identities, signRequest] = [5, 11, 13]

/** An agent with one security key, which no machine of a test has. */
export interface KeyAgent {
  readonly socket: string
  /** Line of the public key. */
  readonly line: string
  /** Whether signatures say that its owner touched it. */
  touch(isTouched: boolean): void
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const string = (content: Buffer | string): Buffer =>
  Buffer.concat([number(Buffer.byteLength(content)), Buffer.from(content)])
const hash = (what: Buffer | string): Buffer => createHash('sha256').update(what).digest()
/** A positive number (RFC 4251, 5). */
const positive = (bytes: Buffer): Buffer => string((bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)

/** Starts it at a Unix socket. Signatures are as OpenSSH's PROTOCOL.u2f has them. */
export async function startKeyAgent(
  t: TestContext,
  type: 'sk-ssh-ed25519@openssh.com' | 'sk-ecdsa-sha2-nistp256@openssh.com',
  socket: string,
): Promise<KeyAgent> {
  const isEd25519 = type === 'sk-ssh-ed25519@openssh.com'
  const { publicKey, privateKey } = isEd25519
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const [left, right] = [x, y].map((text) => Buffer.from(text, 'base64url')) as [Buffer, Buffer]
  const point = isEd25519 ? [string(left)] : [string('nistp256'), string(Buffer.concat([Buffer.of(4), left, right]))]
  const blob = Buffer.concat([string(type), ...point, string('ssh:')])
  let isTouched = true
  const signatureOf = (data: Buffer) => {
    const rest = Buffer.concat([Buffer.of(isTouched ? 1 : 0), number(9)])
    const signed = Buffer.concat([hash('ssh:'), rest, hash(data)])
    if (isEd25519) return Buffer.concat([string(type), string(sign(null, signed, privateKey)), rest])
    const both = sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    const pair = Buffer.concat([positive(both.subarray(0, 32)), positive(both.subarray(32))])
    return Buffer.concat([string(type), string(pair), rest])
  }
  const answerTo = (request: Buffer): Buffer => {
    if (request[0] === identities)
      return Buffer.concat([Buffer.of(identities + 1), number(1), string(blob), string('key')])
    if (request[0] !== signRequest) return Buffer.of(failure)
    const start = 1 + 4 + request.readUInt32BE(1)
    const data = request.subarray(start + 4, start + 4 + request.readUInt32BE(start))
    return Buffer.concat([Buffer.of(signRequest + 1), string(signatureOf(data))])
  }
  const server = createServer((client) => {
    let read = Buffer.alloc(0)
    client.on('error', () => undefined)
    client.on('data', (bytes: Buffer) => {
      read = Buffer.concat([read, bytes])
      while (read.length >= 4 && read.length >= 4 + read.readUInt32BE()) {
        const end = 4 + read.readUInt32BE()
        client.write(string(answerTo(read.subarray(4, end))))
        read = read.subarray(end)
      }
    })
  })
  t.after(() => server.close())
  server.listen(socket)
  await once(server, 'listening')
  return {
    socket,
    line: `${type} ${blob.toString('base64')} ann@key`,
    touch: (wasTouched) => void (isTouched = wasTouched),
  }
}
