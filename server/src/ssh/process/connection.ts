import type { AuthContext, Connection, PublicKeyAuthContext, ServerChannel, Session } from 'ssh2'
import { isSignedBy, readSshKey, fingerprintOf } from '#/accounts/ssh-public-key.ts'
import { containerTool } from '#/engines/container-tool.ts'
import type { ExecProcess, Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { OpenedContainer, SshControl } from '#/ssh/ssh-protocol.ts'
import type { ChannelHost } from './exec-pump.ts'
import { awaitConnected, commandFor, forward, isShortId, shortIdOf } from './forward-channel.ts'
import { ProgramChannel } from './program-channel.ts'
import { startFrame, terminalSize, type SessionStart } from './session-frames.ts'
import { boundPackets, queuedPackets, socketOf } from './ssh2-parts.ts'

/** Keys that one connection may offer: agents offer all they have. */
const maxOffers = 20
/** Requests for authentication of one connection, those without a key included. */
const maxAttempts = 60
/** Channels of one connection: sessions, as OpenSSH has it, and forwarded connections. */
const [maxSessions, maxForwards] = [10, 64]
/** Bytes of its channels that one connection may keep waiting, and bytes of answers that it may leave unread. */
const [maxWaiting, maxUnread] = [8 * 1024 * 1024, 4 * 1024 * 1024]
/** Bytes that a client which keeps to the library's windows may have waiting in a channel: two windows of 2 MiB. */
const maxOfChannel = 4 * 1024 * 1024 + 64 * 1024
/** How often a connection is looked at that was paused for them, in ms. */
const pauseCheck = 20
/** How long a client has to read why it is ended, and then to take the last message, in ms. */
const [farewell, flushTime] = [400, 200]
/** Max characters of a name that is looked up: slug and type. */
const maxName = 160
/** A pause of the container that falls so short after bytes of the client is ended at once, in ms. */
const justUsed = 5_000

/** Sentences that this process says itself, in the language of the API process. */
export interface Sentences {
  readonly lost: string
  readonly missing: string
}

export interface ConnectionParts {
  readonly control: SshControl
  readonly runtime: Pick<Runtime, 'exec'>
  readonly sentences: Sentences
  /** Called once, when it has proved who it is and its session has begun. */
  readonly onBegun: (connection: SshConnection, session: number) => void
  /** Called in each second in which bytes moved at least once. */
  readonly onUse: (session: number) => void
}

/** One client: who it is, and its channels. */
export class SshConnection implements ChannelHost {
  readonly socket
  readonly #client: Connection
  readonly #address: string
  readonly #parts: ConnectionParts
  readonly #away = new AbortController()
  readonly #programs = new Set<ProgramChannel>()
  readonly #channels = new Set<ServerChannel>()
  readonly #offered = new Set<string>()
  #attempts = 0
  #sessions = 0
  #forwards = 0
  #session: number | undefined
  #refusal: string | undefined
  #opened: Promise<OpenedContainer> | undefined
  #name = ''
  #isPaused = false
  #isWaking = false
  #isHeld = false
  #lastFromClient = 0
  #isEnding = false

  constructor(client: Connection, address: string, parts: ConnectionParts) {
    this.#client = client
    this.#address = address
    this.#parts = parts
    this.socket = socketOf(client)
    // Each channel listens for its end, beside the library.
    this.socket.setMaxListeners(maxSessions + maxForwards + 20)
    // What a client sends is no error of ours.
    client.on('error', () => this.socket.destroy())
    client.on('authentication', (context) => void this.#authenticate(context))
    client.on('session', (accept, reject) => this.#onSession(accept, reject))
    client.on('tcpip', (accept, reject, { destIP, destPort }) =>
      this.#onForward({ host: destIP, port: destPort }, accept, reject),
    )
    client.on('openssh.streamlocal', (accept, reject, { socketPath }) =>
      this.#onForward({ socketPath }, accept, reject),
    )
    this.socket.on('data', () => this.#holdIfFull())
    this.socket.once('close', () => this.#leave())
  }

  /** Whether it proved to have a key, and was refused a session: it is there only to read why. */
  get isRefused(): boolean {
    return this.#refusal !== undefined
  }

  /** The name that was given; empty when none was. */
  get name(): string {
    return this.#name
  }

  queued(): number {
    return queuedPackets(this.#client)
  }

  touch(isFromClient: boolean): void {
    if (this.#session === undefined) return
    this.#parts.onUse(this.#session)
    if (!isFromClient) return
    this.#lastFromClient = performance.now()
    if (this.#isPaused) void this.#wake()
  }

  /** Its container is paused, or runs again. A byte that crossed the pause on its way wakes it. */
  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (isPaused && performance.now() - this.#lastFromClient < justUsed) void this.#wake()
  }

  /** Ends it with a sentence on each terminal. */
  async end(why: string): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    // A client that is told to go does not show what came before: one with a terminal leaves when that is closed.
    if (this.#programs.size > 0) {
      for (const program of this.#programs) program.refuse(why)
      await this.#left(farewell)
    }
    this.#client.end()
    await this.#left(flushTime)
    this.socket.destroy()
  }

  /** Resolves when the client has left, or after this time in ms. */
  #left(timeout: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.destroyed) return void resolve()
      const done = () => {
        clearTimeout(timer)
        this.socket.off('close', done)
        resolve()
      }
      const timer = setTimeout(done, timeout)
      this.socket.once('close', done)
    })
  }

  /* ---- who it is ---- */

  async #authenticate(context: AuthContext): Promise<void> {
    this.#name = context.username.slice(0, maxName)
    if (++this.#attempts > maxAttempts) return void this.socket.destroy()
    if (context.method !== 'publickey') return context.reject(['publickey'])
    const { key, signature } = context
    const fingerprint = fingerprintOf(key.data)
    this.#offered.add(fingerprint)
    if (this.#offered.size > maxOffers) return void this.#client.end()
    try {
      const isKnown = await this.#parts.control.mayUse(context.username.slice(0, maxName + 1), fingerprint)
      // SHA-1 is offered by no client of the last years and accepted by none.
      if (!isKnown || algorithmOf(context) === 'ssh-rsa') return context.reject(['publickey'])
      if (signature === undefined) return context.accept()
      await this.#prove(context, fingerprint)
    } catch (error) {
      this.#parts.control.report(`a key could not be looked up: ${String(error)}`)
      this.socket.destroy()
    }
  }

  async #prove(context: PublicKeyAuthContext, fingerprint: string): Promise<void> {
    const { key, signature, blob } = context
    const parsed = readSshKey(key.algo, key.data)
    const algorithm = algorithmOf(context)
    const isProven =
      !('problem' in parsed) &&
      signature !== undefined &&
      blob !== undefined &&
      isSignedBy(parsed, { algorithm, bytes: signature, data: blob })
    if (!isProven || this.#session !== undefined) return context.reject(['publickey'])
    const client = { name: context.username, fingerprint, address: this.#address }
    const begun = await this.#parts.control.begin(client)
    if ('refusal' in begun) this.#refusal = begun.refusal
    else this.#session = begun.session
    if (this.socket.destroyed) return this.#leave()
    if ('session' in begun) this.#parts.onBegun(this, begun.session)
    context.accept()
  }

  /* ---- its channels ---- */

  #onSession(accept: () => Session, reject: () => void): void {
    if (this.#isEnding || this.#sessions >= maxSessions) return void reject()
    const session = accept()
    if (!boundPackets(session)) return void this.socket.destroy()
    this.#sessions++
    let terminal = { terminal: '', columns: 80, rows: 24 }
    let program: ProgramChannel | undefined
    let over = Promise.resolve()
    session.once('close', () => {
      program?.leave()
      // The engine cannot be told to stop a start: until it has answered, the channel keeps its place.
      void over.finally(() => void this.#sessions--)
    })
    session.on('error', () => undefined)
    session.on('pty', (acceptPty, rejectPty, { cols, rows, ...rest }) => {
      const { term } = rest as { term?: unknown }
      const isName = typeof term === 'string' && /^[\w.+-]{1,64}$/.test(term)
      if (program) return void rejectPty()
      // A client without a terminal of its own has no size to tell.
      const [columns, rowsOrUsual] = [terminalSize(cols) || 80, terminalSize(rows) || 24]
      terminal = { terminal: isName ? term : 'dumb', columns, rows: rowsOrUsual }
      acceptPty?.()
    })
    session.on('window-change', (acceptSize, _, { cols, rows }) => {
      terminal = { ...terminal, columns: terminalSize(cols), rows: terminalSize(rows) }
      program?.resize(cols, rows)
      acceptSize?.()
    })
    session.on('signal', (acceptSignal, _, { name }) => {
      program?.signal(String(name))
      acceptSignal?.()
    })
    const begin = (channel: ServerChannel | undefined, kind: SessionStart['kind'], command = '') => {
      // The library gives none when one of this session has begun.
      if (!channel) return
      program = this.#join(channel)
      over = this.#run(program, { kind, command, ...terminal })
    }
    session.on('shell', (acceptShell) => begin(acceptShell(), 'shell'))
    session.on('exec', (acceptExec, _, { command }) => begin(acceptExec(), 'exec', command))
    session.on('subsystem', (acceptSubsystem, rejectSubsystem, { name }) => {
      if (name === 'sftp') begin(acceptSubsystem(), 'sftp')
      else rejectSubsystem()
    })
  }

  #join(channel: ServerChannel): ProgramChannel {
    const program = new ProgramChannel(this, channel)
    this.#programs.add(program)
    this.#keep(channel, () => void this.#programs.delete(program))
    this.touch(true)
    return program
  }

  /** Resolves when the program is over, or none was started. */
  async #run(program: ProgramChannel, wanted: Omit<SessionStart, 'folder'>): Promise<void> {
    const opened = await this.#open()
    if (program.hasEnded) return
    if ('refusal' in opened) return program.refuse(opened.refusal)
    if (/^\s*mosh-server\b/.test(wanted.command))
      return program.refuse('mosh sends its packets past the SSH server, where nothing leads to a container. Use ssh.')
    const start = startFrame({ ...wanted, folder: opened.home })
    if (!start) return program.refuse('the command is too long, or has a zero byte.')
    const { sentences } = this.#parts
    const process = await this.#exec(opened.containerId, [containerTool, 'session'])
    if (process) await program.run(process, start, sentences)
    else program.refuse(sentences.lost)
  }

  #onForward(target: Parameters<typeof commandFor>[0], accept: () => ServerChannel, reject: () => void): void {
    const name = this.#name.toLowerCase()
    // The name that the engine gives the container is known once it runs.
    const mayBeId = 'host' in target && isShortId(target.host) ? [target.host] : []
    if (!commandFor(target, [name, ...mayBeId]) || this.#isEnding || this.#forwards >= maxForwards) return void reject()
    this.#forwards++
    this.touch(true)
    const commandIn = (containerId: string) => commandFor(target, [name, shortIdOf(containerId)])
    this.#connect(commandIn, accept, reject)
      .catch((error: unknown) => this.#parts.control.report(`forwarding failed: ${String(error)}`))
      .finally(() => void this.#forwards--)
  }

  async #connect(
    commandIn: (containerId: string) => [string, ...string[]] | undefined,
    accept: () => ServerChannel,
    reject: () => void,
  ): Promise<void> {
    const opened = await this.#open()
    const command = 'refusal' in opened ? undefined : commandIn(opened.containerId)
    const process = 'refusal' in opened || !command ? undefined : await this.#exec(opened.containerId, command)
    const first = process && (await awaitConnected(process))
    if (!process || !first) {
      process?.stream.destroy()
      return void reject()
    }
    const channel = accept()
    if (!boundPackets(channel)) return void this.socket.destroy()
    this.#keep(channel)
    await forward(this, channel, process, first)
  }

  /** @returns undefined when it cannot be started, or the client has left */
  async #exec(id: string, command: [string, ...string[]]): Promise<ExecProcess | undefined> {
    try {
      return await this.#parts.runtime.exec(id, command, this.#away.signal)
    } catch (error) {
      const isExpected = this.#away.signal.aborted || error instanceof RuntimeError
      if (!isExpected) this.#parts.control.report(`a program could not be started: ${String(error)}`)
      return undefined
    }
  }

  /** Once for the connection: when its container is another, the API process has ended it. */
  #open(): Promise<OpenedContainer> {
    if (this.#refusal !== undefined) return Promise.resolve({ refusal: this.#refusal })
    const session = this.#session
    if (session === undefined) return Promise.resolve({ refusal: this.#parts.sentences.lost })
    this.#opened ??= this.#parts.control.open(session).catch((error: unknown) => {
      this.#parts.control.report(`a container could not be opened: ${String(error)}`)
      return { refusal: this.#parts.sentences.lost }
    })
    return this.#opened
  }

  async #wake(): Promise<void> {
    if (this.#isWaking || this.#session === undefined) return
    this.#isWaking = true
    try {
      await this.#parts.control.wake(this.#session)
    } catch (error) {
      this.#parts.control.report(`a container could not be woken: ${String(error)}`)
    } finally {
      this.#isWaking = false
    }
  }

  #keep(channel: ServerChannel, onClose: () => void = () => undefined): void {
    this.#channels.add(channel)
    channel.once('close', () => {
      this.#channels.delete(channel)
      onClose()
    })
  }

  /**
   * The library takes what a client sends beyond the window of a channel, and answers requests without waiting for who
   * asks to read: neither may fill the memory.
   */
  #holdIfFull(): void {
    for (const channel of this.#channels)
      // A paused connection would not see that its client leaves; one that breaks the protocol is not waited for.
      if (channel.readableLength > maxOfChannel) return void this.socket.destroy()
    if (this.#isHeld || !this.#isFull()) return
    this.#isHeld = true
    this.socket.pause()
    const timer = setInterval(() => {
      if (this.#isFull() && !this.socket.destroyed) return
      clearInterval(timer)
      this.#isHeld = false
      this.socket.resume()
    }, pauseCheck)
  }

  #isFull(): boolean {
    if (this.socket.writableLength > maxUnread) return true
    let waiting = 0
    for (const channel of this.#channels) waiting += channel.readableLength
    return waiting > maxWaiting
  }

  #leave(): void {
    this.#isEnding = true
    this.#away.abort(new Error('the client has left'))
    if (this.#session !== undefined) this.#parts.control.end(this.#session)
    this.#session = undefined
  }
}

/** Name of the signature that a client offers; the library has the type of the key and the hash apart. */
function algorithmOf({ key, hashAlgo }: PublicKeyAuthContext): string {
  if (key.algo !== 'ssh-rsa' || hashAlgo === undefined) return key.algo
  return `rsa-sha2-${hashAlgo === 'sha512' ? '512' : '256'}`
}
