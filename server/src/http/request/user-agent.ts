import { createRequire } from 'node:module'
import type * as bowser from 'bowser'

const require = createRequire(import.meta.url)

/** Longest `User-Agent` looked at, in characters. */
const maxLength = 512
/** What may stand in a mail: names of browsers and systems, and nothing that a client made up. */
const isName = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z][A-Za-z0-9 ]{0,30}$/.test(text)

/** Browser and system in words, e.g. `Firefox on Windows`; null when it is no browser that is known. */
export function describeUserAgent(userAgent: string | undefined): string | null {
  if (!userAgent || userAgent.length > maxLength) return null
  // Loaded at the first sign-in: an idle process does without its tables.
  const { browser, os } = (require('bowser') as typeof bowser).parse(userAgent)
  if (!isName(browser.name)) return null
  return isName(os.name) ? `${browser.name} on ${os.name}` : browser.name
}
