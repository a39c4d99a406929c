import type { ServerChannel } from 'ssh2'
import { containerTool } from '#/engines/container-tool.ts'
import type { ExecProcess } from '#/engines/runtime.ts'
import { PacedWriter, passInput, type ChannelHost } from './exec-pump.ts'

/** The first line of `berth-tool connect`. */
const connected = Buffer.from('connected\n')
/** How long a connection inside the container may take, in ms. */
const connectTimeout = 10_000

/**
 * What a client may be connected with: a port of the container's loopback, or a socket in it; undefined for everything
 * else, such as another host.
 * @param ownNames names of the container
 */
export function commandFor(
  target: { readonly host: string; readonly port: number } | { readonly socketPath: string },
  ownNames: readonly string[],
): [string, ...string[]] | undefined {
  if ('socketPath' in target) {
    const { socketPath } = target
    const isPath = /^\/[^\0]{1,106}$/.test(socketPath)
    return isPath ? [containerTool, 'connect-unix', socketPath] : undefined
  }
  const host = target.host.toLowerCase()
  const isOwn = isLoopbackName(host) || ownNames.includes(host)
  const isPort = Number.isInteger(target.port) && target.port > 0 && target.port < 65_536
  return isOwn && isPort ? [containerTool, 'connect', String(target.port)] : undefined
}

const isLoopbackName = (host: string): boolean =>
  ['localhost', '::1', '[::1]', ''].includes(host) || /^127(\.\d{1,3}){3}$/.test(host)

/** A container's host name, unless its template gives it another: what the engine makes of its id. */
export const shortIdOf = (containerId: string): string => containerId.slice(0, 12)

/** Whether a host may be such a name, of some container. */
export const isShortId = (host: string): boolean => /^[0-9a-f]{12}$/.test(host)

/**
 * Waits until the tool says that it is connected.
 * @returns the bytes that came with it; undefined when nothing listens there
 */
export async function awaitConnected({ stream }: ExecProcess): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>()
  const fail = () => resolve(undefined)
  const timer = setTimeout(fail, connectTimeout)
  let read = Buffer.alloc(0)
  const look = () => {
    while (read.length < connected.length) {
      const bytes = stream.read() as Buffer | null
      if (bytes === null) return
      read = Buffer.concat([read, bytes])
    }
    const isTold = read.subarray(0, connected.length).equals(connected)
    resolve(isTold ? read.subarray(connected.length) : undefined)
  }
  stream.on('readable', look).once('end', fail).on('error', fail).once('close', fail)
  const found = await promise
  clearTimeout(timer)
  stream.off('readable', look).off('end', fail).off('close', fail)
  return found
}

/** Joins a channel with a connection inside the container, until one of them ends. */
export async function forward(
  host: ChannelHost,
  channel: ServerChannel,
  { stream }: ExecProcess,
  first: Buffer,
): Promise<void> {
  const writer = new PacedWriter(host, channel)
  channel.on('error', () => undefined)
  stream.on('error', () => undefined)
  channel.once('close', () => stream.destroy())
  passInput(host, channel, stream)
  channel.once('end', () => stream.end())
  try {
    let isOpen = first.length === 0 || (await writer.write(channel, first))
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      isOpen = isOpen && (await writer.write(channel, bytes))
      if (!isOpen) break
    }
  } catch {
    // The connection broke; the client sees its end.
  }
  channel.end()
  stream.destroy()
}
