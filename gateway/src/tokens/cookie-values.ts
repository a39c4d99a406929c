/** Max values of one cookie name that are read, the last ones: browsers send ours, of path `/`, among the last. */
const maxValues = 16

/** Cache of the last header: one request reads several names, some of them repeatedly. */
let found: { readonly header: string; readonly values: Map<string, readonly string[]> } | undefined

/** The last values of a cookie, at most 16, in the order sent. Linear in the length of the header, with small constants. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  if (header === undefined) return none
  if (found?.header !== header) found = { header, values: new Map() }
  const known = found.values.get(name)
  if (known) return known
  // Most names are not there: `includes` skips ahead, `lastIndexOf` compares at every character.
  const values = header.includes(name) ? valuesIn(header, name) : none
  found.values.set(name, values)
  return values
}

const none: readonly string[] = []

function valuesIn(header: string, name: string): readonly string[] {
  const values: string[] = []
  let at = header.lastIndexOf(name)
  while (at !== -1 && values.length < maxValues) {
    const value = valueAt(header, at, name)
    if (value !== undefined && value !== '') values.push(value)
    at = at === 0 ? -1 : header.lastIndexOf(name, at - 1)
  }
  return values.toReversed()
}

/** The value of the pair whose name starts here; undefined when it is a part of another name, or of a value. */
function valueAt(header: string, start: number, name: string): string | undefined {
  let before = start - 1
  while (isBlank(header.charCodeAt(before))) before--
  if (before >= 0 && header[before] !== ';') return undefined
  let equals = start + name.length
  while (isBlank(header.charCodeAt(equals))) equals++
  if (header[equals] !== '=') return undefined
  const end = header.indexOf(';', equals)
  return header.slice(equals + 1, end === -1 ? header.length : end).trim()
}

/** A space or a tab. */
const isBlank = (code: number) => code === 32 || code === 9

/** Hexadecimal digits in the name of the cookie of a sign-in at a provider, behind the prefix. */
export const attemptDigits = 16
/** Max attempts of one `Cookie` header that count, the last ones; a browser has five. */
const maxAttempts = 16
const digitsForm = /^[\da-f]+$/

/**
 * Names of cookies of sign-ins at providers, the last 16 of the header, in the order sent. Searched from the end: a client may send
 * hundreds, and to find all of them took 70 us. @param prefix of such a name, before its digits
 */
export function attemptCookieNames(header: string, prefix: string): string[] {
  const names = new Set<string>()
  const length = prefix.length + attemptDigits
  let at = header.includes(prefix) ? header.length : 0
  while (at > 0 && names.size < maxAttempts) {
    at = header.lastIndexOf(prefix, at - 1)
    if (at === -1) break
    if (header[at + length] !== '=' || (at > 0 && !isSeparator(header.charCodeAt(at - 1)))) continue
    const name = header.slice(at, at + length)
    if (digitsForm.test(name.slice(prefix.length))) names.add(name)
  }
  return [...names].toReversed()
}

/** A semicolon, space or tab. */
const isSeparator = (code: number) => code === 59 || code === 32 || code === 9
