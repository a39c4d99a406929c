import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { ImageFetches } from './image-fetches.ts'

const templateOf = (type: string, fields: object = {}) =>
  readTemplate(type, { image: `${type}-image`, ...fields }).template as Template

/** @param missing images that no registry has */
async function arrange(t: TestContext, templates: readonly Template[], isForAll: boolean, missing = new Set<string>()) {
  const asked: string[] = []
  const warnings: unknown[] = []
  let running = 0
  const images = new ImageFetches({
    templates: new Templates(templates),
    isForAll,
    fetchImage: async ({ image }) => {
      assert.equal(++running, 1, 'one at a time')
      await turn()
      running--
      asked.push(image)
      if (missing.has(image)) throw new Error('no such image')
    },
    log: { info: () => undefined, warn: (...words: unknown[]) => void warnings.push(words.at(-1)) },
  })
  t.after(() => images.stop())
  const settled = async () => {
    for (let turns = 0; turns < 20; turns++) await turn()
    return asked.splice(0)
  }
  return { images, warnings, settled }
}

const types = [templateOf('dev'), templateOf('lab', { prestart: true }), templateOf('day', { prestart_at: '7:30' })]

test('images of all templates are fetched once each, or only of those that are started ahead', async (t) => {
  const all = await arrange(t, [...types, templateOf('twin', { image: 'dev-image' })], true)
  all.images.start()
  assert.deepEqual((await all.settled()).toSorted(), ['day-image', 'dev-image', 'lab-image'])
  const few = await arrange(t, types, false)
  few.images.start()
  assert.deepEqual(await few.settled(), ['lab-image', 'day-image'])
})

test('what cannot be had is said once, keeps no other image waiting, and is asked for ever more rarely', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const missing = new Set(['dev-image'])
  const { images, warnings, settled } = await arrange(t, types, true, missing)
  images.start()
  assert.deepEqual(await settled(), ['dev-image', 'lab-image', 'day-image'])
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    t.mock.timers.tick(minutes * 60_000 - 1)
    assert.deepEqual(await settled(), [], `before ${minutes} minutes`)
    t.mock.timers.tick(1)
    assert.deepEqual(await settled(), ['dev-image'], `after ${minutes} minutes`)
  }
  assert.equal(warnings.length, 1)
  missing.clear()
  t.mock.timers.tick(3_600_000)
  assert.deepEqual(await settled(), ['dev-image'])
  t.mock.timers.tick(7_200_000)
  assert.deepEqual(await settled(), [], 'then it is done')
})

test('after a stop nothing is asked for any more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { images, settled } = await arrange(t, types, true, new Set(['dev-image']))
  images.start()
  await settled()
  images.stop()
  t.mock.timers.tick(7_200_000)
  assert.deepEqual(await settled(), [])
})
