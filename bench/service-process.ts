import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Berth in a process of its own, so that its cost is measured apart from the load's. */
export interface ServiceProcess {
  readonly port: number
  /** CPU time since its start, in ms. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

/** What a service says to the bench that started it. */
export interface ServedBerth {
  readonly url: string
  close(): Promise<void>
}

/** @param program which calls `serveParent` @param args data folder, and the URL of a store unless it is SQLite */
export async function startService(program: string, args: readonly string[]): Promise<ServiceProcess> {
  const child = fork(program, args)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    cpu: async () => {
      const answered = once(child, 'message') as Promise<[{ cpu: number }]>
      child.send('cpu')
      return (await answered)[0].cpu
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

/** Tells the parent the port, and the CPU time whenever it asks; ends with the connection to it. */
export function serveParent(berth: ServedBerth): void {
  process.send?.({ port: Number(new URL(berth.url).port) })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpu: (user + system) / 1000 })
  })
  process.on('disconnect', () => void berth.close().then(() => process.exit(0)))
}
