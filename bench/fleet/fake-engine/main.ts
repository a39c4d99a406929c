import { readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readEngineFigures } from '../engine-figures.ts'
import { EngineApi } from './engine-api.ts'
import type { Fleet } from './fleet.ts'
import { storm } from './storm.ts'

/**
 * A fake Docker Engine with a whole fleet: `main.ts <socket> <fleet.json>`. It serves the engine's HTTP API on that
 * Unix socket with the latencies of the measured engine, runs no container, and serves one small app at all their
 * addresses. The benchmark starts it and triggers faults by messages.
 */

/** Requests of the benchmark; each is answered by one message when it is done. */
export type Order =
  | { readonly kind: 'counts' }
  | { readonly kind: 'states' }
  /** Breaks every connection and refuses new ones for this time, in ms. */
  | { readonly kind: 'away'; readonly ms: number }
  /** Sends so many events a second for this time, in ms. */
  | { readonly kind: 'storm'; readonly perSecond: number; readonly ms: number }

const [, , socketPath = '', fleetFile = ''] = process.argv
const fleet = JSON.parse(readFileSync(fleetFile, 'utf8')) as Fleet
const api = new EngineApi(readEngineFigures(), fleet)
const connections = new Set<Socket>()
let server = await listen()
await startApps(fleet.appPort)
process.send?.({ kind: 'ready' })
process.on('message', (order: Order) => void obey(order).then((answer) => process.send?.(answer)))
process.on('disconnect', () => process.exit(0))

async function listen() {
  rmSync(socketPath, { force: true })
  const created = createServer((request, response) => {
    api.answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${request.method} ${request.url}: ${String(error)}\n`)
      response.destroy()
    })
  })
  created.keepAliveTimeout = 60_000
  created.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
    socket.on('error', () => undefined)
  })
  created.listen(socketPath, 4096)
  await once(created, 'listening')
  return created
}

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'counts':
      return { calls: api.takeCounts(), events: api.events.takeCount() }
    case 'states':
      return Object.fromEntries(
        [...Map.groupBy(api.containers.all(), ({ state }) => state)].map(([state, all]) => [state, all.length]),
      )
    case 'away':
      server.close()
      for (const socket of connections) socket.destroy()
      await sleep(order.ms)
      server = await listen()
      return {}
    case 'storm':
      return { events: await storm(api, order.perSecond, order.ms) }
  }
}

/** The app of every container: one listener for all their addresses. @returns once it listens */
export async function startApps(port: number): Promise<void> {
  const page = Buffer.from('<!doctype html><title>An app of the fleet</title><p>Hello')
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length })
    response.end(page)
  })
  // All of 127.0.0.0/8 is this machine.
  server.listen(port, '0.0.0.0', 4096)
  await once(server, 'listening')
}
