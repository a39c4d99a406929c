import { parse } from 'bowser'

/** Longest `User-Agent` looked at, in characters. */
const longest = 512
/** What may stand in a mail: names of browsers and systems, and nothing that a client made up. */
const isName = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z][A-Za-z0-9 ]{0,30}$/.test(text)

/** Browser and system in words, e.g. `Firefox on Windows`; null when it is no browser that is known. */
export function browserOf(userAgent: string | undefined): string | null {
  if (!userAgent || userAgent.length > longest) return null
  const { browser, os } = parse(userAgent)
  if (!isName(browser.name)) return null
  return isName(os.name) ? `${browser.name} on ${os.name}` : browser.name
}
