import { createRequire } from 'node:module'
import type * as bowser from 'bowser'

const require = createRequire(import.meta.url)

/** Max characters of `User-Agent` that are parsed. */
const maxLength = 512

/** Browser and system in words, e.g. `Firefox on Windows`; null for an unknown browser. No free text of the client. */
export function describeUserAgent(userAgent: string | undefined): string | null {
  if (!userAgent || userAgent.length > maxLength) return null
  // Loaded at the first sign-in: its tables cost an idle process memory.
  const { parse, BROWSER_MAP, OS_MAP } = require('bowser') as typeof bowser
  const { browser, os } = parse(userAgent)
  if (!isNameIn(BROWSER_MAP, browser.name)) return null
  return isNameIn(OS_MAP, os.name) ? `${browser.name} on ${os.name}` : browser.name
}

/** For an unknown browser the name is what the client wrote before the slash, and the recipient of a mail would read it. */
const isNameIn = (known: Readonly<Record<string, string>>, name: string | undefined): name is string =>
  name !== undefined && Object.values(known).includes(name)
