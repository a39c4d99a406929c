import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Ajv } from '@fastify/ajv-compiler'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { pino, type Logger } from 'pino'
import { endpoints, type Endpoint, type EndpointName } from '@berth/api/endpoints.ts'
import type { Span, Tracer } from '@berth/gateway/basics/tracer.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import type { ApiTokenAuthenticator } from '#/accounts/api-tokens.ts'
import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { normaliseEmail } from '#/accounts/sign-up/email-address.ts'
import {
  authorizeRequest,
  refuseBlocked,
  refuseEndedSession,
  type BlockedParts,
} from '#/http/auth/authorize-request.ts'
import type { SessionRenewal } from '#/http/auth/browser-session.ts'
import type { FrontEnd } from '#/http/front-end/front-end-document.ts'
import type { OpenLinks } from '#/http/front-end/open-links.ts'
import { prepareFrontEndFiles } from '#/http/front-end/static-assets.ts'
import type { Call, Handlers, Redirect } from '#/http/handlers/call.ts'
import { requestIdFrom, requestIdHeader, runForRequest } from '#/machine/log-context.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { mailboxOf } from '#/store/magic-links.ts'
import { apiHeaders, bodyLimit, handleError, routeOf } from './error-handler.ts'
import { sendEventStream, type EventStream } from './event-stream.ts'
import { createListener, maxHeaderSize } from './listener.ts'
import { requestedLanguage } from './localized-reply.ts'
import { collectMetrics, isBearer, type Metrics } from './metrics.ts'
import { ConcurrencyLimit, isRateLimited, kindOf, type DeviceCookies, type RateLimiter } from './rate-limiter.ts'
import { clientAddress, describeUserAgent, isLocalClient } from './request-headers.ts'
import {
  acceptAnyJson,
  completeBody,
  dropUnfitParameters,
  isSpelledAsRoute,
  keepIdsAsSent,
  leaveBodyUnread,
  notFound,
  parseQuery,
} from './request-parsing.ts'
import { compileSerializer, compileValidator, schemaCompilers } from './schema-compilers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    session: Session | undefined
    now: Date
    /** Undefined without traces. */
    span: Span | undefined
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

export interface HttpParts {
  readonly handlers: Handlers
  readonly authenticator: SessionAuthenticator
  readonly apiTokens: Pick<ApiTokenAuthenticator, 'authenticate'>
  readonly revocations: Pick<Revocations, 'isEndedByBlock'>
  readonly cookie: CookieSettings
  readonly renewal: Pick<SessionRenewal, 'keep'>
  readonly log: Logger
  /** Undefined without traces. */
  readonly tracer?: Tracer | undefined
  /** Name of the operator when a request came by the operator's socket. */
  readonly operator: (request: FastifyRequest['raw']) => string | undefined
  /** Limit of requests that need no account. Programs on this machine are exempt, a local proxy is not. */
  readonly rateLimiter: Pick<RateLimiter, 'count' | 'countFailure' | 'countMailbox'>
  readonly devices: Pick<DeviceCookies, 'idOf'>
  /** Called with each request, before anything else. */
  readonly onRequest: (request: FastifyRequest['raw']) => void
  /**
   * Required bearer token of `/metrics`; null answers this machine and the operator. Undefined: another listener
   * answers it.
   */
  readonly metricsToken: string | null | undefined
  /** Dependencies of the refusal of blocked users. */
  readonly blocked: BlockedParts
  readonly frontEnd: Pick<FrontEnd, 'send' | 'register'>
  /** Left out: a reader's, which leaves them to the leader. */
  readonly openLinks?: Pick<OpenLinks, 'register'>
  /** Further numbers for `/metrics`, by name. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>
  /** Value of Strict-Transport-Security; null sends none. */
  readonly strictTransport: string | null
  /** Time of a request. */
  readonly now: () => Promise<Date>
  /**
   * The rows of a server that answers these alone, and nothing but their 200 and 304; left out: all, and every
   * refusal.
   */
  readonly reader?: ReaderRows
}

