import { carriesToken, cookiesForApp } from './cookies.ts'
import { bearerToken } from './identify.ts'
import type { Caller } from './people.ts'
import type { RequestHead } from './request-head.ts'

/** What a request says about where it comes from, on its way to anybody behind the gateway. */
export interface Origin {
  /** Address of the person asking. */
  readonly address: string
  /** `http` or `https`, as people see it. */
  readonly scheme: string
}

/** Who asks, and the token that the app gets in place of theirs; none when it cannot be had. */
export interface Identity {
  readonly caller: Caller
  readonly email: string
  readonly token: string | undefined
}

/**
 * The head that an app receives. The platform's token in it is replaced by the identity's one; it is never added where
 * the client sent none.
 */
export function headForApp(
  head: RequestHead,
  path: string,
  prefix: string,
  origin: Origin,
  identity: Identity | undefined,
): string {
  return (
    `${head.method} ${path} HTTP/1.1\r\n${hostLine(head)}${head.kept}${identityLines(head, identity)}` +
    `${forwardedLines(head, origin)}X-Forwarded-Prefix: /${prefix}\r\n${upgradeLines(head)}\r\n`
  )
}

/** The head that the API and the front end receive: everything the client sent but hop-by-hop headers and what only a proxy may say. */
export function headForPlatform(head: RequestHead, origin: Origin): string {
  const { method, target, kept, authorization, cookie } = head
  const tokens = line('Authorization', authorization) + line('Cookie', cookie)
  return `${method} ${target} HTTP/1.1\r\n${hostLine(head)}${kept}${tokens}${forwardedLines(head, origin)}\r\n`
}

const line = (name: string, value: string | undefined) => (value === undefined ? '' : `${name}: ${value}\r\n`)

// The host stays the one that people see: apps compare a WebSocket's Origin with it. HTTP/1.0 may lack it; apps may not.
const hostLine = ({ host }: RequestHead) => (host === undefined ? 'Host: localhost\r\n' : '')

function identityLines({ authorization, cookie }: RequestHead, identity: Identity | undefined): string {
  if (authorization === undefined && cookie === undefined && identity === undefined) return ''
  // Compared with the caller's own token, not by scheme alone: an app may use Bearer tokens of its own beside our cookie.
  const isByHeader = identity !== undefined && bearerToken(authorization) === identity.caller.token
  const token = isByHeader || carriesToken(cookie) ? identity?.token : undefined
  const bearer = isByHeader ? token && `Bearer ${token}` : authorization
  return line('Authorization', bearer) + line('Cookie', cookiesForApp(cookie, token)) + userLine(identity)
}

// Header bytes are latin1 to us; an address beyond ASCII travels as its UTF-8 bytes.
const userLine = (identity: Identity | undefined) =>
  identity === undefined ? '' : line('X-Berth-User', Buffer.from(identity.email).toString('latin1'))

function forwardedLines({ host }: RequestHead, { address, scheme }: Origin): string {
  return `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${scheme}\r\n${line('X-Forwarded-Host', host)}`
}

const upgradeLines = ({ opensWebSocket }: RequestHead) =>
  opensWebSocket ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''
