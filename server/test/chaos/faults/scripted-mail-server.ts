import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'

/** What the mail server does to those who send. */
export type MailVice =
  | 'down' // no server listens
  | 'refusing' // 550 to every recipient
  | 'greylisting' // 451 to each recipient's first attempt
  | 'tarpit' // a word every other second
  | 'silent' // takes the message, and never says so

/** A link as it arrived. */
export interface ArrivedLink {
  readonly email: string
  readonly purpose: 'signup' | 'login'
  readonly token: string
}

type Done = (error?: Error | null) => void

/** A real SMTP server with vices; it keeps the links that it was given, also those whose sender was not told so. */
export class ScriptedMail {
  readonly #links: ArrivedLink[] = []
  readonly #greylisted = new Set<string>()
  readonly #server: SMTPServer
  #port = 0
  #vice: MailVice | undefined
  #silenced: Done[] = []

  private constructor() {
    this.#server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onMailFrom: (_address, _session, done) => void this.#slowly(done),
      onRcptTo: ({ address }, _session, done) => done(this.#refusalFor(address)),
      onData: (stream, session, done) => void this.#keep(stream, session, done),
    })
    this.#server.on('error', () => undefined)
  }

  static async begin(): Promise<ScriptedMail> {
    const mail = new ScriptedMail()
    await mail.#listen()
    return mail
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.#port}`
  }

  /** Those for this address, oldest first. */
  linksTo(email: string): ArrivedLink[] {
    return this.#links.filter((link) => link.email === email)
  }

  async harm(vice: MailVice): Promise<void> {
    this.#vice = vice
    if (vice === 'down') await this.#stopListening()
  }

  async mend(): Promise<void> {
    const wasDown = this.#vice === 'down'
    this.#vice = undefined
    this.#greylisted.clear()
    if (wasDown) await this.#listen()
    for (const done of this.#silenced.splice(0)) done()
  }

  async close(): Promise<void> {
    await this.mend()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #listen(): Promise<void> {
    this.#server.server.listen(this.#port, '127.0.0.1')
    await once(this.#server.server, 'listening')
    this.#port = (this.#server.server.address() as AddressInfo).port
  }

  async #stopListening(): Promise<void> {
    for (const connection of this.#server.connections) connection.close()
    this.#server.server.close()
    await once(this.#server.server, 'close')
  }

  async #slowly(done: Done): Promise<void> {
    for (let word = 0; word < 8 && this.#vice === 'tarpit'; word++) await sleep(2_000)
    done()
  }

  #refusalFor(address: string): Error | null {
    if (this.#vice === 'refusing') return refusal(550, 'no such mailbox')
    if (this.#vice !== 'greylisting' || this.#greylisted.has(address)) return null
    this.#greylisted.add(address)
    return refusal(451, 'come again later')
  }

  async #keep(stream: SMTPServerDataStream, session: SMTPServerSession, done: Done): Promise<void> {
    const text = await textOf(stream)
    const [, purpose, token] = /verify-(signup|login)\?token=([\w-]+)/.exec(text) ?? []
    for (const { address } of session.envelope.rcptTo)
      if (token !== undefined) this.#links.push({ email: address, purpose: purpose as 'signup' | 'login', token })
    if (this.#vice === 'silent') this.#silenced.push(done)
    else done()
  }
}

/** Without the breaks in long lines, and `=` as it was written. Empty when its sender was killed meanwhile. */
async function textOf(stream: SMTPServerDataStream): Promise<string> {
  try {
    const text = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString()
    return text.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  } catch {
    return ''
  }
}

const refusal = (responseCode: number, words: string) => Object.assign(new Error(words), { responseCode })
