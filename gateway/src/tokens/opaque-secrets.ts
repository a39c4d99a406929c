/**
 * The secrets of ours that are no signed tokens: API tokens and the cookie that renews a session. Both begin alike, so that
 * the gateway recognises them wherever a client puts them, and hands none to an app.
 */

/** Prefix of both, by which people and secret scanners recognise one, too. */
export const secretPrefix = 'berth_'

/** An API token, or generation and code of a renewal cookie, anywhere in a text. */
const anywhere = /berth_(?:[\w-]{43}|\d{1,15}\.[\w-]{43}\.)/

/** Whether one stands anywhere in a text: bare, behind a scheme, in a cookie, in a query, or in `Basic` credentials. */
export function containsOpaqueSecret(text: string): boolean {
  if (text.includes(secretPrefix)) return anywhere.test(text)
  const basic = /^basic +([\w+/=-]+)/i.exec(text)?.[1]
  return basic !== undefined && anywhere.test(Buffer.from(basic, 'base64').toString('latin1'))
}
