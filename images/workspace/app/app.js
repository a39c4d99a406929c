import { createServer } from 'node:http'
import { join } from 'node:path'
import { ownHeaders, sendError, sendJson } from './answer.js'
import { fileRoutes } from './files/files-api.js'
import { isOwner, refuseForeignOrigin, requireOwner } from './auth/guard.js'
import { Home } from './files/home.js'
import { Refusal } from './refusal.js'
import { describeRequest } from './request-view.js'
import { sendFile } from './files/send-file.js'
import { Site } from './files/site.js'
import { Terminals } from './terminals.js'
import { Verifier } from './auth/verify-token.js'

/** @import { IncomingMessage, Server, ServerResponse } from 'node:http' */
/** @import { Duplex } from 'node:stream' */
/** @import { FileHandler } from './files/files-api.js' */

/**
 * @typedef {object} AppOptions
 * @property {'workspace' | 'site'} mode
 * @property {string} home absolute path of the user's files
 * @property {string} assets absolute path of the built pages
 * @property {NodeJS.ProcessEnv} env what Berth put into the container's environment
 * @property {string} [shell]
 * @property {number} [terminals] how many at the same time
 */

/**
 * The app behind one container's prefix. It does not know the prefix: every link it makes is relative.
 * - `/healthz`, `/api/whoami`, `/api/request`, and its own pages under `/_berth/`, in both modes
 * - `workspace`: the workspace at `/`, files under `/api/file...`, terminals at `/api/terminal`, the home as a site under `/view/`
 * - `site`: the home as a site at `/`, nothing that writes
 */
export class App {
  /** @type {AppOptions} */
  #options
  /** @type {Home} */
  #home
  /** @type {Site} */
  #site
  /** @type {Verifier} */
  #verifier
  /** @type {Terminals | undefined} */
  #terminals

  /** @param {AppOptions} options @throws when the home does not exist, or BERTH_JWKS is there and is no key set */
  constructor(options) {
    const { mode, home, env, shell = '/bin/sh', terminals = 8 } = options
    this.#options = options
    this.#home = new Home(home)
    this.#site = new Site(this.#home)
    // On a host of its own the app has no base path.
    const audience = env.BERTH_AUDIENCE ?? env.BASE_PATH
    this.#verifier = new Verifier({ jwks: env.BERTH_JWKS, jwksUrl: env.BERTH_JWKS_URL, audience })
    const shellEnv = { ...env, TERM: 'xterm-256color', COLORTERM: 'truecolor' }
    if (mode === 'workspace') {
      this.#terminals = new Terminals({ shell, folder: this.#home.root, env: shellEnv, limit: terminals })
    }
  }

  /** @returns {Server} not listening yet; closing it leaves terminals open, `close()` ends them */
  createServer() {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch((error) => sendError(request, response, error))
    })
    server.on('upgrade', (request, socket, head) => {
      this.#upgrade(request, socket, head).catch((error) => refuseUpgrade(socket, error))
    })
    return server
  }

  close() {
    this.#terminals?.close()
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async #answer(request, response) {
    const { path, query } = this.#target(request)
    if (path === '/healthz') return sendJson(response, 200, { status: 'ok', mode: this.#options.mode })
    if (path.startsWith('/api/')) return this.#answerApi(request, response, path, query)
    if (request.method !== 'GET' && request.method !== 'HEAD') throw wrongMethod('GET, HEAD')
    if (path === '/_berth/') return this.#sendAsset(request, response, 'request.html')
    if (path.startsWith('/_berth/')) return this.#sendAsset(request, response, path.slice('/_berth/'.length))
    if (this.#options.mode === 'site') return this.#site.handle(request, response, { path, own: way(path, '_berth/') })
    if (path === '/') return this.#sendAsset(request, response, 'index.html')
    if (!path.startsWith('/view/')) throw new Refusal(404, 'There is nothing at this address.')
    await this.#site.handle(request, response, { path: path.slice('/view'.length), own: way(path, '_berth/') })
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   * @param {string} path
   * @param {URLSearchParams} query
   */
  async #answerApi(request, response, path, query) {
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    if (method !== 'GET') refuseForeignOrigin(request)
    if (`${method} ${path}` === 'GET /api/whoami') return this.#answerWhoami(request, response)
    if (`${method} ${path}` === 'GET /api/request') return this.#answerRequest(request, response)
    if (this.#options.mode === 'site') throw new Refusal(404, 'This container serves its files read-only.')
    await requireOwner(request, this.#verifier, this.#options.env.BERTH_EMAIL)
    /** @type {Readonly<Record<string, FileHandler>>} */
    const routes = fileRoutes
    const handler = Object.hasOwn(routes, `${method} ${path}`) ? routes[`${method} ${path}`] : undefined
    if (!handler) throw new Refusal(404, 'There is no such address in this API.')
    await handler(this.#home, request, response, query)
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async #answerWhoami(request, response) {
    const claims = await this.#verifier.identify(request)
    const expiresAt = new Date(claims.exp * 1000).toISOString()
    sendJson(response, 200, { ...claims, is_admin: claims.is_admin === true, expires_at: expiresAt })
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async #answerRequest(request, response) {
    const { mode, env } = this.#options
    const isKnown = this.#verifier.hasKeys && (await this.#verifier.identify(request).then(Boolean, () => false))
    const isOwners = !this.#verifier.hasKeys || (isKnown && isOwner(request, env.BERTH_EMAIL))
    sendJson(response, 200, describeRequest(request, { mode, env, isOwner: isOwners }))
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   * @param {string} name
   */
  async #sendAsset(request, response, name) {
    if (!/^(assets\/)?[a-z0-9-]+\.[a-z]+$/i.test(name)) throw new Refusal(404, 'There is nothing at this address.')
    await sendFile(request, response, join(this.#options.assets, name.replace(/^assets\//, '')), {
      headers: ownHeaders,
    })
  }

  /**
   * @param {IncomingMessage} request
   * @param {Duplex} socket
   * @param {Buffer} head
   */
  async #upgrade(request, socket, head) {
    socket.on('error', () => socket.destroy())
    if (!this.#terminals || this.#target(request).path !== '/api/terminal')
      throw new Refusal(404, 'There is no terminal here.')
    refuseForeignOrigin(request)
    await requireOwner(request, this.#verifier, this.#options.env.BERTH_EMAIL)
    this.#terminals.accept(request, socket, head)
  }

  /**
   * The prefix is normally taken away before a request comes here; a template with `strip_prefix: false` leaves it on.
   * @param {IncomingMessage} request
   */
  #target({ url = '/' }) {
    const at = url.indexOf('?')
    const full = at < 0 ? url : url.slice(0, at)
    const base = this.#options.env.BASE_PATH
    const path = base && full.startsWith(`${base}/`) ? full.slice(base.length) : full
    return { path, query: new URLSearchParams(at < 0 ? '' : url.slice(at)) }
  }
}

/**
 * The relative way from a page to something at the root.
 * @param {string} path of the page
 * @param {string} to
 */
const way = (path, to) => './' + '../'.repeat(path.split('/').length - 2) + to

/** @param {string} allowed */
const wrongMethod = (allowed) => new Refusal(405, `This address answers ${allowed} only.`, { allow: allowed })

/**
 * @param {Duplex} socket
 * @param {unknown} error
 */
function refuseUpgrade(socket, error) {
  const refusal = error instanceof Refusal ? error : new Refusal(500, 'The terminal could not be started.')
  const body = JSON.stringify({ error: refusal.message })
  const lines = [
    `HTTP/1.1 ${refusal.status} Refused`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
