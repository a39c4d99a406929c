import path from 'node:path'
import { startWeb } from './backend/web.ts'
import { startCaddy } from './peers/caddy.ts'
import { startChp } from './peers/chp.ts'
import { startHaproxy, type Check } from './peers/haproxy.ts'
import { startNginx, startNginxWithAll, startNginxWithTls } from './peers/nginx.ts'
import { loadCore, message, proxyCore, start, type Started } from './process.ts'
import type { BerthGatewaySettings } from './berth-gateway.ts'
import { makeCredentials, type Credentials, type Tokens } from './credentials.ts'
import { busy, routeCount } from './routes.ts'
import { tlsFiles } from './tls-files.ts'

/** Every proxy of a run, started on first use and then kept: an idle one costs nothing. */
export class Proxies {
  readonly #credentials: Credentials
  readonly #backends: readonly Started[]
  readonly #port: number
  readonly #nodeOptions: string
  readonly #running = new Map<string, Promise<Target>>()

  private constructor(credentials: Credentials, backends: readonly Started[], port: number, nodeOptions: string) {
    this.#credentials = credentials
    this.#backends = backends
    this.#port = port
    this.#nodeOptions = nodeOptions
  }

  /** @param nodeOptions for our gateway, in addition to the program's */
  static async start(nodeOptions = ''): Promise<Proxies> {
    const echo = script('backend/echo', loadCore, [])
    const { port } = await message<{ port: number }>(echo)
    return new Proxies(await makeCredentials(), [echo, await startWeb(port)], port, nodeOptions)
  }

  /** Our gateway with this many routes. */
  ours(routes = routeCount): Promise<Target> {
    return this.#once(`ours with ${routes} routes`, () => this.freshOurs({ routes }))
  }

  /** Our gateway, which speaks TLS. */
  oursWithTls(): Promise<Target> {
    return this.#once('ours with TLS', () => this.freshOurs({ tls: tlsFiles() }))
  }

  /** Our gateway with public apps. */
  oursForAll(): Promise<Target> {
    return this.#once('ours for all', () => this.freshOurs({ access: 'public' }))
  }

  /** Another process of our gateway, which the caller ends. */
  freshOurs(further: Partial<BerthGatewaySettings> = {}): Promise<Target> {
    return startOurs(this.#credentials, this.#port, this.#nodeOptions, further)
  }

  nginx(): Promise<Target> {
    return this.#once('nginx', () => startNginx(busy, this.#port, this.#credentials.tokens))
  }

  nginxWithTls(): Promise<Target> {
    return this.#once('nginx with TLS', () => startNginxWithTls(busy, this.#port, this.#credentials.tokens))
  }

  nginxWithAll(): Promise<Target> {
    return this.#once('nginx with all', () => startNginxWithAll(this.#port, this.#credentials.tokens))
  }

  haproxy(check: Check): Promise<Target> {
    return this.#once(`haproxy ${check}`, () => startHaproxy(check, this.#port, this.#credentials))
  }

  chp(): Promise<Target> {
    return this.#once('chp', () => startChp(this.#port, this.#credentials.tokens))
  }

  /** No proxy, but the lower bound of any on Node's sockets. */
  relay(): Promise<Target> {
    return this.#once('relay', async () => {
      const started = script('peers/relay', proxyCore, [busy[0]?.host ?? '', String(this.#port)])
      const { port } = await message<{ port: number }>(started)
      return { name: 'relay', port, tokens: this.#credentials.tokens, ...started }
    })
  }

  caddy(): Promise<Target> {
    return this.#once('caddy', () => startCaddy(busy, this.#port, this.#credentials.tokens))
  }

  async end(): Promise<void> {
    const targets = await Promise.allSettled(this.#running.values())
    await Promise.all(targets.map(async (target) => target.status === 'fulfilled' && target.value.end()))
    await Promise.all(this.#backends.map((backend) => backend.end()))
  }

  #once(name: string, begin: () => Promise<Target>): Promise<Target> {
    const target = this.#running.get(name) ?? begin()
    this.#running.set(name, target)
    return target
  }
}

/** Starts a process of our gateway. @param backend port of all apps @param nodeOptions in addition to the program's */
export async function startOurs(
  { tokens, keys }: Credentials,
  backend: number,
  nodeOptions: string,
  further: Partial<BerthGatewaySettings>,
): Promise<Target> {
  const started = start('ours', proxyCore, ['env', `NODE_OPTIONS=${nodeOptions}`, 'sh', serve, berthGateway], true)
  const scopedToken = [...tokens.values()].at(-1) ?? ''
  const settings: BerthGatewaySettings = { routes: routeCount, backend, access: 'owner', keys, scopedToken, ...further }
  const ready = message<{ port: number }>(started)
  started.child.send(settings)
  return { name: 'ours', port: (await ready).port, tokens, isTls: further.tls !== undefined, ...started }
}

/** Gives Node the settings of `npm start`. */
const serve = path.join(import.meta.dirname, '../../tools/serve.sh')
const berthGateway = path.join(import.meta.dirname, 'berth-gateway.ts')

/** Starts a script of this folder with the benchmark's Node.js on one core, with an IPC channel. */
export function script(name: string, core: number, args: readonly string[]): Started {
  const file = path.join(import.meta.dirname, `${name}.ts`)
  return start(name.replace('/', '-'), core, [process.execPath, file, ...args], true)
}

/** A proxy that is ready, with the routes loaded. */
export interface Target extends Started {
  readonly name: string
  readonly port: number
  /** Whether it speaks TLS. */
  readonly isTls?: boolean
  /** The tokens that clients send as the cookie `spawner_token`. */
  readonly tokens: Tokens
}
