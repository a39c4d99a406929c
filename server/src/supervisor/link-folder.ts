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

/** The gateway is first: what is in the folder is left over from an earlier one. @returns path of the socket to listen on */
export function prepareLinkFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true, force: true })
  return socketIn(folder)
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
