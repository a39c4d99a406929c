import { message, loadCore } from '../process.ts'
import type { Loading } from '../measure.ts'
import { browserHead, head, upgradeHead } from '../load/heads.ts'
import { wrk, type Load } from '../load/wrk.ts'
import { script } from '../proxies.ts'
import { busy, talking, type Route } from '../routes.ts'

const mebibyte = 1024 * 1024

/** A person each; 64 connections are shared out evenly. */
const people = busy.slice(0, 8)

/** 64 connections that ask for a few bytes, each for one person, as browsers do. */
export const smallGets: Loading = ({ port, tokens }, seconds) =>
  wrk({ port, connections: 64, seconds, heads: people.map((route) => head('GET /', route, tokens)) })

/** As `smallGets`, without a token of ours: the cookie has the same length and another name. */
export const strangersGets: Loading = ({ port, tokens }, seconds) => {
  const heads = people.map((route) => head('GET /', route, tokens).replace('spawner_token', 'another_token'))
  return wrk({ port, connections: 64, seconds, heads })
}

/** As `smallGets`, but every connection carries everybody's requests in turn, as one from a TLS terminator does. */
export const sharedGets: Loading = ({ port, tokens }, seconds) =>
  wrk({ port, connections: 64, seconds, heads: people.map((route) => head('GET /', route, tokens)), isShared: true })

/** As `smallGets`, with everything that a browser sends along. */
export const browserGets: Loading = ({ port, tokens }, seconds) =>
  wrk({ port, connections: 64, seconds, heads: people.map((route) => browserHead(route, tokens)) })

/** Eight people who fetch 1 MiB at a time. */
export const downloads: Loading = ({ port, tokens }, seconds) =>
  wrk({ port, connections: 8, seconds, heads: people.map((route) => head('GET /mib', route, tokens)) })

/** Eight people who send 1 MiB at a time. */
export const uploads: Loading = ({ port, tokens }, seconds) => {
  const heads = people.map((route) => head('POST /post', route, tokens, [`Content-Length: ${mebibyte}`]))
  return wrk({ port, connections: 8, seconds, heads, body: mebibyte })
}

/** 64 WebSockets, each of which sends its next text of 64 bytes when the last one has come back. */
export const echoes: Loading = async ({ port, tokens }, seconds) => {
  const heads = Array.from({ length: 64 }, (_, index) => upgradeHead(talking[index % talking.length] as Route, tokens))
  const load = script('load/echo', loadCore, [String(port), String(seconds), JSON.stringify(heads)])
  try {
    return await message<Load>(load)
  } finally {
    await load.end()
  }
}