/** Rows of the reader of a follower. */
export interface ReaderRows {
  readonly names: readonly EndpointName[]
  /** Called with each answer of this server. */
  readonly onAnswer: () => void
  /** Answers in the place of this server: nothing has been sent. */
  readonly passOn: (request: IncomingMessage, response: ServerResponse) => void
}

/** The built HTTP server. */
export interface HttpServer {
  /** Not bound yet; the caller binds and drains it. */
  readonly server: Server
  /** Answers a request of another listener. */
  readonly handle: RequestListener
  readonly metrics: Metrics
  close(): Promise<void>
}

/**
 * HTTP server: every row of the endpoint table becomes a route, with its access, validation and serialisation; beside
 * them the front end's pages and the metrics.
 */
export async function createHttpServer(parts: HttpParts): Promise<HttpServer> {
  let listener: Server | undefined
  let handle: RequestListener | undefined
  const onError = parts.reader ? passingOn(parts.reader) : handleError
  const server = fastify({
    loggerInstance: parts.log as FastifyBaseLogger,
    // Berth logs one line per response, with the route's pattern: addresses carry tokens.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestIdFrom(headers),
    // Every line gets the id from the context of its request, so no request needs a logger of its own.
    childLoggerFactory: (logger) => logger,
    bodyLimit,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: {
      // As long as a head can be; Fastify's own limit of 100 would answer 414 where the specification requires 400.
      maxParamLength: maxHeaderSize,
      querystringParser: parseQuery,
    },
    schemaController: { compilersFactory: schemaCompilers },
    // Input is validated as it was sent: a number is not an address, whatever its spelling.
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false },
      onCreate: requireReadableInstants,
    },
    serverFactory: (handler) => (listener = createListener((handle = handler))),
    frameworkErrors: onError,
  })
  server.decorateRequest('session', undefined)
  server.decorateRequest('now')
  server.decorateRequest('span', undefined)
  acceptAnyJson(server)
  server.setErrorHandler(onError)
  server.setNotFoundHandler(async (request, reply) => {
    if (parts.reader) return passingOn(parts.reader)(undefined, request, reply)
    if (wantsHtmlPage(request)) return parts.frontEnd.send(request, reply, 404)
    throw notFound(request)
  })
  addRequestHooks(server, parts)
  await addEndpoints(server, parts)
  const metrics = collectMetrics(server, parts.counts)
  addMetrics(server, metrics, parts)
  parts.frontEnd.register(server)
  parts.openLinks?.register(server)
  await server.ready()
  if (!listener || !handle) throw new Error('the HTTP framework did not use the listener')
  return { server: listener, handle, metrics, close: () => server.close() }
}

/** What happens with every request, in this order. */
function addRequestHooks(server: FastifyInstance, parts: HttpParts): void {
  // A body is read in the context of its connection, so that of the request is entered again behind it.
  const { tracer } = parts
  server.addHook('onRequest', (request, _, done) => {
    const { method, headers } = request
    // The gateway sends the header where traces are on, and no client's.
    request.span = tracer?.begin(method, 'server', { 'http.request.method': method }, String(headers.traceparent))
    runForRequest(request.id, done, request.span)
  })
  server.addHook('preValidation', (request, _, done) => runForRequest(request.id, done, request.span))
  server.addHook('onRequest', async (request, reply) => {
    parts.onRequest(request.raw)
    void reply.header(requestIdHeader, request.id)
    request.now = await parts.now()
    void reply.headers(apiHeaders)
    // The router decodes before it compares; a filter in front of Berth would not see `/%61pi/user/me` as the API.
    if (!isSpelledAsRoute(request)) return reply.callNotFound()
    keepIdsAsSent(request)
  })
  const { strictTransport } = parts
  // RFC 6797, 7.2: never on plain HTTP.
  if (strictTransport !== null)
    server.addHook('onRequest', (_, reply, done) => {
      void reply.header('strict-transport-security', strictTransport)
      done()
    })
  server.addHook('onResponse', (request, reply, done) => {
    const facts = { route: routeOf(request), status: reply.statusCode, ms: Math.round(reply.elapsedTime) }
    runForRequest(request.id, () => request.log.debug(facts, request.method), request.span)
    request.span?.end({
      name: `${request.method} ${facts.route}`,
      attributes: { 'http.route': facts.route, 'http.response.status_code': facts.status },
      isFailed: facts.status >= 500,
    })
    done()
  })
  const { reader } = parts
  if (reader) server.addHook('onSend', async () => reader.onAnswer())
}

