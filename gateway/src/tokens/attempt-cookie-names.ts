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
