import net from 'node:net'
import type { Random } from '../fuzz/random.ts'
import type { Addressing } from './addressing.ts'
import type { History } from './history.ts'
import type { Program } from './labelled-app.ts'
import type { Sharing } from './sharing.ts'
import type { Prefix } from './world.ts'

/** What all clients count together. */
export interface OracleCounts {
  requests: number
  /** Answers that came from an app. */
  answered: number
  /** Messages on WebSockets that an app has answered. */
  messages: number
  /** Of these, answers to visitors with whom the container was shared. */
  visits: number
  /** Answers that came from a further port. */
  ofPorts: number
  /** Answers that came from the loopback of a container. */
  inside: number
  refused: number
  cut: number
  readonly wrong: string[]
}

interface Asked {
  readonly prefix: Prefix
  /** A further one; undefined: the main one. */
  readonly port: number | undefined
  readonly id: string
  readonly from: number
  /** ms since 1970 */
  readonly askedAt: number
  readonly method: 'GET' | 'POST' | 'WebSocket'
}

let ids = 0
/** By how much the gateway may notice the end of a share too late, in ms: its clock, and what is open within a second. */
const [lateRequest, lateMessage] = [250, 1_500]
/** Longer than the gateway lets a program wait, in ms. */
const maxWait = 45_000

/** One person's program: asks for containers, own ones most often, one request after the other, on a connection that is kept. */
export class OracleClient {
  readonly #port: number
  readonly #userId: number
  readonly #addressing: Addressing
  readonly #prefixes: readonly Prefix[]
  readonly #own: readonly Prefix[]
  readonly #sharing: Sharing
  readonly #email: string
  readonly #history: History
  readonly #random: Random
  readonly #counts: OracleCounts
  readonly #max: number
  #socket: net.Socket | undefined
  #received = ''
  #wakeUp: () => void = () => {}

  constructor(
    where: {
      readonly port: number
      readonly prefixes: readonly Prefix[]
      readonly history: History
      readonly sharing: Sharing
    },
    who: { readonly userId: number; readonly email: string; readonly addressing: Addressing },
    random: Random,
    counts: OracleCounts,
    max: number,
  ) {
    this.#max = max
    this.#port = where.port
    this.#prefixes = where.prefixes
    this.#history = where.history
    this.#sharing = where.sharing
    this.#userId = who.userId
    this.#email = who.email
    this.#addressing = who.addressing
    this.#own = where.prefixes.filter(({ ownerId }) => ownerId === who.userId)
    this.#random = random
    this.#counts = counts
  }

