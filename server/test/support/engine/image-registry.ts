import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Lifetime } from '../berth.ts'
import { archiveOf, findBusybox } from './engine.ts'

const digestOf = (bytes: Buffer | string) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A registry on the loopback interface that answers pulls of images with a busybox; any name, any tag of these. */
export async function startImageRegistry(
  lifetime: Lifetime,
  tags: readonly string[],
): Promise<{ readonly host: string }> {
  const blobs = new Map<string, Buffer>()
  const manifests = new Map<string, Buffer>()
  const add = (bytes: Buffer) => {
    const digest = digestOf(bytes)
    blobs.set(digest, bytes)
    return { digest, size: bytes.length }
  }
  for (const tag of tags) {
    const archive = await layerOf(tag)
    const layer = add(gzipSync(archive))
    const { arch } = process
    const config = add(
      Buffer.from(
        JSON.stringify({
          architecture: arch === 'x64' ? 'amd64' : arch,
          os: 'linux',
          config: { Cmd: ['/bin/busybox', 'httpd', '-f', '-p', '8080', '-h', '/www'] },
          rootfs: { type: 'layers', diff_ids: [digestOf(archive)] },
        }),
      ),
    )
    const media = 'application/vnd.docker'
    const manifest = {
      schemaVersion: 2,
      mediaType: `${media}.distribution.manifest.v2+json`,
      config: { mediaType: `${media}.container.image.v1+json`, ...config },
      layers: [{ mediaType: `${media}.image.rootfs.diff.tar.gzip`, ...layer }],
    }
    const bytes = Buffer.from(JSON.stringify(manifest))
    manifests.set(tag, bytes)
    manifests.set(digestOf(bytes), bytes)
  }
  const server = createServer((request, response) => {
    const [, kind = '', reference = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(request.url ?? '') ?? []
    const found = (kind === 'manifests' ? manifests : blobs).get(reference)
    if (request.url === '/v2/') return void response.end('{}')
    if (!found) return void response.writeHead(404).end()
    const type =
      kind === 'manifests' ? 'application/vnd.docker.distribution.manifest.v2+json' : 'application/octet-stream'
    response.writeHead(200, {
      'content-type': type,
      'content-length': found.length,
      'docker-content-digest': digestOf(found),
    })
    response.end(request.method === 'HEAD' ? undefined : found)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  lifetime.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A layer with a busybox, and a page that says the tag. */
async function layerOf(tag: string): Promise<Buffer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-layer-'))
  try {
    for (const name of ['bin', 'www']) mkdirSync(path.join(folder, name))
    copyFileSync(findBusybox(), path.join(folder, 'bin/busybox'))
    writeFileSync(path.join(folder, 'www/index.html'), `${tag}\n`)
    return await archiveOf(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
