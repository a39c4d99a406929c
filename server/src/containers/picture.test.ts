import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Place } from '#/gateway/gateway.ts'
import { allKinds, Picture } from './picture.ts'

const place = (slug: string, host: string | undefined, port = 8080): Place => ({
  prefix: `${slug}-dev`,
  ownerId: 1,
  type: 'dev',
  isBlocked: false,
  where: host === undefined ? { absent: 'asleep', exitCode: null } : { containerId: slug, host, port, isPaused: false },
})

const words = (picture: Picture, next: Place) =>
  picture
    .putPlace(next)
    .map((change) => change.kind === 'place' && `${change.place.prefix} ${'host' in change.place.where}`)

test('what is known is not told again, unless it is asked for', () => {
  const picture = new Picture()
  assert.equal(picture.putPlace(place('ann', '172.18.0.2')).length, 1)
  assert.deepEqual(picture.putPlace(place('ann', '172.18.0.2')), [])
  assert.equal(picture.putPlace(place('ann', '172.18.0.2'), true).length, 1)
})

test('who gets an address takes it from whoever had it, first', () => {
  const picture = new Picture()
  picture.putPlace(place('ann', '172.18.0.2'))
  assert.deepEqual(words(picture, place('bob', '172.18.0.2')), ['ann-dev false', 'bob-dev true'])
  assert.deepEqual(words(picture, place('ann', '172.18.0.3')), ['ann-dev true'])
  assert.deepEqual(words(picture, place('bob', undefined)), ['bob-dev false'])
})

test('another port of the address is the same address, but for programs on the host itself', () => {
  const picture = new Picture()
  picture.putPlace(place('ann', '172.18.0.2', 80))
  assert.deepEqual(words(picture, place('bob', '172.18.0.2', 90)), ['ann-dev false', 'bob-dev true'])
  picture.putPlace(place('cat', '127.0.0.1', 80))
  assert.deepEqual(words(picture, place('dan', '127.0.0.1', 90)), ['dan-dev true'])
})

test('an address that was let go of is free', () => {
  const picture = new Picture()
  for (const letGo of [() => picture.putPlace(place('ann', undefined)), () => picture.removePlace('ann-dev')]) {
    picture.putPlace(place('ann', '172.18.0.2'))
    letGo()
    assert.deepEqual(words(picture, place('bob', '172.18.0.2')), ['bob-dev true'])
    picture.removePlace('bob-dev')
  }
})

test('places are known by how they are, whatever becomes of them', () => {
  const picture = new Picture()
  const kinds = () => allKinds.flatMap((kind) => [...picture.ofKind(kind)].map((prefix) => `${prefix} ${kind}`))
  picture.putPlace(place('ann', '172.18.0.2'))
  picture.putPlace(place('bob', undefined))
  assert.deepEqual([kinds(), picture.size], [['ann-dev running', 'bob-dev asleep'], 2])
  picture.putPlace(place('bob', '172.18.0.2'))
  assert.deepEqual(kinds(), ['bob-dev running', 'ann-dev asleep'], 'the address was taken from one')
  picture.removePlace('bob-dev')
  picture.putPlace({ ...place('ann', undefined), where: { absent: 'crashed', exitCode: 1 }, isBlocked: true })
  assert.deepEqual([kinds(), picture.size], [['ann-dev crashed'], 1])
})
