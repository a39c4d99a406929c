import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createNetGateway } from '#/gateway/net-gateway.ts'
import { runOracle } from './oracle.ts'

/** `npm run oracle:gateway`: asks while everything changes; `--requests`, `--clients`, `--changes` (a second), `--seed`, `--routing=subdomain`. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    requests: { type: 'string', default: '1000000' },
    clients: { type: 'string', default: '200' },
    changes: { type: 'string', default: '500' },
    routing: { type: 'string', default: 'path' },
  },
})
say(`seed ${values.seed}`)
const gateway = createNetGateway()
const run = {
  seed: Number(values.seed),
  requests: Number(values.requests),
  clients: Number(values.clients),
  changesPerSecond: Number(values.changes),
  routing: values.routing === 'subdomain' ? 'subdomain' : 'path',
} as const
const { wrong, took, ...counts } = await runOracle(gateway, run, (done) => say(`${done}`))
await gateway.close(0)
say(JSON.stringify({ ...counts, seconds: took / 1000, wrong: wrong.length }))
for (const one of wrong.slice(0, 20)) say(one)
if (wrong.length > 0) process.exitCode = 1

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
