import path from 'node:path'
import { readTlsPair, type TlsFiles } from '@berth/gateway/basics/tls-pair.ts'
import { Problem, whole } from './setting-values.ts'
import type { SettingName } from './setting-descriptions.ts'

/** TLS in Berth itself, without a proxy. */
export interface TlsConfig extends TlsFiles {
  /** Port that redirects from plain HTTP; null for none. */
  readonly redirectPort: number | null
  /** `max-age` of Strict-Transport-Security, in seconds; 0 sends none. */
  readonly hstsMaxAge: number
}

const year = 31_536_000

/**
 * `TLS_CERT_FILE`, `TLS_KEY_FILE`, and what belongs to them; the files are read and checked.
 * @param problems gets a sentence for each problem found
 */
export function readTls(text: (name: SettingName) => string | null, problems: string[]): TlsConfig | null {
  const [cert, key] = [text('TLS_CERT_FILE'), text('TLS_KEY_FILE')]
  const number = (name: SettingName, fallback: number | null, min: number, max: number) => {
    const value = text(name)
    const read = value === null ? fallback : whole(min, max)(value)
    if (!(read instanceof Problem)) return read
    problems.push(`${name}: ${read.words}`)
    return fallback
  }
  const redirectPort = number('HTTP_REDIRECT_PORT', null, 1, 65_535)
  const hstsMaxAge = number('HSTS_MAX_AGE', year, 0, 2 * year) ?? year
  const scheme = text('PREFERRED_URL_SCHEME')
  if (cert === null && key === null) {
    if (redirectPort !== null) problems.push('HTTP_REDIRECT_PORT: needs TLS_CERT_FILE and TLS_KEY_FILE')
    return null
  }
  if (cert === null || key === null) {
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE: set both, or neither')
    return null
  }
  if (scheme !== 'https') problems.push('TLS_CERT_FILE: needs PREFERRED_URL_SCHEME=https')
  // Both processes read them; they have the same working directory.
  const files = { certFile: path.resolve(cert), keyFile: path.resolve(key) }
  const pair = readTlsPair(files)
  if ('problem' in pair) problems.push(`TLS_CERT_FILE and TLS_KEY_FILE: ${pair.problem}`)
  return { ...files, redirectPort, hstsMaxAge }
}
