import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { engineAddress } from './engine.ts'
import type { Lifetime } from '../berth.ts'

/** An engine that accepts and never answers. @returns its address */
export const unresponsiveEngine = (lifetime: Lifetime) => listen(lifetime, () => undefined)

/** An engine that knows its version and breaks off every other answer in the middle. */
export function truncatingEngine(lifetime: Lifetime): Promise<string> {
  return answering(lifetime, '200 OK\r\nContent-Length: 1000\r\n\r\n{"Id": "abc', (socket) => socket.destroy())
}

/** Something in between that knows no path, as a proxy that allows pings only. */
export function pingOnlyProxy(lifetime: Lifetime): Promise<string> {
  return answering(lifetime, '404 Not Found\r\nContent-Length: 9\r\n\r\nno route\n', () => undefined)
}

function answering(lifetime: Lifetime, answer: string, afterwards: (socket: Socket) => void): Promise<string> {
  return listen(lifetime, (socket) =>
    socket.on('data', (data) => {
      if (String(data).startsWith('GET /_ping'))
        return void socket.write('HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK')
      socket.write(`HTTP/1.1 ${answer}`, () => afterwards(socket))
    }),
  )
}

/** The real engine behind a line that a test can cut, stop up and mend. */
export interface EngineLink {
  readonly address: string
  /** What was asked, without the version: `GET /info`. */
  readonly questions: readonly string[]
  /** Ends every connection there is. */
  cut(): void
  /** From now on nothing comes through any more, and nothing is refused. */
  stopUp(): void
}

/** @throws {Error} where the real engine is not on a unix socket */
export async function linkToEngine(lifetime: Lifetime): Promise<EngineLink> {
  const sockets = new Set<Socket>()
  const questions: string[] = []
  let isStoppedUp = false
  const address = await listen(lifetime, (near) => {
    near.on('data', (data) => {
      const [, verb, path] = /^([A-Z]+) (?:\/v[\d.]+)?(\S+) HTTP/.exec(data.toString('latin1')) ?? []
      if (verb !== undefined) questions.push(`${verb} ${path}`)
    })
    const far = connect(engineAddress.replace(/^unix:\/\//, ''))
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    near.on('data', (data) => isStoppedUp || far.write(data)).on('close', () => far.destroy())
    far.on('data', (data) => isStoppedUp || near.write(data)).on('close', () => near.destroy())
  })
  return {
    address,
    questions,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    stopUp: () => void (isStoppedUp = true),
  }
}

/**
 * The real engine, but questions whose first line has `part` get `answer`, which is a whole answer in HTTP/1.1.
 * `meanwhile` is done before it: what another client does at the same moment.
 */
export function engineAnswering(
  lifetime: Lifetime,
  part: Pick<RegExp, 'test'>,
  answer: string,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<string> {
  return listen(lifetime, (near) => {
    const far = connect(engineAddress.replace(/^unix:\/\//, ''))
    far.on('error', () => undefined).on('data', (data) => near.write(data))
    near.on('close', () => far.destroy())
    near.on('data', (data) => {
      const [firstLine = ''] = data.toString('latin1').split('\r\n')
      if (part.test(firstLine)) void meanwhile().finally(() => near.write(answer, 'latin1'))
      else far.write(data)
    })
  })
}

/** The real engine, but `meanwhile` is done before questions whose first line has `part` are passed on. */
export function engineAfter(lifetime: Lifetime, part: RegExp, meanwhile: () => void): Promise<string> {
  return listen(lifetime, (near) => {
    const far = connect(engineAddress.replace(/^unix:\/\//, ''))
    far.on('error', () => undefined).on('data', (data) => near.write(data))
    near.on('close', () => far.destroy())
    near.on('data', (data) => {
      const [firstLine = ''] = data.toString('latin1').split('\r\n')
      if (part.test(firstLine)) meanwhile()
      far.write(data)
    })
  })
}

/** The real engine, with questions that it does not answer, or late, as long as a test wants it so. */
export interface HangingEngine {
  readonly address: string
  /** Questions whose first line has `part` are passed on after so many ms; without a number never, as when a lock is held for ever. */
  hang(part: RegExp, delay?: number): void
  /** From now on everything is answered; what was asked before stays without an answer. */
  mend(): void
}

/** @throws {Error} where the real engine is not on a unix socket */
export async function hangingEngine(lifetime: Lifetime): Promise<HangingEngine> {
  let faults: { part: RegExp; delay: number | undefined }[] = []
  const address = await listen(lifetime, (near) => {
    const far = connect(engineAddress.replace(/^unix:\/\//, ''))
    far.on('error', () => undefined).on('data', (data) => near.write(data))
    far.on('close', () => near.destroy())
    near.on('close', () => far.destroy())
    near.on('data', (data) => {
      const [firstLine = ''] = data.toString('latin1').split('\r\n')
      const fault = faults.find(({ part }) => part.test(firstLine))
      if (!fault) far.write(data)
      else if (fault.delay !== undefined) setTimeout(() => far.write(data), fault.delay).unref()
    })
  })
  return {
    address,
    hang: (part, delay) => void faults.push({ part, delay }),
    mend: () => void (faults = []),
  }
}

/** An engine that never stops talking. */
export interface EndlessEngine {
  readonly address: string
  /** Bytes that were taken from it. */
  said(): number
}

/** The real engine, but questions whose first line has `part` get `words` again and again, as fast as they are taken. */
export async function endlessEngine(lifetime: Lifetime, part: RegExp, words: Buffer): Promise<EndlessEngine> {
  const said: Socket[] = []
  const babble = (socket: Socket) => {
    said.push(socket)
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const goOn = () => {
      while (!socket.destroyed && socket.write(words));
    }
    socket.on('drain', goOn)
    goOn()
  }
  const address = await listen(lifetime, (near) => {
    const far = connect(engineAddress.replace(/^unix:\/\//, ''))
    far.on('error', () => undefined).on('data', (data) => near.write(data))
    near.on('close', () => far.destroy())
    near.on('data', (data) => (part.test(data.toString('latin1')) ? babble(near) : far.write(data)))
  })
  return { address, said: () => said.reduce((all, { bytesWritten }) => all + bytesWritten, 0) }
}

export const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** In the engine's own form. */
export function refusal(status: number, message: string): string {
  const body = JSON.stringify({ message })
  return `HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

async function listen(lifetime: Lifetime, onSocket: (socket: Socket) => void): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-engine-'))
  const file = path.join(folder, 'engine.sock')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  }).listen(file)
  await once(server, 'listening')
  lifetime.after(() => close(server, sockets, folder))
  return `unix://${file}`
}

async function close(server: Server, sockets: Set<Socket>, folder: string): Promise<void> {
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
  rmSync(folder, { recursive: true, force: true })
}
