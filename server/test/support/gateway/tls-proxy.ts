import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import tls from 'node:tls'
import { promisify } from 'node:util'
import type { Lifetime } from '../berth.ts'

/** What stands before a Berth that people reach by https. */
export interface TlsProxy {
  readonly port: number
  /** Where bytes go from now on. */
  leadTo(port: number): void
}

/** Ends TLS on a free port of the loopback, with an untrusted certificate, and passes bytes on as they are. */
export async function startTlsProxy(lifetime: Lifetime, host: string): Promise<TlsProxy> {
  let target = 0
  const server = tls.createServer(await selfSigned(host), (outer) => {
    const inner = net.connect(target, '127.0.0.1')
    for (const socket of [outer, inner]) socket.on('error', () => {})
    outer.pipe(inner).pipe(outer)
    outer.once('close', () => inner.destroy())
    inner.once('close', () => outer.destroy())
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  lifetime.after(async () => void server.close())
  return { port: (server.address() as AddressInfo).port, leadTo: (port) => (target = port) }
}

/** @returns a key and an untrusted certificate for the host */
export async function selfSigned(host: string): Promise<{ key: Buffer; cert: Buffer }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-tls-'))
  try {
    const { key, cert } = await writeSelfSigned(folder, host)
    return { key: await readFile(key), cert: await readFile(cert) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Writes a key and an untrusted certificate for the host. @returns the paths of the files */
export async function writeSelfSigned(folder: string, host: string): Promise<{ key: string; cert: string }> {
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${host}`
  const files = ['-keyout', key, '-out', cert]
  await promisify(execFile)('openssl', [...words.split(' '), '-addext', `subjectAltName=DNS:${host}`, ...files])
  return { key, cert }
}
