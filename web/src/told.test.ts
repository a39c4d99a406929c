import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskWords } from './disk-words.ts'
import { isNews, nothingTold, takeIn } from './told.ts'

const launch = (type: string, stage: string) => ({ name: 'launch', data: { type, stage } })
const disk = (type: string | null, used: number) => ({
  name: 'disk',
  data: { type, used: used * 2 ** 30, limit: 10 * 2 ** 30 },
})

test('after a snapshot only what it says counts', () => {
  const before = takeIn(nothingTold, [launch('dev', 'starting'), launch('prod', 'creating'), disk(null, 9.5)])
  const after = takeIn(before, [{ name: 'snapshot', data: {} }, launch('dev', 'waiting')])
  assert.deepEqual([[...after.launches.keys()], after.disks.size], [['dev'], 0])
})

test('a home with nearly no room left is known until it is told that it has some again', () => {
  const full = takeIn(nothingTold, [disk('dev', 9.2), disk(null, 9.9), disk('dev', 9.5)])
  assert.equal(full.disks.get('dev')?.used, 9.5 * 2 ** 30)
  assert.deepEqual([...takeIn(full, [disk('dev', 8.9)]).disks.keys()], [null])
})

test('what homes take is said in the units that limits are set in', () => {
  assert.match(diskWords(disk('dev', 9.26).data), /^The home folder of this container takes 9\.3 of 10\.0 GiB\. /)
  assert.match(diskWords({ type: null, used: 95 * 2 ** 20, limit: 100 * 2 ** 20 }), /together take 95 of 100 MiB\. /)
})

test('a container that changed, and a launch that ended, are reasons to look; a place in the queue is none', () => {
  assert.equal(isNews([launch('dev', 'queued'), launch('dev', 'starting')]), false)
  assert.equal(isNews([{ name: 'container', data: { type: 'dev', status: 'running' } }]), true)
  assert.deepEqual([isNews([launch('dev', 'ready')]), isNews([launch('dev', 'failed')])], [true, true])
})
