import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { languages } from '@berth/api/boot.ts'
import type { ImageFile } from '#/machine/image-file.ts'
import { contentRange, requestedRange } from '#/http/request-headers.ts'

/**
 * The built front end's scripts, styles and images, served from memory: 0.7 MB, because what the build compressed is kept
 * compressed. Reading files for each request cost 2 ms of CPU, and these requests need no account.
 */

/** One encoding of a file. */
export interface Variant {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** By content coding. */
export type Asset = ReadonlyMap<string, Variant>

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}
/** By the file extension of the build's variants. */
const codings: Readonly<Record<string, string>> = { '.br': 'br', '.gz': 'gzip' }
/** In order of preference where the client has none. */
const preferred = ['br', 'gzip', 'identity']
/** Max characters of `Accept-Encoding`, and of `If-None-Match`, that are read. */
const [maxAccepted, maxTags] = [256, 1_024]

/** Path of an image of the operator's. */
export const imagePath = ({ fileName }: Pick<ImageFile, 'fileName'>) => `/assets/${fileName}`

/** Serves assets below `/assets/`, by their names. */
export function registerAssets(server: FastifyInstance, assetOf: (name: string) => Asset | undefined): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: '/assets/*',
    handler: (request, reply) => {
      const asset = assetOf((request.params as { readonly '*': string })['*'])
      return asset ? sendAsset(asset, request, reply) : reply.callNotFound()
    },
  })
}

/** Whom to tell of a fault of security. */
export interface SecurityText {
  /** A URI. */
  readonly contact: string
  readonly frontendUrl: string
}

/** How long `security.txt` says that it is good, in ms: less than a year (RFC 9116, 2.5.5). */
const securityTextLifetime = 180 * 86_400_000

/** Serves `/.well-known/security.txt` (RFC 9116). */
export function registerSecurityText(server: FastifyInstance, { contact, frontendUrl }: SecurityText): void {
  const url = '/.well-known/security.txt'
  server.route({
    method: ['GET', 'HEAD'],
    url,
    handler: (request, reply) => {
      const expires = new Date(request.now.getTime() + securityTextLifetime).toISOString()
      const lines = [
        `Contact: ${contact}`,
        `Expires: ${expires}`,
        `Preferred-Languages: ${languages.join(', ')}`,
        `Canonical: ${frontendUrl}${url}`,
      ]
      return reply.type('text/plain; charset=utf-8').send(lines.map((line) => `${line}\n`).join(''))
    },
  })
}

/** Every file of the folder, by its path in it. @throws when the folder cannot be read */
async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Map<string, Variant>>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const all = new Set(entries.filter((each) => each.isFile()).map((each) => path.join(each.parentPath, each.name)))
  const files = [...all].filter((file) => !all.has(`${file}.gz`))
  const contents = await Promise.all(files.map((file) => readFile(file)))
  for (const [index, full] of files.entries()) {
    const bytes = contents[index] ?? Buffer.alloc(0)
    const coding = codings[path.extname(full)] ?? 'identity'
    const original = coding === 'identity' ? full : full.slice(0, -path.extname(full).length)
    const name = path.relative(folder, original).split(path.sep).join('/')
    const asset = assets.get(name) ?? new Map<string, Variant>()
    assets.set(name, asset.set(coding, variantOf(bytes, original, coding)))
    if (coding === 'gzip')
      asset.set(
        'identity',
        atFirstUse(() => variantOf(gunzipSync(bytes), original, 'identity')),
      )
  }
  return assets
}

/** A variant that is made, and kept, when a client first wants it: no browser wants scripts uncompressed. */
function atFirstUse(make: () => Variant): Variant {
  let made: Variant | undefined
  const variant = () => (made ??= make())
  return {
    get bytes() {
      return variant().bytes
    },
    get headers() {
      return variant().headers
    },
  }
}

function variantOf(bytes: Buffer, original: string, coding: string): Variant {
  return encodedVariant(bytes, coding, {
    'content-type': types[path.extname(original)] ?? 'application/octet-stream',
    // File names carry a hash of their content.
    'cache-control': 'public, max-age=31536000, immutable',
  })
}

