import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { archiveOf, askEngine } from './engine.ts'
import type { Lifetime } from '../berth.ts'

/** A registry with one image that exposes port 8081. Engines take registries on 127.0.0.0/8 without TLS. */
export interface Registry {
  readonly image: string
  /** How many are being handed the files right now. */
  waiting(): number
  /** Hands out at full speed. */
  open(): void
}

export interface RegistryOptions {
  /** Hands out half of each file in a second, and then byte by byte until `open`. */
  readonly isSlow?: boolean
  /** Size of each layer, in bytes. */
  readonly layers?: readonly number[]
  /** Asks for credentials, and accepts these: `name:password`. */
  readonly account?: string
}

export async function startRegistry(
  lifetime: Lifetime,
  { isSlow = false, layers = [4_096], account }: RegistryOptions = {},
): Promise<Registry> {
  const blobs = await makeImage(layers)
  const gate = Promise.withResolvers<void>()
  if (!isSlow) gate.resolve()
  let waiting = 0
  const server = createServer((request, response) => {
    const { authorization } = request.headers
    if (account !== undefined && authorization !== `Basic ${Buffer.from(account).toString('base64')}`)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="berth"' }).end('{}')
    const found = blobs.get(request.url?.split('/').at(-1) ?? '')
    if (found?.type !== types.layer) return answer(found, request, response)
    waiting++
    response.on('close', () => waiting--)
    void drip(response, found.data, gate.promise)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const image = `127.0.0.1:${(server.address() as AddressInfo).port}/berth/tiny:1`
  lifetime.after(async () => {
    gate.resolve()
    server.close()
    server.closeAllConnections()
    await askEngine('DELETE', `/images/${image}`, { query: { force: 'true' } }).catch(() => undefined)
  })
  return { image, waiting: () => waiting, open: gate.resolve }
}

/** Tag or digest to what it stands for. Source: Docker's registry API, version 2, schema 2. */
type Blobs = Map<string, Blob>

interface Blob {
  readonly type: string
  readonly data: Buffer
}

const types = {
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
}

async function makeImage(layers: readonly number[]): Promise<Blobs> {
  const blobs: Blobs = new Map()
  const add = (type: string, data: Buffer, ...tags: string[]) => {
    for (const key of [digestOf(data), ...tags]) blobs.set(key, { type, data })
    return { mediaType: type, size: data.length, digest: digestOf(data) }
  }
  const archives = await Promise.all(layers.map(someFiles))
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Cmd: ['/nothing'], ExposedPorts: { '8081/tcp': {} } },
    rootfs: { type: 'layers', diff_ids: archives.map(digestOf) },
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: add(types.config, Buffer.from(JSON.stringify(config))),
    layers: archives.map((archive) => add(types.layer, gzipSync(archive))),
  }
  add(types.manifest, Buffer.from(JSON.stringify(manifest)), '1')
  return blobs
}

/** Different each time, so that the engine cannot have them already. */
async function someFiles(size: number): Promise<Buffer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-layer-'))
  try {
    writeFileSync(path.join(folder, 'file'), randomBytes(size))
    return await archiveOf(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function answer(found: Blob | undefined, { url, method }: IncomingMessage, response: ServerResponse): void {
  // The first question is whether this is a registry at all.
  if (!found) return void response.writeHead(url === '/v2/' ? 200 : 404).end('{}')
  const { type, data } = found
  response.writeHead(200, {
    'content-type': type,
    'content-length': data.length,
    'docker-content-digest': digestOf(data),
  })
  response.end(method === 'HEAD' ? undefined : data)
}

/**
 * Half of it bit by bit, so that the engine tells of it, then byte by byte: an engine to which nothing comes notices only
 * afterwards that it was told to stop.
 */
async function drip(response: ServerResponse, data: Buffer, opening: Promise<void>): Promise<void> {
  response.writeHead(200, { 'content-length': data.length })
  let sent = 0
  const timer = setInterval(() => {
    const next = sent + (sent < data.length / 2 ? Math.ceil(data.length / 100) : 1)
    response.write(data.subarray(sent, next))
    sent = next
  }, 20)
  response.on('close', () => clearInterval(timer))
  await opening
  clearInterval(timer)
  response.end(data.subarray(sent))
}

const digestOf = (data: Buffer) => `sha256:${createHash('sha256').update(data).digest('hex')}`
