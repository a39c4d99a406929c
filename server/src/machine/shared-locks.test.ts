import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedLocks } from './shared-locks.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('several share a key, one has it alone, and none overtakes who asked before', async () => {
  const locks = new SharedLocks()
  const [seen, end] = [[] as string[], Promise.withResolvers<void>()]
  const work = (name: string, wait?: Promise<void>) => async () => {
    seen.push(name)
    await wait
  }
  const first = [locks.share('a', work('one', end.promise)), locks.share('a', work('two', end.promise))]
  const others = [
    locks.hold('a', work('alone')),
    locks.share('a', work('three')),
    locks.share('b', work('of another key')),
  ]
  await turn()
  assert.deepEqual(seen, ['one', 'two', 'of another key'])
  end.resolve()
  await Promise.all([...first, ...others])
  assert.deepEqual(seen.slice(3), ['alone', 'three'])
})

test('work within a share has the key alone only while no other shares it, and is not waited for otherwise', async () => {
  const locks = new SharedLocks()
  const end = Promise.withResolvers<void>()
  const seen: string[] = []
  await locks.share('a', async () => {
    const alone = locks.holdIfAlone('a', async () => {
      await end.promise
      seen.push('alone')
    })
    const late = locks.share('a', async () => void seen.push('shared'))
    end.resolve()
    await alone
    await late
  })
  assert.deepEqual(seen, ['alone', 'shared'])
  await locks.share('a', () =>
    locks.share('a', async () => assert.equal(await locks.holdIfAlone('a', async () => undefined), undefined)),
  )
  await assert.rejects(
    locks.hold('a', () => Promise.reject(new Error('failed'))),
    /failed/,
  )
  await locks.hold('a', async () => undefined)
})
