import { once } from 'node:events'
import { request } from 'node:http'

/**
 * Sends a request to a container engine: simple requests that must work before any package is installed.
 * @param {string} host a value for DOCKER_HOST: unix:, tcp: or http:, without TLS
 * @param {string} method
 * @param {string} path
 * @param {AbortSignal} signal aborts the request
 * @returns {Promise<{ status: number, text: string }>}
 * @throws {Error} with a `code` such as ENOENT or EACCES when there is no connection
 */
export async function askEngine(host, method, path, signal) {
  const { protocol, pathname, hostname, port } = new URL(host)
  const where = protocol === 'unix:' ? { socketPath: pathname } : { host: hostname, port: port || 2375 }
  const asked = request({ ...where, method, path, signal, agent: false }).end()
  const [response] = /** @type {[import('node:http').IncomingMessage]} */ (await once(asked, 'response'))
  const text = (await response.setEncoding('utf8').toArray()).join('')
  return { status: response.statusCode ?? 0, text }
}
