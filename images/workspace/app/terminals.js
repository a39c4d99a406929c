import pty from '@lydell/node-pty'
import { WebSocketServer } from 'ws'

/** @import { IncomingMessage } from 'node:http' */
/** @import { Duplex } from 'node:stream' */
/** @import { WebSocket } from 'ws' */
/** @import { IPty } from '@lydell/node-pty' */

/** Close codes: RFC 6455 leaves 4000 and above to applications; 1001 means that the server is going away. */
export const closeCodes = { tooMany: 4429, ended: 4000, unavailable: 4503, stopping: 1001 }

/** In characters: output is paused while a slow client has more than `max` buffered, and resumed below `min`. */
const backlog = { max: 1_000_000, min: 200_000 }

const largestMessage = 256 * 1024
const heartbeatMs = 30_000
/** Time for clients to receive the close code when the container is stopped, in ms. */
const farewellMs = 500

/**
 * @typedef {object} TerminalOptions
 * @property {string} shell
 * @property {string} folder
 * @property {NodeJS.ProcessEnv} env
 * @property {number} limit terminals at the same time
 */

/** @typedef {{ cols: number, rows: number }} Size in characters */

/**
 * Shells over WebSockets: one each, ending together.
 * Out goes what the shell prints, as text. In come `{"type":"input","data":"..."}` and `{"type":"resize","cols":80,"rows":24}`.
 */
export class Terminals {
  /** @type {WebSocketServer} */
  #server = new WebSocketServer({ noServer: true, maxPayload: largestMessage })
  /** @type {TerminalOptions} */
  #options
  /** @type {Set<WebSocket>} */
  #silent = new Set()

  /** @param {TerminalOptions} options */
  constructor(options) {
    this.#options = options
    this.#server.on('connection', (socket, request) => this.#open(socket, sizeOf(request)))
    this.#heartbeat = setInterval(() => this.#dropSilent(), heartbeatMs)
    this.#heartbeat.unref()
  }

  /** @type {NodeJS.Timeout} */
  #heartbeat

  /**
   * @param {IncomingMessage} request
   * @param {Duplex} socket
   * @param {Buffer} head
   */
  accept(request, socket, head) {
    this.#server.handleUpgrade(request, socket, head, (client) => this.#server.emit('connection', client, request))
  }

  /** Ends all shells. */
  close() {
    clearInterval(this.#heartbeat)
    for (const client of this.#server.clients) {
      client.close(closeCodes.stopping, 'The container was stopped.')
      setTimeout(() => client.terminate(), farewellMs).unref()
    }
    this.#server.close()
  }

  /** @param {WebSocket} socket @param {Size} size */
  #open(socket, size) {
    socket.on('error', () => socket.terminate()) // A broken frame; what follows is 'close'.
    if (this.#server.clients.size > this.#options.limit) {
      return socket.close(closeCodes.tooMany, `At most ${this.#options.limit} terminals can be open. Close one first.`)
    }
    const shell = this.#start(socket, size)
    if (!shell) return
    connect(socket, shell)
    socket.on('pong', () => this.#silent.delete(socket))
    socket.on('close', () => {
      this.#silent.delete(socket)
      end(shell)
    })
  }

  /** @param {WebSocket} socket @param {Size} size */
  #start(socket, size) {
    const { shell, folder, env } = this.#options
    try {
      return pty.spawn(shell, ['-l'], { name: 'xterm-256color', ...size, cwd: folder, env })
    } catch (error) {
      // Out of processes or pseudo-terminals: the container's limits, not the reader's fault.
      console.error('A terminal could not be started:', error)
      socket.close(closeCodes.unavailable, 'The terminal could not be started. The container may be out of processes.')
      return undefined
    }
  }

  /** A client that disappeared without closing would keep its shell for ever. */
  #dropSilent() {
    for (const client of this.#server.clients) {
      if (this.#silent.has(client)) {
        client.terminate()
        continue
      }
      this.#silent.add(client)
      client.ping()
    }
  }
}

/**
 * @param {WebSocket} socket
 * @param {IPty} shell
 */
function connect(socket, shell) {
  shell.onData((data) => {
    socket.send(data, () => socket.bufferedAmount < backlog.min && shell.resume())
    if (socket.bufferedAmount > backlog.max) shell.pause()
  })
  shell.onExit(({ exitCode }) => socket.close(closeCodes.ended, `The shell has ended (exit code ${exitCode}).`))
  socket.on('message', (message) => {
    const order = readOrder(String(message))
    if (order?.type === 'input') shell.write(order.data)
    if (order?.type === 'resize') resize(shell, order)
  })
}

/**
 * @param {string} text
 * @returns {{ type: 'input', data: string } | { type: 'resize', cols: number, rows: number } | undefined} undefined for anything else
 */
function readOrder(text) {
  try {
    const { type, data, cols, rows } = Object(JSON.parse(text))
    if (type === 'input' && typeof data === 'string') return { type, data }
    if (type === 'resize' && isMeasure(cols) && isMeasure(rows)) return { type, cols, rows }
  } catch {
    // Not JSON: ignored like every other invalid message.
  }
  return undefined
}

/** @param {IncomingMessage} request @returns {Size} from `?cols=&rows=`, else what terminals have always had */
function sizeOf({ url = '' }) {
  const query = new URLSearchParams(url.split('?')[1])
  const [cols, rows] = [Number(query.get('cols')), Number(query.get('rows'))]
  return isMeasure(cols) && isMeasure(rows) ? { cols, rows } : { cols: 80, rows: 24 }
}

/** @param {unknown} value */
const isMeasure = (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 1_000

/**
 * @param {IPty} shell
 * @param {Size} size
 */
function resize(shell, { cols, rows }) {
  try {
    shell.resize(cols, rows)
  } catch {
    // The shell ended a moment ago; its socket is about to close.
  }
}

/** SIGHUP as a real terminal sends it when its window closes. @param {IPty} shell */
function end(shell) {
  try {
    shell.kill('SIGHUP')
  } catch {
    // It ended by itself.
  }
}
