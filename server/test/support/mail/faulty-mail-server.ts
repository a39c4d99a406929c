import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Mailer } from '#/accounts/mail/mailer.ts'

/** What a mail server can do wrong. */
export type MailVice =
  | 'none'
  /** Takes the connection and says nothing. */
  | 'deaf'
  /** Says a little of its greeting, again and again, and never comes to the end of it. */
  | 'drivelling'
  /** Is as busy as it says, at its greeting (421). */
  | 'closed'
  /** Refuses every recipient for ever (550). */
  | 'refusing'
  /** Refuses every recipient the first time (451), so that those who mean it come again. */
  | 'greylisting'
  /** Takes its time before each line. */
  | 'tarpit'
  /** Promises encryption and then cannot. */
  | 'broken-tls'
  /** Takes the message, and never says so. */
  | 'silent-after-data'
  /** Takes the message, and closes instead of saying so. */
  | 'closes-after-data'
  /** Closes in the middle of the message. */
  | 'closes-in-data'

export interface FaultyMailServer {
  readonly url: string
  vice: MailVice
  /** Whole messages that arrived, whether it said so or not, oldest first. */
  readonly received: string[]
  /** Connections open now, and how many were at most. */
  readonly connections: { open: number; max: number }
  /** The token in the newest message. @throws when there is none */
  newestToken(): string
  /** Closes every connection without a word. */
  hangUp(): void
  close(): Promise<void>
}

/** What a tarpit takes for each line, in ms. */
const tarpitPause = 2_000

/** A mail server with vices that a test changes while it runs; without any it accepts everything. */
export async function startFaultyMailServer(vice: MailVice = 'none'): Promise<FaultyMailServer> {
  const sockets = new Set<Socket>()
  const seen = new Set<string>()
  const state = { vice, received: [] as string[], connections: { open: 0, max: 0 } }
  const listener = createServer((socket) => {
    sockets.add(socket)
    state.connections.open = sockets.size
    state.connections.max = Math.max(state.connections.max, sockets.size)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      sockets.delete(socket)
      state.connections.open = sockets.size
    })
    void converse(socket, state, seen)
  })
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return Object.assign(state, {
    url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    newestToken: () => {
      // Quoted-printable breaks lines within words and writes = as =3D.
      const text = (state.received.at(-1) ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=')
      const token = /[?&]token=([\w-]{43})/.exec(text)?.[1]
      if (!token) throw new Error('no message with a link has arrived')
      return token
    },
    hangUp,
    close: async () => {
      hangUp()
      await new Promise((resolve) => listener.close(resolve))
    },
  })
}

/** One conversation, as RFC 5321 has it but for the vice of the moment. */
async function converse(
  socket: Socket,
  state: Pick<FaultyMailServer, 'vice' | 'received'>,
  seen: Set<string>,
): Promise<void> {
  const say = async (line: string) => {
    if (state.vice === 'tarpit') await new Promise((resolve) => setTimeout(resolve, tarpitPause))
    if (!socket.destroyed) socket.write(`${line}\r\n`)
  }
  if (state.vice === 'deaf') return
  if (state.vice === 'drivelling') return drivel(socket)
  if (state.vice === 'closed') return void socket.end('421 too busy\r\n')
  let message: string[] | undefined
  await say('220 mail.example ESMTP')
  for await (const line of createInterface({ input: socket, crlfDelay: Infinity })) {
    if (message) {
      if (state.vice === 'closes-in-data') return void socket.destroy()
      if (line !== '.') {
        message.push(line)
        continue
      }
      state.received.push(message.join('\r\n'))
      message = undefined
      if (state.vice === 'silent-after-data') continue
      if (state.vice === 'closes-after-data') return void socket.destroy()
      await say('250 accepted')
    } else if (/^EHLO/i.test(line)) {
      await say(state.vice === 'broken-tls' ? '250-mail.example\r\n250 STARTTLS' : '250 mail.example')
    } else if (/^STARTTLS/i.test(line)) {
      await say('220 go ahead')
      return void socket.write('this is no handshake\r\n')
    } else if (/^RCPT/i.test(line)) {
      await say(answerToRecipient(line, state.vice, seen))
    } else if (/^DATA/i.test(line)) {
      message = []
      await say('354 go ahead')
    } else if (/^QUIT/i.test(line)) {
      return void socket.end('221 bye\r\n')
    } else await say('250 ok')
  }
}

function answerToRecipient(line: string, vice: MailVice, seen: Set<string>): string {
  if (vice === 'refusing') return '550 no such mailbox'
  if (vice !== 'greylisting' || seen.has(line)) return '250 ok'
  seen.add(line)
  return '451 come again later'
}

function drivel(socket: Socket): void {
  const timer = setInterval(() => socket.write('220-one moment\r\n'), 50)
  socket.once('close', () => clearInterval(timer))
}

/** A mail server that accepts nothing. */
export const refusingMailer: Mailer = {
  send: async () => {
    throw new Error('550 mailbox secret-relay.internal unavailable')
  },
  close: () => undefined,
}
