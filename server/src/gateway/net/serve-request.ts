import { networkOf } from '../../address-network.ts'
import { forgottenTokenCookies } from '../../token-cookies.ts'
import { absenceAnswer } from './absence-answer.ts'
import { admit, type Admission } from './admit.ts'
import { redirectAnswer } from './answer.ts'
import { headForPlatform, type Identity, type Origin } from './app-head.ts'
import { bring } from './bring.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Core, Serving } from './core.ts'
import { Exchange } from './exchange.ts'
import type { Caller } from './people.ts'
import { GatewayRefusal, gatewayRefusals } from './refusals.ts'
import type { RequestHead } from './request-head.ts'
import { Route, type Upstream } from './route.ts'
import { tokenForApp } from './scoped-tokens.ts'
import { cutTarget, isContainerSegment, type Target } from './target.ts'

/** A request on its way through the gateway. */
interface Request {
  readonly core: Core
  readonly serving: Serving
  readonly client: ClientConnection
  readonly head: RequestHead
  readonly target: Target
}

/**
 * Serves one request: from the platform, from a container's app, or with a refusal. Nothing here waits when the caller
 * and the app are known, which is nearly always.
 */
export function serveRequest(core: Core, client: ClientConnection, head: RequestHead): void {
  const { serving } = core
  if (!serving) return client.refuse(gatewayRefusals.starting())
  if (core.isClosing) return client.refuse(gatewayRefusals.shuttingDown())
  const request = { core, serving, client, head, target: cutTarget(head.target) }
  try {
    if (isForContainer(request)) identifyAndServe(request)
    else servePlatform(request)
  } catch (error) {
    refuseFor(client, error)
  }
}

/** The connection that was kept had been closed by the app: the request goes out once more, on a new one. */
export function askAgain(core: Core, client: ClientConnection, exchange: Exchange): void {
  if (core.serving) void bring(core.serving, client, exchange)
}

/** Somebody goes on sending to an app that was paused meanwhile: on a WebSocket, or an upload. Never rejects. */
export async function wakeFor({ serving }: Core, upstream: Upstream): Promise<void> {
  if (!serving || !(upstream instanceof Route)) return
  await serving.control.wake(upstream.place.prefix).catch(() => undefined)
}

function guarded(client: ClientConnection, work: () => void): void {
  try {
    work()
  } catch (error) {
    refuseFor(client, error)
  }
}

function refuseFor(client: ClientConnection, error: unknown): void {
  client.refuse(error instanceof GatewayRefusal ? error : gatewayRefusals.bug(error))
}

/** @throws {GatewayRefusal} 400 for `//host/x`, which some programs take for another host */
function isForContainer({ core, serving, target }: Request): boolean {
  if (target.segment === '' && target.rest !== '') throw gatewayRefusals.badTarget('oneSlash')
  return core.routes.get(target.segment) !== undefined || isContainerSegment(target.segment, serving.reservedSlugs)
}

function servePlatform({ core, serving, client, head }: Request): void {
  core.usage.beginRequest(undefined)
  const plain: RequestHead = head.fields.opensWebSocket
    ? { ...head, fields: { ...head.fields, opensWebSocket: false } }
    : head
  const appHead = headForPlatform(plain, originOf(serving, client, head))
  const { platform: upstream } = serving
  start(
    serving,
    client,
    new Exchange({ head: plain, upstream, appHead, destined: undefined, caller: undefined, open: undefined }, client),
  )
}

/** @throws {GatewayRefusal} 503 before it is known who there is */
function identifyAndServe(request: Request): void {
  if (!request.core.isTold) throw gatewayRefusals.starting()
  serveContainer(request, callerOf(request))
}

function callerOf({ serving, client, head }: Request): Caller | undefined {
  return client.identification.callerOf(head.fields, () => originOf(serving, client, head).address)
}

/** As `admit`; who has no caller because of tossed cookies is made to forget them all. @throws {GatewayRefusal} */
function admitted({ core, serving, client, head, target }: Request, caller: Caller | undefined): Admission {
  const { routes, people } = core
  const { scheme, cookieDomain } = serving.settings
  try {
    return admit({ routes, people, scheme }, head, target, caller)
  } catch (error) {
    if (!client.identification.isTossed || !(error instanceof GatewayRefusal) || error.status !== 401) throw error
    const cookies = { domain: cookieDomain, isSecure: scheme === 'https' }
    throw gatewayRefusals.tossedTokens(forgottenTokenCookies(head.target, head.fields.host, cookies))
  }
}

function serveContainer(request: Request, caller: Caller | undefined): void {
  const { core, serving, client, head } = request
  const { people } = core
  const admission = admitted(request, caller)
  if (admission.kind === 'redirect') return client.answer(redirectAnswer(admission.status, admission.to))
  if (admission.kind === 'missing') {
    return void absenceAnswer(serving, head, missing, admission.container).then(
      (own) => client.isGone || client.answer(own),
    )
  }
  const person = caller && people.get(caller.userId)
  if (!caller || !person) return serveApp(request, admission.route, undefined)
  const token = tokenForApp(serving.control, admission.route, caller)
  if (token instanceof Promise) void serveLater(request, admission, token)
  else serveApp(request, admission.route, { caller, email: person.email, token })
}

/** The first request of a person to an app waits for its token. Meanwhile much may have changed, so all is decided again. */
async function serveLater(
  request: Request,
  before: Admission & { kind: 'app' },
  asked: Promise<string | undefined>,
): Promise<void> {
  const { core, client } = request
  const token = await asked
  if (client.isGone) return
  guarded(client, () => {
    const known = callerOf(request)
    const { people } = core
    const admission = admitted(request, known)
    if (admission.kind !== 'app' || admission.route !== before.route) throw gatewayRefusals.changed()
    const person = known && people.get(known.userId)
    const identity = known && person && { caller: known, email: person.email, token }
    serveApp(request, admission.route, identity)
  })
}

const missing = { absent: 'missing', exitCode: null } as const

function serveApp(request: Request, route: Route, identity: Identity | undefined): void {
  const { core, serving, client, head, target } = request
  const origin = originOf(serving, client, head)
  const caller = identity?.caller
  const open = caller?.open ?? core.usage.ofStrangers(networkOf(origin.address), route.place.prefix)
  if (head.fields.opensWebSocket) core.usage.checkWebSockets(open)
  core.usage.beginRequest(open)
  const { appHeads } = client
  const appHead = appHeads.write(head, pathFor(target, route), route, origin, identity)
  const { destined } = appHeads
  const exchange = new Exchange({ head, upstream: route, appHead, destined, caller, open }, client)
  start(serving, client, exchange)
}

/** On a connection that was kept, when there is one and the request could be sent again, else on a new one. */
function start(serving: Serving, client: ClientConnection, exchange: Exchange): void {
  client.begin(exchange)
  const { upstream } = exchange.parts
  const kept = exchange.isRepeatable && upstream.address ? upstream.takeIdle() : undefined
  if (kept) client.send(kept)
  else void bring(serving, client, exchange)
}

function pathFor({ rest, query }: Target, route: Route): string {
  if (!route.rules.stripPrefix) return `/${route.place.prefix}${rest}${query}`
  return rest === '' ? `/${query}` : rest + query
}

function originOf({ settings, trustedProxies }: Serving, client: ClientConnection, head: RequestHead): Origin {
  const { forwardedFor, isForwarded } = head.fields
  return {
    address: trustedProxies.clientAddress(client.peer, forwardedFor),
    scheme: settings.scheme,
    proxy: trustedProxies.proxyOf(client.peer, isForwarded),
  }
}
