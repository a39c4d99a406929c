import { Refusal } from '../refusal.js'

/** @import { IncomingMessage } from 'node:http' */
/** @import { Verifier } from './verify-token.js' */

/**
 * Refuses requests that another site's page sends through a browser (CSRF).
 * It cannot distinguish the other containers under the same host name: to a browser they are the same origin as this
 * one, cookies, storage and all. Only private access, or separate hosts, keeps pages of other users away.
 * @param {IncomingMessage} request
 * @throws {Refusal} 403
 */
export function refuseForeignOrigin({ headers }) {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isForeign =
    origin === undefined ? site !== undefined && site !== 'same-origin' && site !== 'none' : !isOurs(origin, headers)
  if (isForeign) throw new Refusal(403, 'Only pages of this host may do this.')
}

/**
 * @param {string} origin
 * @param {IncomingMessage['headers']} headers
 */
function isOurs(origin, headers) {
  const forwarded = headers['x-forwarded-host']
  const host = typeof forwarded === 'string' ? forwarded : headers.host
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  // Without the default port on both sides: a proxy may say example.org:443 where the browser says example.org.
  return url !== undefined && host !== undefined && url.host === hostOf(`${url.protocol}//${host}`)
}

/** @param {string} address */
const hostOf = (address) => (URL.canParse(address) ? new URL(address).host : undefined)

/**
 * Refuses every request except the container owner's, who may use files and terminals, and those of visitors to whom the
 * owner shares it: a valid token that was issued for this container, in a request that the gateway attributes to the
 * owner, or lets in by a share. Of visitors who may only look the gateway lets read requests pass. The token alone is not enough: with
 * `access: public` every user could send one. Started by hand, without keys, the app accepts all requests.
 * @param {IncomingMessage} request
 * @param {Verifier} verifier
 * @param {string | undefined} owner e-mail address
 * @throws {Refusal} 401, 403
 */
export async function requireOwner(request, verifier, owner) {
  if (!verifier.hasKeys) return
  await verifier.identify(request)
  if (!isOwner(request, owner) && !isByShare(request))
    throw new Refusal(403, 'Only the owner of this container may do this.')
}

/**
 * Whether the gateway attributes the request to the owner. Without a configured owner no request is the owner's.
 * @param {IncomingMessage} request
 * @param {string | undefined} owner e-mail address
 */
export function isOwner(request, owner) {
  return owner !== undefined && owner !== '' && callerOf(request) === owner
}

/**
 * Whether the gateway says that the owner shares the container with who asks. Only the gateway can say so: it takes the
 * header out of what clients send.
 * @param {IncomingMessage} request
 */
function isByShare({ headers }) {
  const right = headers['x-berth-share']
  return right === 'look' || right === 'use'
}

/**
 * The e-mail address that the gateway wrote into the request. Its bytes are UTF-8, which Node reads as latin1.
 * @param {IncomingMessage} request
 */
export function callerOf({ headers }) {
  const value = headers['x-berth-user']
  return typeof value === 'string' ? Buffer.from(value, 'latin1').toString('utf8') : undefined
}
