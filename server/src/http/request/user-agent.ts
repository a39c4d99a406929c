import { createRequire } from 'node:module'
import type * as bowser from 'bowser'

const require = createRequire(import.meta.url)

/** Max characters of `User-Agent` that are parsed. */
const maxLength = 512
/** Names of browsers and systems alone, which may appear in a mail; no free text of the client. */
const isName = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z][A-Za-z0-9 ]{0,30}$/.test(text)

/** Browser and system in words, e.g. `Firefox on Windows`; null for an unknown browser. */
export function describeUserAgent(userAgent: string | undefined): string | null {
  if (!userAgent || userAgent.length > maxLength) return null
  // Loaded at the first sign-in: its tables cost an idle process memory.
  const { browser, os } = (require('bowser') as typeof bowser).parse(userAgent)
  if (!isName(browser.name)) return null
  return isName(os.name) ? `${browser.name} on ${os.name}` : browser.name
}
