/** The form of API tokens, known to both processes: the API looks one up, the gateway refuses one. */

/** `secretPrefix`, and 32 random bytes in base64url. */
const form = /^berth_[\w-]{43}$/

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
const bearer = /^bearer +(\S+) *$/i

/** The API token in an `Authorization` header; undefined for any other content. */
export function bearerApiToken(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
  return token !== undefined && form.test(token) ? token : undefined
}