/** Routes of all rows, or of the reader's. */
async function addEndpoints(server: FastifyInstance, parts: HttpParts): Promise<void> {
  const concurrency = new ConcurrencyLimit()
  const names = parts.reader?.names ?? (Object.keys(endpoints) as EndpointName[])
  const takesFile = (name: EndpointName) => 'upload' in endpoints[name]
  for (const name of names) if (!takesFile(name)) addRoute(server, name, parts, concurrency)
  // A scope of their own, because parsers of bodies belong to one.
  await server.register(async (scope) => {
    leaveBodyUnread(scope)
    for (const name of names) if (takesFile(name)) addRoute(scope, name, parts, concurrency)
  })
}

/** For each error and refusal. */
const passingOn =
  ({ passOn }: ReaderRows) =>
  (_error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    void reply.hijack()
    passOn(request.raw, reply.raw)
    return reply
  }

/** `GET /metrics` on the public listener: restricted, because its numbers concern operators alone. */
function addMetrics(server: FastifyInstance, metrics: Metrics, { metricsToken: token, operator }: HttpParts): void {
  if (token === undefined) return
  server.get('/metrics', async ({ raw }, reply) => {
    const mayRead = token === null ? isLocalClient(raw) : isBearer(raw.headers.authorization, token)
    if (!mayRead && operator(raw) === undefined) throw refusals.metricsClosed()
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

function addRoute(server: FastifyInstance, name: EndpointName, parts: HttpParts, concurrency: ConcurrencyLimit): void {
  const endpoint: Endpoint = endpoints[name]
  // One loop serves rows of different types; `Handlers` has checked each handler against its row.
  const handle = parts.handlers[name] as (call: Call<EndpointName>) => unknown
  server.route({
    method: endpoint.method,
    url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: endpoint.method === 'GET' && endpoint.head !== false,
    config: { endpoint },
    schema: schemaOf(endpoint),
    ...(endpoint.isBodyOptional && { preValidation: completeBody }),
    ...(endpoint.redirects !== undefined && { preValidation: dropUnfitParameters }),
    onRequest: async (request, reply) => {
      if (isRateLimited(endpoint) && !isLocalClient(request.raw))
        parts.rateLimiter.count(rateLimitedClient(parts, request.raw), kindOf(endpoint))
      const isOperator = parts.operator(request.raw) !== undefined
      if (endpoint.access === 'operator' && !isOperator) throw notFound(request)
      if (isOperator && (endpoint.access !== 'user' || endpoint.forOperator)) return
      request.session = await authorizeRequest(parts, endpoint, request, request.now)
      // Who ends a session does not want it renewed.
      if (request.session && !endpoint.endsTakeover) await parts.renewal.keep(request.session, request, reply)
    },
    handler: async (request, reply) => {
      if (isRateLimited(endpoint) && kindOf(endpoint) === 'mail') limitMailbox(parts, request)
      const leave = request.session && concurrency.enter(request.session.claims.userId)
      try {
        // Only the operator comes so far without a session.
        if (request.session || !endpoint.forOperator)
          await refuseBlocked(parts.blocked, endpoint, request.session, request.params)
        refuseEndedSession(parts.revocations, endpoint, request.session)
        const answer = await handle(toCall(request, reply, parts))
        if (endpoint.status !== undefined) void reply.status(endpoint.status)
        if (endpoint.redirects !== undefined) return reply.redirect(asciiLocation((answer as Redirect).location), 302)
        return endpoint.stream ? sendEventStream(reply, answer as EventStream) : answer
      } catch (error) {
        countFailedSignIn(parts, endpoint, request, error)
        throw error
      } finally {
        leave?.()
      }
    },
  })
}

/** Counts a link that was refused. @throws {Refusal} 429 in place of the error */
function countFailedSignIn(parts: HttpParts, endpoint: Endpoint, { raw }: FastifyRequest, error: unknown): void {
  const isLink = isRateLimited(endpoint) && kindOf(endpoint) === 'link'
  if (error instanceof Refusal && isLink && !isLocalClient(raw))
    parts.rateLimiter.countFailure(rateLimitedClient(parts, raw))
}

/** A path with letters of another script as a header may have it (RFC 3987, 3.1); Node.js refuses others. */
const asciiLocation = (location: string) => location.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)

/** @throws {Refusal} 429 when the client's network exceeds the rate limit of the mailbox in the body */
function limitMailbox(parts: HttpParts, { raw, body }: FastifyRequest): void {
  const { email } = Object(body) as { email?: unknown }
  if (typeof email === 'string' && !isLocalClient(raw))
    parts.rateLimiter.countMailbox(rateLimitedClient(parts, raw), mailboxOf(normaliseEmail(email)))
}

const rateLimitedClient = ({ devices }: HttpParts, raw: FastifyRequest['raw']) => ({
  address: clientAddress(raw),
  device: devices.idOf(raw.headers),
})

function toCall(request: FastifyRequest, reply: FastifyReply, parts: HttpParts): Call<EndpointName> {
  const { params, query, body, session, now } = request
  return {
    params,
    query,
    body,
    session,
    now,
    request,
    reply,
    operator: parts.operator(request.raw),
    client: {
      address: clientAddress(request.raw),
      device: parts.devices.idOf(request.headers),
      isLocal: isLocalClient(request.raw),
      browser: describeUserAgent(request.headers['user-agent']),
      language: requestedLanguage(request),
    },
  } as Call<EndpointName>
}

function schemaOf({ params, query, body, response, status, refusals: refused }: Endpoint): object {
  return {
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    response: { ...(response && { [status ?? 200]: response }), ...refused },
  }
}

/** A navigation of a browser; every response under `/api` is JSON. */
function wantsHtmlPage({ method, url, headers }: FastifyRequest): boolean {
  return method === 'GET' && !/^\/api(\/|\?|$)/i.test(url) && (headers.accept ?? '').includes('text/html')
}

/**
 * Builds a server that answers nothing, and drops it: what the next one in this process needs (compiled code, files of
 * the front end) is there then. The second one takes 50 ms of CPU instead of 120, and reads no files, which took 100
 * (measured in one process).
 * @param webDir folder of the built front end @throws when it is not built
 */
export async function warmUpHttpServer(webDir: string): Promise<void> {
  const { close } = await createHttpServer(unusedParts)
  await close()
  await prepareFrontEndFiles(webDir)
}

/**
 * After `warmUpHttpServer`: compiles what the first requests of each endpoint need, 0.6 s of CPU. It would take up to
 * 250 ms of each first answer, in which nothing else is answered. One endpoint at a time, because this process has
 * requests to pass on.
 * @param isWanted until it is not, as when the application starts meanwhile
 */
export async function compileEndpoints(isWanted: () => boolean = () => true): Promise<void> {
  describeUserAgent('Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0')
  for (const { params, query, body, response } of Object.values<Endpoint>(endpoints)) {
    if (!isWanted()) return
    if (response) compileSerializer(response)
    for (const schema of [params, query, body]) if (schema) compileValidator(schema)
    await nextTurn()
  }
}

/** Routes refer to these, and no request comes. */
const unusedParts = {
  handlers: new Proxy({}, { get: () => async () => undefined }),
  log: pino({ level: 'silent' }),
  metricsToken: undefined,
  strictTransport: null,
  frontEnd: { register: () => undefined },
  counts: async () => ({}),
} as unknown as HttpParts

/**
 * Restricts the format `date-time` to instants that `Date` reads. The validator also accepts a leap second, as RFC 3339
 * does, and an offset without minutes (`+01`): an invalid `Date` is neither before nor after any other, and is stored
 * as null.
 */
function requireReadableInstants(ajv: Ajv): void {
  const { validate } = ajv.formats['date-time'] as unknown as { readonly validate: (text: string) => boolean }
  ajv.addFormat('date-time', (text: string) => validate(text) && !Number.isNaN(Date.parse(text)))
}
