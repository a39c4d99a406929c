/** The form of API tokens, known to both processes: the API looks one up, the gateway forwards none. */

/** Prefix of every API token, by which people and secret scanners recognise one. */
export const apiTokenPrefix = 'berth_'

/** The prefix, and 32 random bytes in base64url. */
const form = /^berth_[\w-]{43}$/
/** The same anywhere in a text. */
const anywhere = /berth_[\w-]{43}/

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
const bearer = /^bearer +(\S+) *$/i

/** The API token in an `Authorization` header; undefined for any other content. */
export function bearerApiToken(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
  return token !== undefined && form.test(token) ? token : undefined
}

/** Whether one stands anywhere in a header's value: bare, behind a scheme, in a cookie, or in `Basic` credentials. */
export function containsApiToken(value: string): boolean {
  if (value.includes(apiTokenPrefix)) return anywhere.test(value)
  const basic = /^basic +([\w+/=-]+)/i.exec(value)?.[1]
  return basic !== undefined && anywhere.test(Buffer.from(basic, 'base64').toString('latin1'))
}
