import { message, loadCore } from '../process.ts'
import type { Loading } from '../measure.ts'
import { browserHead, head, upgradeHead } from '../load/heads.ts'
import { wrk, type Load } from '../load/wrk.ts'
import { script } from '../proxies.ts'
import { busy, talking, type Route } from '../routes.ts'

const mebibyte = 1024 * 1024

/** One user each; 64 connections are shared out evenly. */
const people = busy.slice(0, 8)

/** 64 connections that request a few bytes, each for one user, as browsers do. */
export const smallGets: Loading = ({ port, tokens, isTls = false }, seconds) =>
  wrk({ port, isTls, connections: 64, seconds, heads: people.map((route) => head('GET /', route, tokens)) })

/** As `smallGets`, without an access token: the cookie has the same length and another name. */
export const anonymousGets: Loading = ({ port, tokens }, seconds) => {
  const heads = people.map((route) => head('GET /', route, tokens).replace('spawner_token', 'another_token'))
  return wrk({ port, connections: 64, seconds, heads })
}

/** As `smallGets`, but every connection carries requests of all users in turn, as from a TLS terminator. */
export const sharedGets: Loading = ({ port, tokens }, seconds) =>
  wrk({ port, connections: 64, seconds, heads: people.map((route) => head('GET /', route, tokens)), isShared: true })

/** As `smallGets`, with all headers of a browser. */
export const browserGets: Loading = ({ port, tokens }, seconds) =>
  wrk({ port, connections: 64, seconds, heads: people.map((route) => browserHead(route, tokens)) })

/** Eight users download 1 MiB at a time. */
export const downloads: Loading = ({ port, tokens, isTls = false }, seconds) =>
  wrk({ port, isTls, connections: 8, seconds, heads: people.map((route) => head('GET /mib', route, tokens)) })

/** Eight users upload 1 MiB at a time. */
export const uploads: Loading = ({ port, tokens }, seconds) => {
  const heads = people.map((route) => head('POST /post', route, tokens, [`Content-Length: ${mebibyte}`]))
  return wrk({ port, connections: 8, seconds, heads, body: mebibyte })
}

/** As `uploads`, over TLS. */
export const tlsUploads: Loading = async ({ port, tokens }, seconds) => {
  const heads = people.map((route) => head('POST /post', route, tokens, [`Content-Length: ${mebibyte}`]))
  const load = script('load/upload', loadCore, [String(port), String(seconds), String(mebibyte), JSON.stringify(heads)])
  try {
    return await message<Load>(load)
  } finally {
    await load.end()
  }
}

/** 64 WebSockets, each of which sends the next text of 64 bytes when the last one has returned. */
export const echoes: Loading = async ({ port, tokens }, seconds) => {
  const heads = Array.from({ length: 64 }, (_, index) => upgradeHead(talking[index % talking.length] as Route, tokens))
  const load = script('load/echo', loadCore, [String(port), String(seconds), JSON.stringify(heads)])
  try {
    return await message<Load>(load)
  } finally {
    await load.end()
  }
}
