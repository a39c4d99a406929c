// Part of npm run test:long: an engine in a network namespace and two attacks take a minute; attack-attempts.test.ts has the same container on a network without rules.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { commandsIn, startNamespaceEngine } from '#test/support/engine/engine-in-namespace.ts'
import { compileCache } from '#test/support/compile-cache.ts'

const main = path.resolve(import.meta.dirname, '../../../cli/src/main.ts')

test('on a machine without rules of the host the attack reaches it; with the commands of the guide it gets nothing', async (t) => {
  const engine = await startNamespaceEngine({ after: (work) => t.after(work) })
  if (typeof engine === 'string') return t.skip(engine)
  const templates = JSON.stringify({ work: { image: 'nowhere.invalid/nothing:1', memory: '256m' } })
  const settings = {
    ...compileCache,
    DOCKER_HOST: engine.address,
    DATA_DIR: '/nowhere',
    CONTAINER_TEMPLATES: templates,
  }
  const berth = (...args: string[]) => engine.run(settings, process.execPath, main, ...args)

  const open = await berth('doctor', 'attack')
  assert.equal(open.code, 1)
  assert.match(open.stdout, /^critical {2}host: It reached services of this host \(\d+\.\d+\.\d+\.\d+:\d+/m)
  assert.match(open.stdout, /^nothing {3}neighbours: /m)
  assert.match((await berth('doctor')).stdout, /^critical {2}host rules: .* \(the rules of Berth are missing\)/m)

  const set = await engine.run({}, 'sh', '-e', '-c', commandsIn('how-to/set-host-rules.md', 'iptables-restore'))
  assert.equal(set.code, 0, set.stderr)

  const closed = await berth('doctor', 'attack')
  assert.match(closed.stdout, /^nothing {3}host: /m)
  assert.equal(closed.code, 0, closed.stdout)
  assert.match((await berth('doctor')).stdout, /^ok .*host rules/m)
})
