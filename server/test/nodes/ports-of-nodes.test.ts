// Part of npm run test:more: a variant of ports.test.ts, with two nodes of both processes each.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { portsApp } from '../support/engine/ports-app.ts'
import { waitFor } from '../support/program.ts'
import { severalNodes } from '../support/several-nodes.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

let postgres: Postgres
before(async () => (postgres = await startPostgres()))
after(() => postgres.stop())

test('any of two nodes reaches a program on the loopback of a container, and says what listens', async (t) => {
  const nodes = await severalNodes(t, postgres, { dev: portsApp })
  const leader = await nodes.start()
  const follower = await nodes.start()
  await nodes.signUp(leader, 'boss@x.org')
  const ann = await nodes.signUp(follower, 'ann@x.org', leader)
  const isOpen = async () => (await leader.fetch('/ann-dev/open?port=3001&host=127.0.0.1', ann)).status === 200
  await waitFor('the port of the container', isOpen, 60_000)
  for (const node of [leader, follower]) {
    const { port, path } = await node.ask<{ port: number; path: string }>('/ann-dev:3001/x', ann)
    assert.deepEqual([port, path], [3001, '/x'])
    const { ports } = await node.ask<{ ports: { port: number }[] }>('/api/container/ports/dev', ann)
    assert.deepEqual(
      ports.map((each) => each.port),
      [3001, 8080],
    )
    assert.equal((await node.fetch('/ann-dev:3999/', ann)).status, 502)
  }
})
