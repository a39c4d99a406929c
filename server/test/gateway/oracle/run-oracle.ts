import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createNetGateway } from '@berth/gateway/net-gateway.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { pairGateways } from '#test/nodes/gateway-pair.ts'
import { runOracle } from './oracle.ts'

/**
 * `npm run oracle:gateway`: asks while everything changes; `--requests`, `--clients`, `--changes` (a second), `--seed`, `--routing=subdomain`;
 * `--nodes`: the gateways of two nodes, whose connection is cut now and then.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    requests: { type: 'string', default: '1000000' },
    clients: { type: 'string', default: '200' },
    changes: { type: 'string', default: '500' },
    routing: { type: 'string', default: 'path' },
    nodes: { type: 'boolean', default: false },
  },
})
say(`seed ${values.seed}`)
const endings: (() => Promise<void>)[] = []
const pair = values.nodes ? await pairGateways({ after: (end) => void endings.unshift(end) }) : undefined
const local = pair ? undefined : createNetGateway()
if (local) endings.push(() => local.close(0))
const gateway = pair?.gateway ?? (local as Gateway)
const run = {
  seed: Number(values.seed),
  requests: Number(values.requests),
  clients: Number(values.clients),
  changesPerSecond: Number(values.changes),
  routing: values.routing === 'subdomain' ? 'subdomain' : 'path',
  ...(pair && { others: async () => [await pair.join()] }),
} as const
const { wrong, took, ...counts } = await runOracle(gateway, run, (done) => say(`${done}`))
for (const end of endings) await end()
say(JSON.stringify({ ...counts, ...(pair && { cuts: pair.cuts }), seconds: took / 1000, wrong: wrong.length }))
for (const one of wrong.slice(0, 20)) say(one)
// Connections of applications that ended may stay open for a while, and nothing waits for them.
process.exit(wrong.length > 0 ? 1 : 0)

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
