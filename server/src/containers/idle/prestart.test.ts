import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { User } from '#/store/users.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import type { Template } from '#/templates/template.ts'
import { Prestart, type PrestartParts } from './prestart.ts'

const lab = readTemplate('lab', { image: 'lab-image' }).template as Template
const userOf = (id: number) => ({ id, slug: `u${id}` }) as User

/** @param start what the spawner does for this user */
const prestartWith = (start: (id: number) => Promise<void>) =>
  new Prestart({
    capabilities: { pauses: false },
    rules: { refusalFor: async () => undefined },
    spawner: { prestart: ({ id }: User) => start(id) },
    admission: { isUp: () => false },
    log: { info: () => undefined, warn: () => undefined },
  } as unknown as PrestartParts)

const roomAfter = (refusal: Refusal) => prestartWith(() => Promise.reject(refusal)).run(userOf(1), lab)

// The first user with as many containers as may run ended the start for the class behind them.
test('a limit of one user or group leaves room for others, and a full server does not', async () => {
  const some = message('refusals.serverFull')
  for (const own of [
    refusals.tooManyOfYours(1),
    refusals.diskFull(some, some, undefined),
    refusals.groupLimit('running', 'Course', some),
  ])
    assert.equal(await roomAfter(own), true, own.code)
  for (const full of [refusals.serverFull(), refusals.tooManyLaunches()])
    assert.equal(await roomAfter(full), false, full.code)
})

// It started again by itself what its owner had stopped.
test('a container that its owner asked for while the prestart waited is not started any more', async () => {
  const started: number[] = []
  const first = Promise.withResolvers<void>()
  const prestart = prestartWith(async (id) => {
    started.push(id)
    await first.promise
  })
  const runs = [1, 2, 3, 4].map((id) => prestart.run(userOf(id), lab))
  prestart.noteRequest({ userId: 3, type: 'lab' })
  first.resolve()
  await Promise.all(runs)
  assert.deepEqual(started, [1, 2, 4])
})
