import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Coalescer } from './coalescer.ts'
import { observationTime } from '#test/support/observation-time.ts'

test('a request during a look-up gets one that began after it, and a hundred requests share one', async () => {
  let [began, ended] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const looks = new Coalescer(async () => {
    began++
    await gate.promise
    ended++
  })
  const first = looks.run('c1')
  const others = Array.from({ length: 100 }, () => looks.run('c1'))
  await observationTime(10)
  assert.equal(began, 1)
  gate.resolve()
  await first
  await others[50]
  assert.equal(ended, 2)
  await Promise.all(others)
  assert.equal(began, 2)
})

test('a look-up that fails rejects the requests that wait for it, and none after them', async () => {
  const answers = [Promise.reject(new Error('first')), Promise.reject(new Error('second')), Promise.resolve()]
  for (const answer of answers) answer.catch(() => undefined)
  const looks = new Coalescer(() => sleep(5).then(() => answers.shift()))
  const [first, second] = [looks.run('c1'), looks.run('c1')]
  await assert.rejects(first, /first/)
  await assert.rejects(second, /second/)
  await looks.run('c1')
})

test('different containers do not wait for each other', async () => {
  const looks = new Coalescer((id) => (id === 'hung' ? new Promise(() => {}) : Promise.resolve()))
  void looks.run('hung')
  await looks.run('c1')
  await looks.settled('c1')
})

test('who waits for the next look is served by one that begins anew', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let began = 0
  const looks: Coalescer<number> = new Coalescer(async (id) => {
    const number = ++began
    await first.promise
    if (number > 1) return number
    looks.renew(id)
    await second.promise
    return number
  })
  const [running, waiting] = [looks.run('c1'), looks.run('c1')]
  first.resolve()
  await sleep(5)
  // Who asks after it began anew gets another one.
  const late = looks.run('c1')
  second.resolve()
  assert.deepEqual(await Promise.all([running, waiting, late]), [1, 1, 2])
  assert.equal(began, 2)
})

test('who joins shares what is under way, and begins a look when nothing is', async () => {
  let began = 0
  const looks = new Coalescer(async () => {
    began++
    await sleep(5)
  })
  await Promise.all([looks.join('c1'), looks.join('c1')])
  assert.equal(began, 1)
  await looks.join('c1')
  assert.equal(began, 2)
})
