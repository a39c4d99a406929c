import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GpuAllocation, gpuIdsOf, type ListWithGpus } from './gpu-allocation.ts'

const [ann, bob, cat] = [1, 2, 3].map((userId) => ({ userId, type: 'train' })) as [Ref, Ref, Ref]
type Ref = { readonly userId: number; readonly type: string }

const open = (all: readonly string[], list: ListWithGpus = async () => []) => new GpuAllocation(all, list)
const needs = (count: number, before: readonly string[] = []) => ({ count, before })

test('each id belongs to one container at a time, in the configured order, and too few are none', () => {
  const gpus = open(['3', '1', '0'])
  assert.deepEqual(gpus.reserve(ann, needs(2)), ['3', '1'])
  assert.deepEqual([gpus.isFree(bob, 1), gpus.isFree(bob, 2)], [true, false])
  assert.equal(gpus.reserve(bob, needs(2)), undefined)
  assert.deepEqual(gpus.reserve(bob, needs(1)), ['0'])
  assert.equal(gpus.reserve(cat, needs(1)), undefined)
  assert.equal(gpus.taken, 3)
})

test('a container gets the ids again that it had, as far as they are free', () => {
  const gpus = open(['0', '1', '2', '3'])
  assert.deepEqual(gpus.reserve(ann, needs(2, ['3', '1'])), ['1', '3'])
  assert.deepEqual(gpus.reserve(bob, needs(2, ['1', '2'])), ['0', '2'])
  gpus.note(ann, ['1', '3'])
  gpus.release(ann)
  assert.deepEqual(gpus.reserve(ann, needs(2)), ['1', '3'], 'a restart keeps them')
  assert.deepEqual(gpus.reserve(ann, needs(1, ['9'])), ['1'], 'an id that is configured no more is given to none')
})

test('a launch holds its ids until its outcome is known, and a container those that the engine reports', () => {
  const gpus = open(['0', '1'])
  gpus.reserve(ann, needs(1))
  gpus.release(ann)
  assert.deepEqual(gpus.containers(), [], 'it did not come to run')
  gpus.reserve(ann, needs(1))
  gpus.note(ann, ['0'])
  gpus.release(ann)
  assert.deepEqual(gpus.containers(), [{ owned: ann, ids: ['0'] }])
  gpus.note(ann, [])
  assert.deepEqual([gpus.taken, gpus.isFree(bob, 2)], [0, true])
})

test('of a container that is made anew with other ids both count until it is known which it has', () => {
  const gpus = open(['0', '1', '2'])
  gpus.note(ann, ['0'])
  gpus.reserve(ann, needs(2))
  assert.deepEqual(gpus.containers(), [{ owned: ann, ids: ['0', '1'] }])
  assert.equal(gpus.isFree(bob, 2), false)
})

// A container that ran already while the engine did not answer lost its GPU to the next launch.
test('before a launch the engine is asked which containers have ids, also those that are not known here', async () => {
  const owner = { ...bob, slug: 'bob' }
  const gpus = open(['0', '1'], async () => [
    { owner, gpuIds: ['0'] },
    { owner: null, gpuIds: ['1'] },
    { owner: { ...cat, slug: 'cat' }, gpuIds: undefined },
  ])
  assert.deepEqual(gpus.reserve(ann, needs(1)), ['0'])
  assert.deepEqual(await gpus.confirm(ann, needs(1)), ['1'])
  assert.equal(await gpus.confirm(cat, needs(1)), undefined)
  const silent = open(['0'], () => Promise.reject(new Error('no answer')))
  await assert.rejects(silent.confirm(ann, needs(1)), /no answer/)
})

// A launch asked while the program of a blocked user was still being stopped, and the GPU stayed taken until Berth was started anew.
test('a container that is still being stopped keeps its ids from a launch, and from none after it has ended', async () => {
  const running = [{ owner: { ...bob, slug: 'bob' }, gpuIds: ['0'] }]
  const gpus = open(['0'], async () => [...running])
  gpus.note(bob, ['0'])
  gpus.note(bob, [])
  assert.equal(await gpus.confirm(ann, needs(1)), undefined)
  running.length = 0
  assert.deepEqual(await gpus.confirm(ann, needs(1)), ['0'])
  assert.deepEqual(gpus.containers(), [{ owned: ann, ids: ['0'] }])
})

// At the end of a lesson, launches asked while the containers of others were being stopped, and GPUs stayed taken.
test('a container that ends while the engine lists it has no ids afterwards', async () => {
  const gpus = open(['0'], async () => {
    gpus.note(bob, [])
    return [{ owner: { ...bob, slug: 'bob' }, gpuIds: ['0'] }]
  })
  gpus.note(bob, ['0'])
  assert.equal(await gpus.confirm(ann, needs(1)), undefined)
  assert.deepEqual([gpus.containers(), gpus.isFree(ann, 1)], [[], true])
})

test('ids that are used and configured no more are not counted', () => {
  const gpus = open(['0'])
  gpus.note(ann, ['7'])
  assert.deepEqual([gpus.taken, gpus.isFree(bob, 1)], [0, true])
})

test('a container that was asked for as a number of GPUs has the first ones', () => {
  assert.deepEqual(gpuIdsOf({ gpuIds: undefined }, 2), ['0', '1'])
  assert.deepEqual(gpuIdsOf({ gpuIds: ['5'] }, 2), ['5'])
})
