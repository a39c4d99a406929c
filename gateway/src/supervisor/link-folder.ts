import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The folder that the gateway and the API share as two services: a path that is the same for both, such as a volume that both
 * mount, and closed to other accounts. It holds the sockets between them.
 */

/** In ms: how long an API process waits for a gateway, and the pause between two attempts. */
const waiting = { limit: 60_000, pause: 100 }

const socketIn = (folder: string) => path.join(folder, 'gateway.sock')

/** What gateway and API write into the folder: their sockets, and the settings in effect. */
const ownNames = ['gateway.sock', 'api.sock', 'operator.sock', 'reader.sock', 'settings.json', 'settings.json.new']
/** Of a file system of its own. */
const ignoredName = 'lost+found'
/** Names in the message. */
const maxNames = 3

/**
 * The gateway is first: what Berth wrote into the folder is left over from an earlier run, and is removed.
 * @returns path of the socket to listen on
 * @throws in words, when another gateway lives there, or something else is in the folder; nothing is removed then
 */
export async function prepareLinkFolder(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const names = readdirSync(folder).filter((name) => name !== ignoredName)
  const others = names.filter((name) => !ownNames.includes(name)).sort()
  if (others.length > 0) throw new Error(notOwn(folder, others))
  if (await isListenedOn(socketIn(folder))) throw new Error(isTaken(folder))
  for (const name of names) rmSync(path.join(folder, name), { force: true })
  return socketIn(folder)
}

/** A listener whose queue is full, as that of a process that hangs, lives as well. */
async function isListenedOn(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN'
  } finally {
    socket.destroy()
  }
}

const isTaken = (folder: string) =>
  `Another gateway runs in ${folder} (BERTH_LINK_DIR). Stop it first, or name another folder; nothing was removed.`

function notOwn(folder: string, others: readonly string[]): string {
  const named = others.slice(0, maxNames).join(', ') + (others.length > maxNames ? ', ...' : '')
  return `BERTH_LINK_DIR is ${folder}, which has something that is not of gateway and API: ${named}. Name a folder for their sockets alone; nothing was removed.`
}

/** @returns a connection to the gateway @throws in words, when there is none within a minute */
export async function connectInFolder(folder: string): Promise<Socket> {
  for (const end = performance.now() + waiting.limit; ; await sleep(waiting.pause)) {
    const socket = connect(socketIn(folder))
    try {
      await once(socket, 'connect')
      return socket
    } catch (cause) {
      socket.destroy()
      if (performance.now() > end)
        throw new Error(`no gateway listens in ${folder}; start it: berth gateway`, { cause })
    }
  }
}

/** Sockets of an API process that was killed; the gateway lets one run at a time. */
export function removeStaleSockets(sockets: readonly string[]): void {
  for (const socket of sockets) rmSync(socket, { force: true })
}
