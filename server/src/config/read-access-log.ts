import path from 'node:path'
import type { SettingName } from './setting-descriptions.ts'

/** How requests are logged. */
export interface AccessLogConfig {
  readonly format: 'common' | 'json'
  /** Absolute path; null for standard output. */
  readonly file: string | null
}

/** `ACCESS_LOG` and `ACCESS_LOG_FILE`. @param problems gets a sentence for each problem found @returns null when it is off */
export function readAccessLog(text: (name: SettingName) => string | null, problems: string[]): AccessLogConfig | null {
  const [format, file] = [text('ACCESS_LOG') ?? 'off', text('ACCESS_LOG_FILE')]
  if (format === 'off') return null
  // Both processes have the same working directory.
  if (format === 'common' || format === 'json') return { format, file: file === null ? null : path.resolve(file) }
  problems.push('ACCESS_LOG: must be off, common or json')
  return null
}
