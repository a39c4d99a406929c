import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import type { SettingName } from './setting-descriptions.ts'

/** Where entries of the audit log are delivered. */
export interface AuditWebhookConfig {
  readonly url: string
  /** Decoded; the first one is the present one. */
  readonly secrets: readonly Buffer[]
}

/** Bytes of a secret (Standard Webhooks 1.0.0, "Signature scheme"). */
const [minBytes, maxBytes] = [24, 64]

/**
 * `AUDIT_WEBHOOK_URL` and `AUDIT_WEBHOOK_SECRET`: both or neither.
 * @param problems gets a sentence for each problem found, without the values
 */
export function readAuditWebhook(
  text: (name: SettingName) => string | null,
  problems: string[],
): AuditWebhookConfig | null {
  const [url, given] = [text('AUDIT_WEBHOOK_URL'), text('AUDIT_WEBHOOK_SECRET')]
  if (url === null && given === null) return null
  if (url === null || given === null) {
    problems.push('AUDIT_WEBHOOK_URL and AUDIT_WEBHOOK_SECRET: set both, or neither')
    return null
  }
  const problem = problemOf(url)
  if (problem !== undefined) problems.push(`AUDIT_WEBHOOK_URL: ${problem}`)
  const secrets = given.split(/\s+/).map(readSecret)
  if (secrets.includes(undefined))
    problems.push(
      `AUDIT_WEBHOOK_SECRET: must be whsec_ and ${minBytes} to ${maxBytes} bytes in base64; several are separated by spaces`,
    )
  return { url, secrets: secrets.filter((secret) => secret !== undefined) }
}

/** Entries have addresses of people: they travel encrypted, or not beyond this machine. */
function problemOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol)) return 'must be an address that begins with https://'
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or a password'
  const isPlain = parsed.protocol === 'http:'
  return isPlain && !isLoopbackHost(parsed.hostname)
    ? 'must begin with https://; http:// is accepted for a loopback address only'
    : undefined
}

function readSecret(text: string): Buffer | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64')
  return bytes && bytes.length >= minBytes && bytes.length <= maxBytes ? bytes : undefined
}
