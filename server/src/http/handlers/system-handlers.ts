import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { openApiDocument } from '@berth/api/openapi.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Branding, LegalTextName } from '#/config/branding.ts'
import { hasTag, selectVariant, type Asset } from '#/http/front-end/static-assets.ts'
import { readinessCheck, type ReadinessParts } from '#/http/readiness-check.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Handlers } from './call.ts'

export interface DiscoveryParts {
  readonly key: Pick<SigningKeys, 'jwks'>
  readonly spawnerUrl: string
}

/** Discovery: public keys (JWKS) and the OpenAPI document. */
export function discoveryHandlers({ key, spawnerUrl }: DiscoveryParts) {
  const document = openApiDocument(spawnerUrl)
  let asset: Promise<Asset> | undefined
  return {
    jwks: () => ({ keys: key.jwks.keys.map((each) => ({ ...each })) }),
    openApi: async ({ request, reply }) => {
      const { 'accept-encoding': accepted, 'if-none-match': known } = request.headers
      const { bytes, headers } = selectVariant(await (asset ??= compressedDocument(document)), accepted)
      void reply.headers(headers)
      const isKnown = hasTag(known, headers['etag'] ?? '')
      if (isKnown) void reply.status(304)
      // Bytes are sent as they are; the schema of the answer describes what they mean.
      return (isKnown ? '' : bytes) as unknown as typeof document
    },
  } satisfies Partial<Handlers>
}

/** Good enough for a document that is compressed once, at its first request: 340 KB become 20 KB in some 10 ms. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/**
 * The document as it travels. Unlike other answers it is compressed: it holds no secret, and nothing that a caller
 * chooses (web/README.md).
 */
async function compressedDocument(document: object): Promise<Asset> {
  const plain = Buffer.from(JSON.stringify(document))
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(plain, quality),
    promisify(gzip)(plain, { level: 9 }),
  ])
  const variants = { identity: plain, br: brotli, gzip: gzipped }
  return new Map(Object.entries(variants).map(([coding, bytes]) => [coding, variantOf(bytes, coding)]))
}

function variantOf(bytes: Buffer, coding: string) {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    // Another version of Berth has another document: a client that has one asks whether it is still the same.
    'cache-control': 'public, no-cache',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    vary: 'Accept-Encoding',
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
  }
  return { bytes, headers }
}

/** Health checks: liveness (`/healthz`) and readiness (`/readyz`). */
export function healthHandlers(checked: ReadinessParts) {
  const readiness = readinessCheck(checked)
  return {
    health: () => ({ status: 'ok' }),
    ready: async ({ reply }) => {
      const { isReady, ...parts } = await readiness()
      if (!isReady) void reply.status(503)
      return { status: isReady ? 'ready' : 'not ready', parts }
    },
  } satisfies Partial<Handlers>
}

/** Imprint and privacy notice. */
export function legalTextHandlers(branding: Branding | null) {
  const textOf = (name: string) => (isLegalTextName(name) ? branding?.[name] : undefined)
  return {
    legalText: ({ params, client, reply }) => {
      const text = textOf(params.text)
      if (!text || 'url' in text) throw refusals.notFound('address')
      void reply.headers(contentLanguage(client.language))
      return { blocks: [...text.blocks[client.language]] }
    },
  } satisfies Partial<Handlers>
}

const isLegalTextName = (name: string): name is LegalTextName => name === 'imprint' || name === 'privacy'