  /** Asks until enough was asked by all clients together. */
  async run(): Promise<void> {
    while (this.#counts.requests < this.#max) {
      if (this.#random.happens(0.01)) await this.#converse()
      else await this.#ask(this.#random.happens(0.1) ? 3 : 1)
    }
    this.#hangUp()
  }

  /** Some requests sent together; each answer must be its own. */
  async #ask(count: number): Promise<void> {
    const asked = Array.from({ length: count }, () => this.#choose())
    const socket = this.#connect()
    socket.write(asked.map((one) => this.#requestOf(one)).join(''), 'latin1')
    for (const one of asked) {
      this.#counts.requests++
      const answer = await this.#answer()
      if (answer === undefined) {
        this.#counts.cut++
        return this.#hangUp()
      }
      this.#judge(one, answer.status, answer.body)
      if (answer.isLast) return this.#hangUp()
    }
  }

  /** A WebSocket, most of the time; its frames are lines here, which the gateway does not look at. */
  async #converse(): Promise<void> {
    const one = this.#choose('WebSocket')
    this.#hangUp()
    this.#counts.requests++
    this.#connect().write(
      `${this.#firstLines('GET', one, '0')}Connection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    const answer = await this.#answer()
    if (answer?.status === 101)
      for (let round = 0; round < 5; round++) {
        const from = this.#history.tick()
        this.#socket?.write(`m${round}\n`)
        if (!(await this.#until(() => this.#received.includes('\n')))) break
        const line = this.#received.slice(0, this.#received.indexOf('\n'))
        this.#received = this.#received.slice(line.length + 1)
        this.#counts.messages++
        this.#judge({ ...one, id: `m${round}`, from, askedAt: Date.now() }, 200, line)
        await new Promise((resolve) => setTimeout(resolve, this.#random.below(20)))
      }
    this.#hangUp()
  }

  #choose(method: Asked['method'] = this.#random.happens(0.1) ? 'POST' : 'GET'): Asked {
    const prefix = this.#anyPrefix()
    const { furtherPort, insidePort } = this.#sharing
    const port = this.#random.happens(0.2) ? this.#random.oneOf([furtherPort, insidePort]) : undefined
    return { prefix, port, id: `r${++ids}`, from: this.#history.tick(), askedAt: Date.now(), method }
  }

  /** An own one most often, one that is shared with this person now and then. */
  #anyPrefix(): Prefix {
    if (this.#random.happens(0.1)) {
      const shared = new Set(this.#sharing.with(this.#email))
      const visitable = this.#prefixes.filter(({ name }) => shared.has(name))
      if (visitable.length > 0) return this.#random.oneOf(visitable)
    }
    return this.#random.oneOf(this.#random.happens(0.7) ? this.#own : this.#prefixes)
  }

  #firstLines(method: string, { prefix, port, id }: Asked, wait: string): string {
    const { path, host, credentials } = this.#addressing.of(prefix, port, prefix.ownerId === this.#userId)
    return `${method} ${path}?${id}&${wait} HTTP/1.1\r\nHost: ${host}\r\n${credentials}\r\n`
  }

  #requestOf(one: Asked): string {
    const wait = this.#random.happens(0.1) ? this.#random.below(20) : 0
    const body = one.method === 'POST' ? 'Content-Length: 5\r\n\r\nhello' : '\r\n'
    return this.#firstLines(one.method, one, `${wait}`) + body
  }

  #judge(asked: Asked, status: number, body: string): void {
    if (status !== 200) return void this.#counts.refused++
    this.#counts.answered++
    const { prefix, port, id, from } = asked
    const [label = '', program, answeredId] = body.split(' ')
    if (program === 'further') this.#counts.ofPorts++
    if (program === 'inside') this.#counts.inside++
    const to = this.#history.tick()
    const wrong = (what: string) => this.#counts.wrong.push(`${what}: asked /${prefix.name}/ ${id}, got ${body}`)
    if (!this.#mayPass(asked, to)) wrong(`person ${this.#userId} passed with ${asked.method}`)
    else if (answeredId !== id) wrong('the answer of another request')
    else if (program !== this.#programAt(port)) wrong('a program at another port')
    else if (!label.startsWith(`${prefix.name}:`)) wrong("another prefix's app")
    else if (!this.#history.wasRight(prefix.name, label, from, to))
      wrong(`an app that was gone (asked ${from}-${to}, apps ${this.#history.shown(prefix.name)})`)
  }

  #programAt(port: number | undefined): Program {
    if (port === undefined) return 'main'
    return port === this.#sharing.insidePort ? 'inside' : 'further'
  }

  #mayPass({ prefix, port, from, askedAt, method }: Asked, to: number): boolean {
    // Further ports are the owner's alone, whatever the template says of the main one.
    if (prefix.ownerId === this.#userId || (!prefix.isOwnersOnly && port === undefined)) return true
    this.#counts.visits++
    const late = method === 'WebSocket' ? lateMessage : lateRequest
    const visit = { prefix: prefix.name, port, email: this.#email, isRead: method === 'GET', from, to, askedAt, late }
    return this.#sharing.mayPass(visit)
  }

  async #answer(): Promise<{ status: number; body: string; isLast: boolean } | undefined> {
    if (!(await this.#until(() => this.#received.includes('\r\n\r\n')))) return undefined
    const end = this.#received.indexOf('\r\n\r\n')
    const head = this.#received.slice(0, end)
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1])
    const length = status === 101 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
    if (!(await this.#until(() => this.#received.length >= end + 4 + length))) return undefined
    const body = this.#received.slice(end + 4, end + 4 + length)
    this.#received = this.#received.slice(end + 4 + length)
    return { status, body, isLast: /\r\nconnection: close/i.test(head) }
  }

  /** @returns false when the connection ends first */
  async #until(isThere: () => boolean): Promise<boolean> {
    const socket = this.#socket
    const begun = Date.now()
    const watch = setInterval(() => {
      const waited = Date.now() - begun
      // After enough requests, those that still wait for a container are given up.
      if (waited > maxWait) this.#counts.wrong.push('no answer at all')
      if (waited > maxWait || (waited > 1_000 && this.#counts.requests >= this.#max)) socket?.destroy()
    }, 250)
    const isOpen = () => socket !== undefined && !socket.destroyed && !socket.readableEnded
    while (!isThere() && isOpen()) await new Promise<void>((resolve) => (this.#wakeUp = resolve))
    clearInterval(watch)
    return isThere()
  }

  #connect(): net.Socket {
    if (this.#socket && !this.#socket.destroyed && !this.#socket.readableEnded) return this.#socket
    const socket = net.connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#received = ''
    this.#socket = socket
    const wakeUp = () => this.#wakeUp()
    socket.on('error', () => {})
    socket.on('end', wakeUp)
    socket.on('close', wakeUp)
    socket.on('data', (bytes: Buffer) => {
      if (socket === this.#socket) this.#received += bytes.toString('latin1')
      wakeUp()
    })
    return socket
  }

  #hangUp(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#received = ''
  }
}
