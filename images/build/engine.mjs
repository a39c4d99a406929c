import { request } from 'node:http'

/** Timeouts in ms, of requests and of loading an image. */
const limits = { question: 10_000, load: 180_000 }

/** The part of the Docker Engine API that images need, over a Unix socket or plain TCP. */
export class Engine {
  /** @type {import('node:http').RequestOptions} */
  #where

  /** @param {string} [dockerHost] as in DOCKER_HOST: `unix:///path`, `tcp://host:port`, or a path */
  constructor(dockerHost = 'unix:///var/run/docker.sock') {
    const path = dockerHost.startsWith('/') ? dockerHost : /^unix:\/\/(.*)$/.exec(dockerHost)?.[1]
    const { hostname, port } =
      path === undefined ? new URL(dockerHost.replace(/^tcp:/, 'http:')) : { hostname: 'localhost', port: '' }
    this.#where =
      path === undefined ? { host: hostname.replace(/^\[|\]$/g, ''), port: port || 2375 } : { socketPath: path }
  }

  /**
   * @param {string} tag
   * @returns {Promise<{ id: string, size: number, content: string | undefined } | undefined>} size in bytes
   */
  async findImage(tag) {
    const { status, body } = await this.ask('GET', `/images/${tag}/json`)
    if (status === 404) return undefined
    if (status !== 200) throw new Error(`The engine does not say whether it has ${tag}: ${status} ${body.trim()}`)
    const { Id, Size, Config } = JSON.parse(body)
    return { id: Id, size: Size, content: Config?.Labels?.['berth.content'] }
  }

  /**
   * Takes in an archive as `docker save` writes it.
   * @param {import('node:stream').Readable} archive
   */
  async load(archive) {
    const { status, body } = await this.ask('POST', '/images/load?quiet=1', { stream: archive, limit: limits.load })
    const refused = /"error"\s*:\s*"([^"]*)"/.exec(body)?.[1]
    if (status !== 200 || refused)
      throw new Error(`The engine does not take the demo images: ${status} ${refused ?? body.trim()}`)
  }

  /**
   * Removes an image unless it is in use.
   * @param {string} id
   */
  async removeUnused(id) {
    await this.ask('DELETE', `/images/${id}`)
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {{ stream?: import('node:stream').Readable, json?: unknown, limit?: number }} [content] `limit` in ms
   * @returns {Promise<{ status: number, body: string }>}
   */
  ask(method, path, { stream, json, limit = limits.question } = {}) {
    const headers = { host: 'docker', 'content-type': stream ? 'application/x-tar' : 'application/json' }
    return new Promise((resolve, reject) => {
      const asked = request(
        { ...this.#where, method, path, headers, signal: AbortSignal.timeout(limit) },
        (response) => {
          let body = ''
          response.setEncoding('utf8')
          response.on('data', (chunk) => (body += chunk))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
          response.on('error', reject)
        },
      )
      asked.on('error', (cause) =>
        reject(new Error(`The container engine did not answer ${method} ${path.split('?')[0]}`, { cause })),
      )
      if (stream) stream.on('error', (error) => asked.destroy(error)).pipe(asked)
      else asked.end(json === undefined ? undefined : JSON.stringify(json))
    })
  }
}