/** Bytes in a content coding, with the headers that follow from both. */
export function encodedVariant(bytes: Buffer, coding: string, more: Readonly<Record<string, string>>): Variant {
  const headers = {
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    vary: 'Accept-Encoding',
    'accept-ranges': 'bytes',
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    ...more,
  }
  return { bytes, headers }
}

/** Sends a file in the coding that the client prefers, the part that it asks for, or 304 where it has the file. */
export function sendAsset(asset: Asset, { headers, method }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { bytes, headers: own } = selectVariant(asset, headers['accept-encoding'])
  void reply.headers(own)
  if (hasTag(headers['if-none-match'], own['etag'] ?? '')) return reply.status(304).send()
  const range = requestedRange({ method, headers }, { size: bytes.length, etag: own['etag'] ?? '' })
  const part = range ? bytes.subarray(range.first, range.last + 1) : bytes
  if (range) void reply.status(206).header('content-range', contentRange(range, bytes.length))
  void reply.header('content-length', part.length)
  return reply.send(method === 'HEAD' ? undefined : part)
}

/**
 * The coding of the highest weight; of equals the preferred one. Without one of ours the file is sent unencoded (RFC
 * 9110, 12.5.3).
 */
export function selectVariant(asset: Asset, accepted: string | undefined): Variant {
  const weights = weightsIn((accepted ?? '').slice(0, maxAccepted))
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  const possible = preferred.filter((coding) => asset.has(coding) && weightOf(coding) > 0)
  const [best = 'identity'] = possible.toSorted((a, b) => weightOf(b) - weightOf(a))
  return (asset.get(best) ?? [...asset.values()][0]) as Variant
}

function weightsIn(accepted: string): ReadonlyMap<string, number> {
  const parts = accepted.toLowerCase().split(',')
  return new Map(
    parts.map((part) => {
      const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
      const weight = parameters.find((text) => text.startsWith('q='))?.slice(2)
      return [coding, weight === undefined ? 1 : Number(weight) || 0] as const
    }),
  )
}

/** Whether the entity tags that a client has (`If-None-Match`) include this one. */
export const hasTag = (tags: string | undefined, tag: string) =>
  tags !== undefined && (tags === '*' || tags.slice(0, maxTags).includes(tag))

/** The built front end, in memory. */
export interface FrontEndFiles {
  /** The document, as the build made it. */
  readonly html: string
  /** The document of the API reference, likewise, compressed by gzip; null in a folder that no build made. */
  readonly apiReference: Buffer | null
  /** By their paths below `/assets/`. */
  readonly assets: ReadonlyMap<string, Asset>
}

/** What was read before a start, for that start. */
const prepared = new Map<string, FrontEndFiles>()

/** Reads the front end for the next `frontEndFiles` of this process. @throws as `frontEndFiles` */
export async function prepareFrontEndFiles(webDir: string): Promise<void> {
  prepared.set(webDir, await read(webDir))
}

/** As `frontEndFiles`, and leaves them prepared: a follower serves them, and may have to start the application. @throws as `frontEndFiles` */
export async function sharedFrontEndFiles(webDir: string): Promise<FrontEndFiles> {
  if (!prepared.has(webDir)) await prepareFrontEndFiles(webDir)
  return prepared.get(webDir) ?? read(webDir)
}

/** @throws {Error} for the operator, when the front end is not built */
export async function frontEndFiles(webDir: string): Promise<FrontEndFiles> {
  const files = prepared.get(webDir)
  // A later start in this process may find another build.
  prepared.delete(webDir)
  return files ?? read(webDir)
}

async function read(webDir: string): Promise<FrontEndFiles> {
  try {
    const html = await readFile(path.join(webDir, 'index.html'), 'utf8')
    const reference = path.join(webDir, 'api-docs.html.gz')
    const apiReference = existsSync(reference) ? await readFile(reference) : null
    return { html, apiReference, assets: await readAssets(path.join(webDir, 'assets')) }
  } catch (error) {
    throw new Error(`the front end is not built (no index.html in ${webDir}); run npm start, which builds it`, {
      cause: error,
    })
  }
}
