import { callerOf } from './auth/guard.js'

/** @import { IncomingMessage } from 'node:http' */

/** Names of what Berth puts into a container's environment, and of what the image adds. */
const shownNames = /^(BASE_PATH|BERTH_.*|MODE|PORT|HOME|LANG|TZ|NODE_VERSION)$/

/** Characters of a secret that are shown: enough to distinguish two, too few to use one. */
const shownOfSecret = 8

/**
 * What arrived here, for the page that explains the gateway.
 * @param {IncomingMessage} request
 * @param {{ mode: string, env: NodeJS.ProcessEnv, isOwner: boolean }} context only the owner sees values of the environment
 */
export function describeRequest(request, { mode, env, isOwner }) {
  return {
    mode,
    prefix: request.headers['x-forwarded-prefix'] ?? null,
    // The way back of a host of its own; else Berth is above the prefix.
    berth: env.BERTH_AUDIENCE === undefined ? null : '/.berth/',
    method: request.method,
    path: request.url?.split('?')[0],
    http_version: request.httpVersion,
    peer: request.socket.remoteAddress,
    caller: callerOf(request) ?? null,
    headers: headerPairs(request.rawHeaders),
    environment: Object.entries(env)
      .filter(([name]) => shownNames.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ name, value: isOwner ? (value ?? '') : null })),
  }
}

/**
 * The headers as received, in order and with repetitions.
 * @param {readonly string[]} raw names and values in turn
 */
function headerPairs(raw) {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: shortened(name, raw[at + 1] ?? '') }] : []))
}

/**
 * @param {string} name
 * @param {string} value
 */
function shortened(name, value) {
  if (/^cookie$/i.test(name)) return value.replace(/=([^;]*)/g, (_all, secret) => `=${short(secret)}`)
  if (/^authorization$/i.test(name)) return value.replace(/\S+$/, short)
  return value
}

/** @param {string} secret */
const short = (secret) =>
  secret.length > shownOfSecret ? `${secret.slice(0, shownOfSecret)}… (${secret.length} characters)` : '…'
