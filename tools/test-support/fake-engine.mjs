import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSilentServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A fake engine that listens until the test ends. It responds with what `answerFor` returns for "GET /path", as JSON,
 * or with 404.
 * @param {import('node:test').TestContext} t
 * @param {(question: string) => unknown} answerFor
 * @returns {Promise<string>} a value for DOCKER_HOST
 */
export function fakeEngine(t, answerFor) {
  const server = createServer((request, response) => {
    const answer = answerFor(`${request.method} ${request.url?.split('?')[0]}`)
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}))
  })
  return listen(t, server)
}

/**
 * Accepts every connection and never responds.
 * @param {import('node:test').TestContext} t
 * @returns {Promise<string>} a value for DOCKER_HOST
 */
export function unresponsiveEngine(t) {
  const server = createSilentServer((socket) => void t.after(() => socket.destroy()))
  return listen(t, server)
}

/**
 * @param {import('node:test').TestContext} t
 * @param {import('node:net').Server} server
 * @returns {Promise<string>}
 */
function listen(t, server) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-engine-'))
  const socket = join(folder, 'engine.sock')
  t.after(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return new Promise((resolve) => server.listen(socket, () => resolve(`unix://${socket}`)))
}
