import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when something listens on the port of this machine. @throws after 20 s */
export async function answers(port: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(50)) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      // Not yet.
    } finally {
      socket.destroy()
    }
  }
  throw new Error(`nothing listens on port ${port} after 20 s`)
}
