import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { eventually } from '#test/support/engine/runtimes.ts'
import { LayerMonitor, type LayerMonitorParts } from './layer-monitor.ts'

const templateOf = (type: string, fields: object = {}) => {
  const { template, problems } = readTemplate(type, { image: 'x', ...fields })
  assert.ok(template, problems.join())
  return template
}

/** Containers of these templates of one person, all of which run, and what an engine says of each, by type. */
function arrange(templates: readonly Template[], said: Record<string, number | 'bound' | 'silent'>) {
  const asked: string[] = []
  const [told, logged]: [unknown[], unknown[]] = [[], []]
  const all = templates.map(({ type }) => ({ userId: 1, type, containerId: `id of ${type}`, prefix: `ann-${type}` }))
  const configured = new Templates([...templates])
  const monitor = new LayerMonitor({
    templates: configured,
    routeSync: {
      *running() {
        for (const known of all) yield { known: known as ContainerState, isPaused: false }
      },
      isRunning: () => true,
      get: ({ type }) => all.find((each) => each.type === type) as ContainerState,
    },
    idleSuspension: { stopNow: async () => false },
    runtime: {
      measureLayer: async (id) => {
        const type = id.slice('id of '.length)
        asked.push(type)
        const answer = said[type]
        if (answer === 'silent') throw new RuntimeError('unreachable', 'measure')
        return answer
      },
    },
    database: { transaction: () => assert.fail('nothing is stored') } as unknown as LayerMonitorParts['database'],
    publish: (_, { data }) => void told.push([data.type, data.used]),
    log: { warn: (...words: unknown[]) => void logged.push(words) } as unknown as LayerMonitorParts['log'],
    interval: 20,
  })
  return { monitor, configured, asked, told, logged }
}

test('without a limit nothing is asked and nothing runs, and a limit that comes later is followed until it goes', async (t) => {
  const { monitor, configured, asked } = arrange([templateOf('dev')], { dev: 5 })
  t.after(() => monitor.stop())
  monitor.start()
  await sleep(60)
  assert.deepEqual(asked, [])
  configured.replace([templateOf('dev', { layer_size: 100 })])
  monitor.start()
  await eventually(() => assert.ok(asked.length > 2))
  configured.replace([templateOf('dev')])
  monitor.start()
  const { length } = asked
  await sleep(60)
  assert.ok(asked.length <= length + 1)
})

test('containers are measured one after the other, those of limited types alone; one that fails keeps no other from it, and is told once', async (t) => {
  const limited = { layer_size: 100 }
  const templates = [templateOf('a', limited), templateOf('b'), templateOf('c', limited), templateOf('d', limited)]
  const { monitor, asked, told, logged } = arrange(templates, { a: 'silent', b: 99, c: 'bound', d: 90 })
  t.after(() => monitor.stop())
  monitor.start()
  await eventually(() => assert.ok(asked.length >= 9))
  assert.deepEqual(asked.slice(0, 6), ['a', 'c', 'd', 'a', 'c', 'd'])
  // A number that is the same is no news.
  assert.deepEqual(told, [['d', 90]])
  assert.equal(logged.length, 2)
  assert.deepEqual(monitor.current(1), [{ name: 'layer', data: { type: 'd', used: 90, limit: 100 } }])
  assert.deepEqual(monitor.current(2), [])
  assert.equal(monitor.warnings().length, 1)
  monitor.forget({ userId: 1, type: 'd' })
  assert.deepEqual([monitor.current(1), monitor.warnings()], [[], []])
})
