import { readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { readEngineFigures } from '../engine-figures.ts'
import { Listener, obeyOrders, startApps, type Order } from '../stand-in.ts'
import { EngineApi } from './engine-api.ts'
import type { Fleet } from './fleet.ts'
import { storm } from './storm.ts'

/**
 * A fake Docker Engine with a whole fleet: `main.ts <socket> <fleet.json>`. It serves the engine's HTTP API on that
 * Unix socket with the latencies of the measured engine, runs no container, and serves one small app at all their
 * addresses. The benchmark starts it and triggers faults by messages.
 */
const [, , socketPath = '', fleetFile = ''] = process.argv
const fleet = JSON.parse(readFileSync(fleetFile, 'utf8')) as Fleet
const api = new EngineApi(readEngineFigures(), fleet)
const listener = new Listener(listen)
await listener.listen()
await startApps(fleet.appPort)
obeyOrders(obey)

async function listen() {
  rmSync(socketPath, { force: true })
  const created = createServer((request, response) => {
    api.answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${request.method} ${request.url}: ${String(error)}\n`)
      response.destroy()
    })
  })
  created.keepAliveTimeout = 60_000
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
      await listener.goAway(order.ms)
      return {}
    case 'storm':
      return { events: await storm(api, order.perSecond, order.ms) }
  }
}
